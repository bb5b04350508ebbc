//! Stamped datagrams: no bytes make the reader panic, and whoever holds the key makes no receiver panic. From the root:
//! `cargo +nightly fuzz run header`
#![no_main]

use control::{Bytes, Duration, Stamp, Time, registry};
use libfuzzer_sys::fuzz_target;
use wire::header::{Header, Key, ROUTED, Replays, Unverified};

const KEY: Key = [1; 32];

fuzz_target!(|data: &[u8]| {
    // As it comes, from somebody without the key.
    if let Some(header) = Unverified::read(data) {
        assert!(header.size < data.len());
        assert!(header.verify(&KEY).is_none(), "a tag was guessed");
    }
    // As somebody with the key would write it: 26 bytes make a stamp.
    let rapid = registry::find("rapid").expect("in the registry");
    let parties = rapid.build(rapid.defaults(), Bytes(1000)).expect("its defaults");
    let mut receiver = parties.receiver.expect("it has one");
    let (mut replays, mut now) = (Replays::default(), Time::ZERO);
    for chunk in data.chunks_exact(26) {
        let word = |at: usize| u64::from_le_bytes(chunk[at..at + 8].try_into().expect("8 bytes"));
        let stamp = Stamp::Probe {
            stream: word(8) as u32,
            index: (word(8) >> 32) as u16,
            len: (word(8) >> 48) as u16,
            rate: f32::from_bits(u32::from_le_bytes(chunk[16..20].try_into().expect("4 bytes"))),
            sent: Time(word(18)),
        };
        let header = Header { token: 1, number: word(0), stamp };
        let mut datagram = [0x40; ROUTED + 100];
        let size = header.write(&KEY, datagram.first_chunk_mut().expect("room"));
        let read = Unverified::read(&datagram[ROUTED - size..]).expect("it has the shape");
        let Some(header) = read.verify(&KEY) else { continue };
        assert!(!replays.is_new(header.number) || !replays.is_new(header.number), "none counts twice");
        now += Duration(word(18) >> 20);
        receiver.on_arrival(now, &header.stamp, Bytes(100));
    }
});
