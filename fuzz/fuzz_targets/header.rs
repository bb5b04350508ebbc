//! Stamped datagrams: no bytes make the reader or a router panic, and whoever holds the key makes no receiver panic.
#![no_main]

use control::{Bytes, Conditions, Duration, Port, Rate, Stamp, Time, registry, routers};
use header::{Header, ROUTED, Unverified};
use libfuzzer_sys::fuzz_target;
use wire::fuzzing::{Key, Replays, verify, write};

const KEY: Key = [1; 16];

fuzz_target!(|data: &[u8]| {
    // As it comes, from somebody without the key; routers cannot tell.
    if let Some(header) = Unverified::read(data) {
        assert!(header.size < data.len());
        assert!(verify(&header, &KEY).is_none(), "a tag was guessed");
    }
    if let Some(stamp) = header::stamp(data) {
        let mut answered = data.to_vec();
        header::answer(&mut answered, &stamp);
        assert_eq!(answered, data, "no router, no answer");
    }
    receive(data);
    route(data);
});

/// As somebody with the key would write it: 26 bytes make a stamp.
fn receive(data: &[u8]) {
    let rapid = registry::find("rapid").expect("in the registry");
    let parties = rapid.build(rapid.defaults(), &Conditions::exact(Bytes(1000))).expect("its defaults");
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
        let size = write(&header, &KEY, datagram.first_chunk_mut().expect("room"));
        let read = Unverified::read(&datagram[ROUTED - size..]).expect("it has the shape");
        let Some(header) = verify(&read, &KEY) else { continue };
        assert!(!replays.is_new(header.number) || !replays.is_new(header.number), "none counts twice");
        now += Duration(word(18) >> 20);
        receiver.on_arrival(now, &header.stamp, Bytes(100));
    }
}

/// Routers answer whatever makes sense with what makes sense: 14 bytes make a question.
fn route(data: &[u8]) {
    let port = Port { capacity: Rate::from_mbps(100.0), buffer: Bytes(500_000) };
    let mut routers: Vec<_> =
        routers::all().iter().map(|r| r.build(r.defaults(), &port).expect("its defaults")).collect();
    let mut now = Time::ZERO;
    for chunk in data.chunks_exact(14) {
        let float = |at: usize| f32::from_le_bytes(chunk[at..at + 4].try_into().expect("4 bytes"));
        let stamp = if chunk[12] & 1 == 0 {
            Stamp::Rate { rate: float(0), rtt: float(4) }
        } else {
            Stamp::Window { window: float(0), rtt: float(4), feedback: float(8) }
        };
        let mut room = [0x40; ROUTED + 100];
        Header { token: 1, number: 1, stamp }.write(room.first_chunk_mut().expect("room"), |_| [0; 8]);
        let Some(mut stamp) = header::stamp(&room) else { continue };
        now += Duration::from_micros(1 << (chunk[13] % 40));
        if now == Time::MAX {
            return; // after 213 days no clock goes on, so that every tick would be due for ever
        }
        let backlog = Bytes(u64::from(chunk[12]) << 12);
        for router in &mut routers {
            while let Some(due) = router.next_tick().filter(|due| *due <= now) {
                router.on_tick(due, now, backlog);
            }
            router.on_arrival(now, &mut stamp, Bytes(1256), backlog);
            router.on_departure(now, &mut stamp, Bytes(1256), backlog);
        }
        header::answer(&mut room, &stamp);
        assert_eq!(header::stamp(&room), Some(stamp), "an answer that receivers take");
    }
}
