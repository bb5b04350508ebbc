//! A UDP relay: clients at one end of the path, a server at the other.
//!
//! It listens at an address per route of the path. The server sees each client at a port of its own, as behind a NAT.
//!
//! Datagrams that a sender hands to its kernel together (`UDP_SEGMENT`) arrive as one message (`UDP_GRO`) at one time.
//! On the path they are packets of their own again. A message has one ECN field: Linux joins only datagrams whose IP
//! headers have the same type of service. On the way out, a call's datagrams have the same ECN field, too.

use crate::ends::{Ends, Received, Sides};
use crate::handle::Direction;
use control::Stamp;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use path::Ecn;
use realtime::Clock;
use std::collections::HashMap;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// A client that has sent nothing for this long may be replaced by a new one, as in NATs (RFC 4787 says 2 minutes at
/// least).
const IDLE: Duration = Duration::from_secs(120);
/// Size of the kernel's socket buffers, in bytes: 10 ms at several Gbps. The kernel may give less.
const SOCKET_BUFFER: usize = 8 << 20;
/// The most messages received from a socket before the next socket's turn.
const BATCH: usize = 64;
/// Size of the receive buffer, in bytes, which is larger than any message.
const LARGEST: usize = 1 << 16;
/// The epoll number of the first socket that clients send to. Numbers below are those of clients.
const LISTENERS: u64 = 1 << 32;

/// See the [module](self).
pub struct Relay {
    /// The sockets that clients send to, by route.
    listeners: Vec<Socket>,
    server: SocketAddr,
    clients: Vec<Client>,
    most_clients: usize,
    by_address: HashMap<(u16, SocketAddr), usize>,
    /// The client that was heard last.
    last: usize,
    epoll: Epoll,
    events: Vec<EpollEvent>,
    receiver: Receiver,
    refused: u64,
    /// Datagrams that the kernel dropped at sockets that have been closed.
    missed_before: u64,
}

/// A client of the relay.
struct Client {
    address: SocketAddr,
    /// The route, whose listener it sends to.
    route: u16,
    /// The socket through which its datagrams reach the server.
    socket: Socket,
    /// Its address and the listener's; the socket's and the server's.
    sides: Sides,
    heard: Instant,
    /// How many clients had this place before. Packets of theirs may still be on the path.
    generation: u32,
}

struct Socket {
    udp: UdpSocket,
    /// Datagrams that the kernel dropped because they were not received in time.
    missed: u32,
}

impl Relay {
    /// Clients, at most `most_clients`, send to one of the addresses in `listen`. Their datagrams take the route with
    /// the same index to `server`.
    ///
    /// # Errors
    /// If the system refuses a socket at one of the addresses.
    pub fn new(listen: &[SocketAddr], server: SocketAddr, most_clients: usize) -> io::Result<Relay> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let mut listeners = Vec::new();
        for (number, address) in (LISTENERS..).zip(listen) {
            let listener = Socket::new(UdpSocket::bind(address)?)?;
            epoll.add(&listener.udp, EpollEvent::new(EpollFlags::EPOLLIN, number))?;
            listeners.push(listener);
        }
        Ok(Relay {
            listeners,
            server,
            clients: Vec::new(),
            most_clients,
            by_address: HashMap::new(),
            last: 0,
            epoll,
            events: vec![EpollEvent::empty(); 64],
            receiver: Receiver { buffer: vec![0; LARGEST], control: cmsg_space!(TimeSpec, u32, i32, i32) },
            refused: 0,
            missed_before: 0,
        })
    }

    /// The addresses that clients send to, by route.
    ///
    /// # Errors
    /// If the system does not return an address.
    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.listeners.iter().map(|listener| listener.udp.local_addr()).collect()
    }

    /// Waits for the first datagram. Calls `go_on` every 50 ms, and returns false when it does.
    ///
    /// # Errors
    /// If waiting fails.
    pub fn wait_for_clients(&mut self, go_on: &mut dyn FnMut() -> bool) -> io::Result<bool> {
        while go_on() {
            if wait(&mut [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)], Duration::from_millis(50))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Number of clients.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    fn receive_from_clients(&mut self, route: u16, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()> {
        for _ in 0..BATCH {
            let Relay { listeners, receiver, .. } = self;
            let Some(listener) = listeners.get_mut(usize::from(route)) else { return Ok(()) };
            let Some(message) = receiver.receive(listener, clock)? else { break };
            let Some(address) = message.from else { continue };
            let flow = self.client(route, address);
            let sides = self.clients.get(self.last).map(|client| &client.sides);
            for payload in self.receiver.datagrams(&message) {
                let Ok(flow) = flow else {
                    self.refused += 1;
                    continue;
                };
                let stamp = header::stamp(payload).unwrap_or_default();
                let Message { at, ecn, .. } = message;
                take(Received { at, route, direction: Direction::Forward, flow, ecn, stamp, sides, payload });
            }
        }
        Ok(())
    }

    fn receive_from_server(&mut self, at: usize, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()> {
        let Relay { clients, receiver, .. } = self;
        let Some(client) = clients.get_mut(at) else { return Ok(()) };
        for _ in 0..BATCH {
            let Some(message) = receiver.receive(&mut client.socket, clock)? else { break };
            let (route, flow, sides) = (client.route, flow(at, client.generation), Some(&client.sides));
            for payload in receiver.datagrams(&message) {
                let stamp = header::stamp(payload).unwrap_or_default();
                let Message { at, ecn, .. } = message;
                take(Received { at, route, direction: Direction::Reverse, flow, ecn, stamp, sides, payload });
            }
        }
        Ok(())
    }

    /// The flow of the client at `address`, which may be new on this route. Fails if there are too many clients.
    fn client(&mut self, route: u16, address: SocketAddr) -> io::Result<u64> {
        let last = self.clients.get(self.last).filter(|last| (last.route, last.address) == (route, address));
        let known = last.map(|_| self.last).or_else(|| self.by_address.get(&(route, address)).copied());
        if let Some(at) = known {
            self.last = at;
            self.clients[at].heard = Instant::now();
            return Ok(flow(at, self.clients[at].generation));
        }
        let mut old = None;
        if self.clients.len() >= self.most_clients {
            let idle = |client: &(usize, &Client)| client.1.heard.elapsed() >= IDLE;
            let longest = self.clients.iter().enumerate().filter(idle).min_by_key(|(_, client)| client.heard);
            old = Some(longest.map(|(at, _)| at).ok_or(ErrorKind::QuotaExceeded)?);
        }
        let any: IpAddr =
            if self.server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let udp = UdpSocket::bind((any, 0))?;
        udp.connect(self.server)?;
        let listener = self.listeners.get(usize::from(route)).ok_or(ErrorKind::NotFound)?;
        let sides = [[address, listener.udp.local_addr()?], [udp.local_addr()?, self.server]];
        let socket = Socket::new(udp)?;
        let at = old.unwrap_or(self.clients.len());
        self.epoll.add(&socket.udp, EpollEvent::new(EpollFlags::EPOLLIN, at as u64))?;
        let generation = old.map_or(0, |at| self.clients[at].generation.wrapping_add(1));
        let client = Client { address, route, socket, sides, heard: Instant::now(), generation };
        if old.is_some() {
            // Closing the socket removes it from epoll, too.
            let before = std::mem::replace(&mut self.clients[at], client);
            self.by_address.remove(&(before.route, before.address));
            self.missed_before += u64::from(before.socket.missed);
        } else {
            self.clients.push(client);
        }
        self.by_address.insert((route, address), at);
        self.last = at;
        Ok(flow(at, generation))
    }
}

/// Place and generation of a client in one number.
fn flow(at: usize, generation: u32) -> u64 {
    (u64::from(generation) << 32) | at as u64
}

impl Ends for Relay {
    fn receive(&mut self, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()> {
        let ready = retry(|| self.epoll.wait(&mut self.events, EpollTimeout::ZERO))?;
        for i in 0..ready {
            match self.events[i].data() {
                listener @ LISTENERS.. => self.receive_from_clients((listener - LISTENERS) as u16, clock, take)?,
                client => self.receive_from_server(client as usize, clock, take)?,
            }
        }
        Ok(())
    }

    /// The IP header is the kernel's, which [`Relay::send`] tells the ECN field.
    fn update(&self, payload: &mut [u8], stamp: &Stamp, _: Ecn) {
        header::answer(payload, stamp);
    }

    fn send(&mut self, direction: Direction, flow: u64, ecn: Ecn, payloads: &[IoSlice]) -> usize {
        let client = self.clients.get(flow as u32 as usize);
        let Some(client) = client.filter(|client| u64::from(client.generation) == flow >> 32) else { return 0 };
        let (socket, peer) = match direction {
            Direction::Forward => (&client.socket, self.server),
            Direction::Reverse => (&self.listeners[usize::from(client.route)], client.address),
        };
        let to = (direction == Direction::Reverse).then(|| peer.into());
        let ecn = (ecn, peer.ip().to_canonical().is_ipv4());
        // A kernel or a path that does not take them together may take them one by one.
        if payloads.len() > 1 && socket.send(payloads, to.as_ref(), ecn) {
            return payloads.len();
        }
        payloads.iter().take_while(|payload| socket.send(&[**payload], to.as_ref(), ecn)).count()
    }

    fn dated(&self) -> bool {
        true
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        wait(&mut [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)], at_most).map(drop)
    }

    fn missed(&self) -> (u64, u64) {
        let sockets = self.listeners.iter().chain(self.clients.iter().map(|client| &client.socket));
        (sockets.map(|socket| u64::from(socket.missed)).sum::<u64>() + self.missed_before, self.refused)
    }
}

impl Socket {
    fn new(udp: UdpSocket) -> io::Result<Socket> {
        udp.set_nonblocking(true)?;
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&udp, sockopt::RxqOvfl, &1)?;
        // IPv4 datagrams arrive at IPv6 sockets, too, if these are not for IPv6 alone.
        setsockopt(&udp, sockopt::IpRecvTos, &true)?;
        if udp.local_addr()?.is_ipv6() {
            setsockopt(&udp, sockopt::Ipv6RecvTClass, &true)?;
        }
        // Before Linux 5.0 there is none, and each message is a datagram.
        let _ = setsockopt(&udp, sockopt::UdpGroSegment, &true);
        // Only root may exceed the system's limit; others get as much as it allows.
        if setsockopt(&udp, sockopt::RcvBufForce, &SOCKET_BUFFER).is_err() {
            let _ = setsockopt(&udp, sockopt::RcvBuf, &SOCKET_BUFFER);
        }
        if setsockopt(&udp, sockopt::SndBufForce, &SOCKET_BUFFER).is_err() {
            let _ = setsockopt(&udp, sockopt::SndBuf, &SOCKET_BUFFER);
        }
        Ok(Socket { udp, missed: 0 })
    }

    /// Sends datagrams of one size, the last of which may be shorter, with one call, and returns whether the kernel
    /// took them: to the address `to`, if the socket is not connected, with this ECN field in the header of IPv4
    /// packets, or of IPv6 packets.
    fn send(&self, payloads: &[IoSlice], to: Option<&SockaddrStorage>, (ecn, v4): (Ecn, bool)) -> bool {
        let size = payloads.first().map_or(0, |first| first.len()) as u16;
        let (tos, class) = (ecn as u8, ecn as i32);
        let field = if v4 { ControlMessage::Ipv4Tos(&tos) } else { ControlMessage::Ipv6TClass(&class) };
        let both = [ControlMessage::UdpGsoSegments(&size), field];
        let from = usize::from(payloads.len() < 2);
        let until = if ecn == Ecn::NotEct { 1 } else { 2 };
        let send = || sendmsg(self.udp.as_raw_fd(), payloads, &both[from..until], MsgFlags::empty(), to);
        match send() {
            // The error is about an earlier datagram, which the other side refused. These have not been sent yet.
            Err(Errno::ECONNREFUSED | Errno::EINTR) => send().is_ok(),
            sent => sent.is_ok(),
        }
    }
}

/// Buffers for receiving. A message is in `buffer` until the next one is received.
struct Receiver {
    buffer: Vec<u8>,
    control: Vec<u8>,
}

/// Datagrams that arrived at one time.
struct Message {
    at: control::Time,
    from: Option<SocketAddr>,
    /// The ECN field of all of them.
    ecn: Ecn,
    /// The length of the message in bytes.
    size: usize,
    /// The length of each datagram but the last, in bytes.
    segment: usize,
}

impl Receiver {
    /// The datagrams of `message`, which was received last. An empty message is an empty datagram.
    fn datagrams(&self, message: &Message) -> impl Iterator<Item = &[u8]> {
        let whole = &self.buffer[..message.size];
        let (segments, empty) = (whole.chunks(message.segment), whole.is_empty().then_some(whole));
        empty.into_iter().chain(segments)
    }

    /// Receives the next message that waits at `socket`, if there is one.
    fn receive(&mut self, socket: &mut Socket, clock: &Clock) -> io::Result<Option<Message>> {
        let mut slices = [IoSliceMut::new(&mut self.buffer)];
        let fd = socket.udp.as_raw_fd();
        let message = loop {
            match recvmsg::<SockaddrStorage>(fd, &mut slices, Some(&mut self.control), MsgFlags::MSG_DONTWAIT) {
                Ok(message) => break message,
                Err(Errno::EAGAIN) => return Ok(None),
                // The server cannot be reached, or not yet: the datagram is lost, as on any network.
                Err(Errno::EINTR | Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::ENETUNREACH) => {}
                Err(e) => return Err(e.into()),
            }
        };
        let (mut at, mut segment, mut ecn) = (None, LARGEST, Ecn::NotEct);
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::ScmTimestampns(stamp) => at = Some(clock.of_stamp(stamp.into())),
                ControlMessageOwned::RxqOvfl(missed) => socket.missed = missed,
                ControlMessageOwned::UdpGroSegments(size) if size > 0 => segment = size as usize,
                ControlMessageOwned::Ipv4Tos(tos) => ecn = Ecn::of_bits(tos.into()),
                ControlMessageOwned::Ipv6TClass(class) => ecn = Ecn::of_bits(class as u32),
                _ => {}
            }
        }
        let from = message.address.and_then(|address| {
            let v4 = address.as_sockaddr_in().map(|&v4| SocketAddr::V4(v4.into()));
            v4.or(address.as_sockaddr_in6().map(|&v6| SocketAddr::V6(v6.into())))
        });
        Ok(Some(Message { at: at.unwrap_or_else(|| clock.now()), from, ecn, size: message.bytes, segment }))
    }
}

/// Waits until one of `fds` is ready, `at_most` for this long. Returns whether one is ready.
pub(crate) fn wait(fds: &mut [PollFd], at_most: Duration) -> io::Result<bool> {
    match ppoll(fds, Some(TimeSpec::from_duration(at_most)), None) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

fn retry<T>(mut call: impl FnMut() -> nix::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            done => return Ok(done?),
        }
    }
}
