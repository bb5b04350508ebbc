//! Real datagrams over real sockets. These tests hold on a loaded machine, too: they check which datagrams arrive, in
//! which order, and that none arrives before the path allows.

use control::{Duration, Rate};
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};
use path::queue::{Site, registry};
use path::{Buffer, DirectionSetup, Ecn, Errors, HostPair, LinkSetup, Reorder, Route};
use realtime::Clock;
use std::io::{IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration as Wall, Instant};
use thalweg_emulate::{EmulatedPath, Record, relay::Relay};

/// A relay that runs until it is stopped.
struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Record>,
}

impl Running {
    fn start(server: SocketAddr, clients: usize, link: LinkSetup) -> Running {
        let mut relay = Relay::new(&[SocketAddr::new(server.ip(), 0)], server, clients).unwrap();
        let address = relay.addresses().unwrap()[0];
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let path = path(&link, &[0]);
        let thread = thread::spawn(move || {
            let mut go_on = || !stopped.load(Ordering::Relaxed);
            let sample = Duration::from_millis(10);
            thalweg_emulate::run(&mut relay, Clock::start(), path, sample, &mut go_on, &mut |_| {}).unwrap()
        });
        Running { address, stop, thread }
    }

    fn stop(self) -> Record {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// A socket with a timeout, and with a receive buffer as large as the system allows.
fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let _ = setsockopt(&socket, sockopt::RcvBuf, &(1 << 20));
    let _ = setsockopt(&socket, sockopt::RcvBufForce, &(1 << 20));
    socket.set_read_timeout(Some(Wall::from_secs(10))).unwrap();
    socket
}

/// Sends back each datagram that it receives, until none comes for 10 s.
fn echo() -> SocketAddr {
    let socket = socket();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok((size, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..size], from);
        }
    });
    address
}

fn link(mbps: f64, ms: u64, buffer: Buffer) -> LinkSetup {
    LinkSetup::plain("", Rate::from_mbps(mbps), Duration::from_millis(ms), buffer)
}

/// A route over `link` for each of `beyond`: by how many milliseconds its round-trip time exceeds the link's.
fn path(link: &LinkSetup, beyond: &[u64]) -> EmulatedPath {
    let route = Route { links: vec![0], reverse: false };
    let hosts = beyond.iter().map(|&ms| HostPair {
        route: &route,
        rtt: link.round_trip() + Duration::from_millis(ms),
        access: None,
        interfaces: [None; 2],
    });
    EmulatedPath::new(std::slice::from_ref(link), 1, hosts).unwrap()
}

fn numbered(number: u32) -> Vec<u8> {
    let mut datagram = vec![0; 1000];
    datagram[..4].copy_from_slice(&number.to_le_bytes());
    datagram
}

fn number(datagram: &[u8]) -> u32 {
    u32::from_le_bytes(datagram[..4].try_into().unwrap())
}

/// Receives datagrams until number `last` or a timeout. Returns their numbers and times.
fn receive_until(socket: &UdpSocket, last: u32) -> Vec<(u32, Instant)> {
    let mut buffer = vec![0; 2000];
    let mut all = Vec::new();
    while let Ok(size) = socket.recv(&mut buffer) {
        assert_eq!(size, 1000);
        all.push((number(&buffer), Instant::now()));
        if number(&buffer) == last {
            break;
        }
    }
    all
}

#[test]
fn datagrams_come_back_in_order_and_not_before_the_round_trip() {
    let running = Running::start(echo(), 8, link(100.0, 20, Buffer::UNLIMITED));
    let client = socket();
    let receiver = client.try_clone().unwrap();
    let receiving = thread::spawn(move || receive_until(&receiver, 299));
    let sent: Vec<Instant> = (0..300)
        .map(|i| {
            let now = Instant::now();
            client.send_to(&numbered(i), running.address).unwrap();
            thread::sleep(Wall::from_micros(200));
            now
        })
        .collect();
    let received = receiving.join().unwrap();
    assert_eq!(received.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (0..300).collect::<Vec<_>>());
    for ((_, at), sent) in received.iter().zip(&sent) {
        // Two transmissions of 80 us and two delays of 20 ms, each of which the emulator makes 50 us shorter.
        assert!(at.duration_since(*sent) >= Wall::from_micros(40_160 - 2 * 50), "{:?}", at.duration_since(*sent));
    }
    let record = running.stop();
    assert_eq!(record.delivered.map(|all| (all.packets, all.bytes.0)), [(300, 300_000); 2]);
    assert_eq!((record.lateness.count(), record.unsent, record.missed), (600, 0, 0));
    println!("99 % left within {:?}", record.lateness.quantile(0.99));
}

#[test]
fn a_burst_leaves_at_the_links_rate_and_a_full_buffer_drops_its_end() {
    let server = socket();
    let running = Running::start(server.local_addr().unwrap(), 8, link(4.0, 5, Buffer::Packets(20)));
    let client = socket();
    let begin = Instant::now();
    // 2 ms each on the link: 200 of them are far more than it takes in, however slowly they are sent.
    for i in 0..200 {
        client.send_to(&numbered(i), running.address).unwrap();
    }
    server.set_read_timeout(Some(Wall::from_secs(1))).unwrap();
    let received = receive_until(&server, u32::MAX);
    let record = running.stop();
    let dropped = record.samples.last().unwrap().hops[0].dropped;
    assert_eq!(received.len() as u64 + dropped, 200);
    assert_eq!(record.arrived[0].packets, 200);
    assert!(dropped >= 50 && received.len() >= 21, "{dropped} dropped");
    assert!(received.is_sorted_by_key(|(number, _)| *number));
    assert_eq!(received[20].0, 20, "the first ones find room");
    for (i, (_, at)) in received.iter().enumerate() {
        // 2 ms on the link for each, and a delay of 5 ms, which the emulator makes 50 us shorter.
        let due = Wall::from_millis(2 * (i as u64 + 1) + 5) - Wall::from_micros(50);
        assert!(at.duration_since(begin) >= due, "{i}: {:?}", at.duration_since(begin));
    }
    let longest = record.samples.iter().map(|sample| sample.hops[0].max_queue).max();
    assert_eq!(longest, Some(20));
}

#[test]
fn lost_and_duplicated_datagrams_are_those_of_the_path() {
    let server = socket();
    let mut link = link(1000.0, 1, Buffer::UNLIMITED);
    link.forward = DirectionSetup {
        errors: Errors::Uniform(0.2),
        reorder: Some(Reorder { probability: 0.1, delay: Duration::from_millis(5) }),
        duplicate: 0.1,
        ..link.forward
    };
    let running = Running::start(server.local_addr().unwrap(), 8, link);
    server.set_read_timeout(Some(Wall::from_secs(1))).unwrap();
    let receiving = thread::spawn(move || receive_until(&server, u32::MAX));
    let client = socket();
    for i in 0..1000 {
        client.send_to(&numbered(i), running.address).unwrap();
        if i % 20 == 0 {
            thread::sleep(Wall::from_millis(1));
        }
    }
    let received = receiving.join().unwrap();
    let counters = running.stop().samples.last().unwrap().hops[0];
    let mut copies = vec![0u64; 1000];
    received.iter().for_each(|(number, _)| copies[*number as usize] += 1);
    let count = |n| copies.iter().filter(|&&copies| copies == n).count() as u64;
    assert_eq!((count(0), count(2)), (counters.lost, counters.duplicated));
    assert!(counters.lost > 100 && counters.duplicated > 30 && counters.reordered > 30, "{counters:?}");
}

#[test]
fn each_client_gets_its_own_answers_and_clients_beyond_the_limit_are_refused() {
    let running = Running::start(echo(), 2, link(100.0, 1, Buffer::UNLIMITED));
    let clients = [socket(), socket(), socket()];
    for round in 0..20u32 {
        for (client, i) in clients.iter().zip(0..) {
            client.send_to(&numbered(10 * round + i), running.address).unwrap();
        }
    }
    let mut buffer = [0; 2000];
    for (client, i) in clients[..2].iter().zip(0..) {
        for round in 0..20 {
            client.recv(&mut buffer).unwrap();
            assert_eq!(number(&buffer), 10 * round + i);
        }
    }
    clients[2].set_read_timeout(Some(Wall::from_millis(100))).unwrap();
    assert!(clients[2].recv(&mut buffer).is_err(), "two clients are allowed");
    assert_eq!(running.stop().refused, 20);
}

#[test]
fn the_relay_runs_on_while_the_server_is_not_there() {
    let place = socket();
    let server = place.local_addr().unwrap();
    drop(place);
    let running = Running::start(server, 2, link(100.0, 1, Buffer::UNLIMITED));
    let client = socket();
    for i in 0..10 {
        client.send_to(&numbered(i), running.address).unwrap();
        thread::sleep(Wall::from_millis(5));
    }
    let server = UdpSocket::bind(server).unwrap();
    server.set_read_timeout(Some(Wall::from_secs(10))).unwrap();
    client.send_to(&numbered(10), running.address).unwrap();
    assert_eq!(receive_until(&server, 10).last().unwrap().0, 10);
    running.stop();
}

#[test]
fn each_address_has_a_route_of_its_own() {
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let mut relay = Relay::new(&[any, any], echo(), 2).unwrap();
    let addresses = relay.addresses().unwrap();
    let path = path(&link(1000.0, 0, Buffer::UNLIMITED), &[0, 60]);
    let stop = Arc::new(AtomicBool::new(false));
    let stopping = stop.clone();
    let running = thread::spawn(move || {
        let mut go_on = || !stopping.load(Ordering::Relaxed);
        let sample = Duration::from_millis(10);
        thalweg_emulate::run(&mut relay, Clock::start(), path, sample, &mut go_on, &mut |_| {}).unwrap()
    });
    // The same client on both.
    let client = socket();
    let begin = Instant::now();
    client.send_to(&numbered(1), addresses[1]).unwrap();
    client.send_to(&numbered(0), addresses[0]).unwrap();
    let mut buffer = [0; 2000];
    for expected in 0..2 {
        let (_, from) = client.recv_from(&mut buffer).unwrap();
        assert_eq!((number(&buffer), from), (expected, addresses[expected as usize]));
    }
    assert!(begin.elapsed() >= Wall::from_millis(60));
    stop.store(true, Ordering::Relaxed);
    running.join().unwrap();
}

#[test]
fn of_a_datagram_that_is_corrupted_one_bit_is_flipped() {
    let server = socket();
    let mut link = link(1000.0, 1, Buffer::UNLIMITED);
    link.forward.corrupt = 0.2;
    let running = Running::start(server.local_addr().unwrap(), 8, link);
    server.set_read_timeout(Some(Wall::from_secs(1))).unwrap();
    let receiving = thread::spawn(move || {
        let (mut buffer, mut flipped) = ([0; 2000], Vec::new());
        while let Ok(size) = server.recv(&mut buffer) {
            flipped.push(buffer[..size].iter().map(|byte| byte.count_ones()).sum::<u32>());
        }
        flipped
    });
    let client = socket();
    for i in 0..1000 {
        client.send_to(&[0; 1000], running.address).unwrap();
        if i % 20 == 0 {
            thread::sleep(Wall::from_millis(1));
        }
    }
    let flipped = receiving.join().unwrap();
    let counters = running.stop().samples.last().unwrap().hops[0];
    let of = |bits| flipped.iter().filter(|&&flipped| flipped == bits).count() as u64;
    assert_eq!((of(0), of(1)), (1000 - counters.corrupted, counters.corrupted));
    assert!(counters.corrupted > 100, "{counters:?}");
}

/// Sends `bytes` as datagrams of 1000 bytes, the last of which may be shorter, with one call.
fn send_together(socket: &UdpSocket, bytes: &[u8], to: SocketAddr) {
    send_with_ecn(socket, bytes, to, Ecn::NotEct);
}

/// The same, with this ECN field.
fn send_with_ecn(socket: &UdpSocket, bytes: &[u8], to: SocketAddr, ecn: Ecn) {
    let (tos, class) = (ecn as u8, ecn as i32);
    let field = if to.is_ipv4() { ControlMessage::Ipv4Tos(&tos) } else { ControlMessage::Ipv6TClass(&class) };
    let to = SockaddrStorage::from(to);
    let control = [ControlMessage::UdpGsoSegments(&1000), field];
    let sent = sendmsg(socket.as_raw_fd(), &[IoSlice::new(bytes)], &control, MsgFlags::empty(), Some(&to));
    assert_eq!(sent, Ok(bytes.len()));
}

/// Datagrams that the sender's kernel took with one call arrive as one message. On the path they are packets of their
/// own, which the link transmits one after the other.
#[test]
fn datagrams_that_were_sent_together_cross_the_path_one_by_one() {
    let server = socket();
    let running = Running::start(server.local_addr().unwrap(), 8, link(8.0, 5, Buffer::Packets(30)));
    let client = socket();
    let mut bytes: Vec<u8> = (0..40).flat_map(numbered).collect();
    bytes.truncate(39_500);
    let begin = Instant::now();
    send_together(&client, &bytes, running.address);
    client.send_to(&[], running.address).unwrap();
    server.set_read_timeout(Some(Wall::from_secs(1))).unwrap();
    let mut buffer = [0; 2000];
    let received: Vec<_> = std::iter::from_fn(|| {
        let size = server.recv(&mut buffer).ok()?;
        Some((size, number(&buffer), Instant::now()))
    })
    .collect();
    let record = running.stop();
    // One is transmitted and 30 wait; no other finds room, though the empty datagram came later.
    assert_eq!(record.arrived[0].packets, 41);
    assert_eq!(received.len() as u64 + record.samples.last().unwrap().hops[0].dropped, 41);
    for (i, (size, number, at)) in received.iter().take(31).enumerate() {
        assert_eq!((*size, *number), (1000, i as u32));
        let due = Wall::from_millis(i as u64 + 1 + 5);
        assert!(at.duration_since(begin) >= due, "{i}: {:?}", at.duration_since(begin));
    }
}

/// Packets of a flow that are due at the same time leave with one call, and a receiver that can takes them as one
/// message; as a few if they were due in several rounds.
#[test]
fn packets_that_are_due_together_leave_together() {
    let server = socket();
    setsockopt(&server, sockopt::UdpGroSegment, &true).unwrap();
    let running = Running::start(server.local_addr().unwrap(), 8, link(1e6, 5, Buffer::UNLIMITED));
    let mut bytes: Vec<u8> = (0..40).flat_map(numbered).collect();
    bytes.truncate(39_500);
    send_together(&socket(), &bytes, running.address);
    let mut buffer = vec![0; 1 << 16];
    let mut control = cmsg_space!(i32);
    let (mut received, mut messages) = (Vec::new(), 0);
    while received.len() < bytes.len() {
        let mut slices = [IoSliceMut::new(&mut buffer)];
        let message = recvmsg::<()>(server.as_raw_fd(), &mut slices, Some(&mut control), MsgFlags::empty()).unwrap();
        let (size, segments) = (message.bytes, message.cmsgs().unwrap().next());
        assert!(size <= 1000 || segments == Some(ControlMessageOwned::UdpGroSegments(1000)), "{size}: {segments:?}");
        received.extend_from_slice(&buffer[..size]);
        messages += 1;
    }
    assert_eq!(received, bytes);
    assert!(messages <= 10, "{messages} messages for 40 packets");
    assert_eq!(running.stop().delivered[0].packets, 40);
}

/// A socket on loopback that receives the ECN field of each datagram.
fn ecn_socket(v6: bool) -> UdpSocket {
    let socket = UdpSocket::bind(if v6 { "[::1]:0" } else { "127.0.0.1:0" }).unwrap();
    match v6 {
        true => setsockopt(&socket, sockopt::Ipv6RecvTClass, &true).unwrap(),
        false => setsockopt(&socket, sockopt::IpRecvTos, &true).unwrap(),
    }
    socket.set_read_timeout(Some(Wall::from_secs(1))).unwrap();
    socket
}

/// Receives datagrams until there are no more: their numbers and ECN fields, and where the last one came from.
fn receive_with_ecn(socket: &UdpSocket) -> (Vec<(u32, Ecn)>, Option<SocketAddr>) {
    let (mut all, mut from) = (Vec::new(), None);
    let (mut buffer, mut control) = ([0; 2000], cmsg_space!(i32));
    loop {
        let mut slices = [IoSliceMut::new(&mut buffer)];
        let none = MsgFlags::empty();
        let Ok(message) = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, Some(&mut control), none) else {
            return (all, from);
        };
        let ecn = message.cmsgs().unwrap().find_map(|control| match control {
            ControlMessageOwned::Ipv4Tos(tos) => Some(Ecn::of_bits(tos.into())),
            ControlMessageOwned::Ipv6TClass(class) => Some(Ecn::of_bits(class as u32)),
            _ => None,
        });
        let address = message.address.unwrap();
        from = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
            (Some(&v4), _) => Some(SocketAddr::V4(v4.into())),
            (_, Some(&v6)) => Some(SocketAddr::V6(v6.into())),
            _ => panic!("{address:?}"),
        };
        all.push((number(&buffer), ecn.expect("the kernel tells the field")));
    }
}

/// A link of 8 Mbps whose queue marks each packet that finds ten before it.
fn marking_link() -> LinkSetup {
    let parameters = serde_json::json!({"min": 10, "max": 10, "weight": 1, "gentle": false});
    let buffer = Buffer::Packets(100);
    let mut link = link(8.0, 5, buffer);
    let site = Site { rate: link.forward.rate, buffer, packet: control::Bytes(1000) };
    link.forward.queue = registry::find("red").unwrap().setup(parameters.as_object().unwrap(), &site).unwrap();
    link
}

/// Of 40 datagrams that arrive together, the queue marks those that find ten waiting, and the others leave with the ECN
/// field that they came with. This holds in both directions, with IPv4 and IPv6. The queue drops datagrams that are
/// Not-ECT instead.
#[test]
fn marked_datagrams_arrive_marked_and_the_others_with_the_field_that_they_had() {
    for v6 in [false, true] {
        if v6 && UdpSocket::bind("[::1]:0").is_err() {
            continue; // no IPv6
        }
        let (server, client) = (ecn_socket(v6), ecn_socket(v6));
        let running = Running::start(server.local_addr().unwrap(), 8, marking_link());
        let bytes: Vec<u8> = (0..40).flat_map(numbered).collect();
        let check = |received: Vec<(u32, Ecn)>, ecn: Ecn| {
            assert_eq!(received.iter().map(|(number, _)| *number).collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
            let (before, after): (Vec<_>, Vec<_>) = received.iter().partition(|(number, _)| *number < 10);
            assert!(before.iter().all(|(_, field)| *field == ecn), "v6 {v6}: {received:?}");
            let marked = after.iter().filter(|(_, field)| *field == Ecn::Ce).count() as u64;
            assert!(after.iter().all(|(_, field)| [ecn, Ecn::Ce].contains(field)), "v6 {v6}: {received:?}");
            assert!(marked >= 28, "v6 {v6}: the first ones of the others find nine: {received:?}");
            marked
        };
        send_with_ecn(&client, &bytes, running.address, Ecn::Ect0);
        let (received, from) = receive_with_ecn(&server);
        let there = check(received, Ecn::Ect0);
        send_with_ecn(&server, &bytes, from.unwrap(), Ecn::Ect1);
        let back = check(receive_with_ecn(&client).0, Ecn::Ect1);
        send_with_ecn(&client, &bytes, running.address, Ecn::NotEct);
        let (plain, _) = receive_with_ecn(&server);
        assert!(plain.iter().all(|(_, field)| *field == Ecn::NotEct), "v6 {v6}: {plain:?}");
        let record = running.stop();
        let [forward, reverse] = record.samples.last().unwrap().hops[..] else { panic!("two directions") };
        assert_eq!([forward.marked, reverse.marked], [there, back]);
        assert_eq!(forward.dropped, 40 - plain.len() as u64);
        assert!(forward.dropped >= 28 && reverse.dropped == 0, "{forward:?}, {reverse:?}");
    }
}
