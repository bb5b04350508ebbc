//! The emulator: no packets from outside make it panic, work for long, keep a packet for ever, or send a datagram with
//! a wrong checksum, or mark one whose sender does not know ECN. The input chooses the links' queue, router, shaper and
//! jitter, and says which packets arrive when.
#![no_main]

use control::{Bytes, Duration, Rate, Stamp, Time, routers};
use emulate::fuzzing::Emulator;
use emulate::{Direction, EmulatedPath};
use header::{Header, ROUTED};
use libfuzzer_sys::fuzz_target;
use path::queue::{Site, registry};
use path::{Buffer, DirectionSetup, Errors, HostPair, Jitter, LinkSetup, Reorder, Route, RouterSetup, Shaper};

const RATE: Rate = Rate::from_mbps(100.0);
const BUFFER: Bytes = Bytes(50_000);
/// Lengths in bytes of the IPv4 header without options and of UDP's.
const IP: usize = 20;
const UDP: usize = 8;
/// The first byte of the source's address, and its value in the packets of [`stamped`].
const SOURCE: usize = 12;
const OURS: u8 = 198;

fuzz_target!(|data: &[u8]| {
    let Some((&[queue, router, flaws], mut rest)) = data.split_first_chunk() else { return };
    let mut emulator = Emulator::new(path(queue, router, flaws));
    let mut now = Time::ZERO;
    // With flipped bits or copies, a datagram's checksum may be wrong, as it should.
    let intact = flaws == 0;
    while let Some((&[gap, kind, size], after)) = rest.split_first_chunk() {
        // From a nanosecond to nine hours.
        now += Duration((4 + u64::from(gap & 3)) << (8 + (gap >> 2) % 46));
        emulator.pass(now, |packet| check(packet, intact));
        if kind & 64 != 0 {
            emulator.observe(now);
        }
        let (bytes, after) = after.split_at(after.len().min(size.into()));
        let direction = Direction::ALL[usize::from(kind & 1)];
        if kind & 2 == 0 {
            // Not from the address of ours.
            let mut packet = bytes.to_vec();
            packet.get_mut(SOURCE).into_iter().for_each(|byte| *byte = 0);
            emulator.arrive(now, direction, &packet);
        } else if let Some(packet) = stamped(kind, bytes) {
            assert!(emulator.arrive(now, direction, &packet), "an IPv4 packet crosses");
        }
        rest = after;
    }
    now += Duration::from_secs(1000.0);
    emulator.pass(now, |packet| check(packet, intact));
    emulator.observe(now);
    assert_eq!(emulator.kept(), 0, "packets that never leave");
});

/// Two links in a row, and two routes over them.
fn path(queue: u8, router: u8, flaws: u8) -> EmulatedPath {
    let buffer = Buffer::Bytes(BUFFER);
    let disciplines = registry::all();
    let discipline = &disciplines[usize::from(queue) % disciplines.len()];
    let site = Site { rate: RATE, buffer, packet: Bytes(1200) };
    let router = routers::all().get(usize::from(router) % (routers::all().len() + 1)).map(|it| RouterSetup {
        protocol: it.name.into(),
        parameters: it.defaults().clone(),
        buffer: BUFFER,
    });
    let forward = DirectionSetup {
        queue: discipline.setup(&Default::default(), &site).expect("its defaults"),
        router,
        errors: Errors::Uniform(f64::from(flaws & 3) * 0.1),
        corrupt: f64::from(flaws >> 2 & 3) * 0.1,
        duplicate: f64::from(flaws >> 4 & 3) * 0.1,
        reorder: (flaws >= 64).then_some(Reorder { probability: 0.1, delay: Duration::from_millis(2) }),
        shaper: (queue & 64 != 0).then_some(Shaper { rate: RATE * 0.5, burst: Bytes(10_000) }),
        jitter: (queue & 128 != 0)
            .then_some(Jitter { mean: Duration::from_millis(1), correlation: Duration::from_millis(10) }),
        ..DirectionSetup::plain(RATE, Duration::from_millis(1), buffer)
    };
    let link = LinkSetup { name: String::new(), forward, reverse: None };
    let route = Route { links: vec![0, 1], reverse: false };
    let hosts = [10, 50].map(|ms| HostPair {
        route: &route,
        rtt: Duration::from_millis(ms),
        access: None,
        interfaces: [None; 2],
    });
    EmulatedPath::new(&[link.clone(), link], 1, hosts).expect("a valid path")
}

/// An IPv4 packet with a stamped datagram and a right checksum: 13 bytes make it.
fn stamped(kind: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    let (&[a, b, c], rest) = bytes.as_chunks::<4>().0.split_first_chunk()?;
    let (a, b, c) = (f32::from_le_bytes(a), f32::from_le_bytes(b), f32::from_le_bytes(c));
    let stamp = match kind >> 2 & 3 {
        0 => Stamp::Rate { rate: a, rtt: b },
        1 | 2 => Stamp::Window { window: a, rtt: b, feedback: c },
        _ => Stamp::Probe { stream: a.to_bits(), index: 0, len: 1, rate: b, sent: Time(c.to_bits().into()) },
    };
    let mut room = [0; ROUTED];
    let size = Header { token: 1, number: 1, stamp }.write(&mut room, |_| [0; 8]);
    let payload = [&room[ROUTED - size..], &[0x40; 64], &rest.as_flattened()[..]].concat();
    let length = (UDP + payload.len()) as u16;
    let mut packet = vec![0; IP + UDP];
    (packet[0], packet[9], packet[SOURCE]) = (0x45, 17, OURS);
    packet[1] = kind >> 4 & 3;
    let sum = !total_of_header(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet[IP] = kind;
    packet[IP + 4..IP + 6].copy_from_slice(&length.to_be_bytes());
    packet.extend(payload);
    let sum = !total(&packet);
    packet[IP + 6..IP + 8].copy_from_slice(&if sum == 0 { !0 } else { sum }.to_be_bytes());
    Some(packet)
}

/// The sum that a receiver computes of a packet of [`stamped`] (RFC 768): all ones if the checksum is right.
fn total(packet: &[u8]) -> u16 {
    let length = (packet.len() - IP) as u16;
    let words = packet[12..IP].chunks(2).chain(packet[IP..].chunks(2));
    words.map(|word| u16::from_be_bytes([word[0], *word.get(1).unwrap_or(&0)])).fold(17 + length, |a, b| {
        let (sum, carry) = a.overflowing_add(b);
        sum + u16::from(carry)
    })
}

/// The sum that a receiver computes of the IPv4 header of a packet of [`stamped`] (RFC 791): all ones if the checksum
/// is right.
fn total_of_header(packet: &[u8]) -> u16 {
    packet[..IP].chunks(2).map(|word| u16::from_be_bytes([word[0], word[1]])).fold(0, |a, b| {
        let (sum, carry) = a.overflowing_add(b);
        sum + u16::from(carry)
    })
}

/// The datagrams of [`stamped`] are still right. Their first port says which ECN field they began with.
fn check(packet: &[u8], intact: bool) {
    if intact && packet.get(SOURCE) == Some(&OURS) {
        assert_eq!(total(packet), 0xffff, "a wrong checksum");
        assert_eq!(total_of_header(packet), 0xffff, "a wrong checksum of the IP header");
        let (before, after) = (packet[IP] >> 4 & 3, packet[1] & 3);
        assert!(after == before || (before != 0 && after == 3), "{before} became {after}");
    }
}
