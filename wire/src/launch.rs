//! Launch times (`SO_TXTIME`): the kernel gets a datagram before it is due, and the queue of the interface holds it until then.
//!
//! That is `fq`'s to do; others drop launch times, or know them by another clock (`etf`, which needs privileges and a set-up of its own).

use crate::netlink::{self, Queue};
use crate::pacing::Pacing;
use control::{Duration, Time};
use nix::libc;
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg, setsockopt, sockopt};
use nix::time::{ClockId, clock_gettime};
use quinn::udp::Transmit;
use realtime::{Clock, from_std, to_std};
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;

/// A queue whose timers may be later than this is no better than spinning. `fq` says 10 us unless it is told otherwise: packets of
/// 1 Gbps would leave two at a time.
const LATE: Duration = Duration::from_micros(2);
/// What says nothing of how packets leave: only how cards with several queues share them, and hooks for filters.
const TRANSPARENT: [&str; 3] = ["mq", "ingress", "clsact"];

/// How packets from `socket` to `destination` are best sent at their time.
pub(crate) fn choose(socket: &UdpSocket, destination: SocketAddr) -> Pacing {
    let queues = netlink::interface(destination.ip().to_canonical()).and_then(netlink::queues);
    match queues.map_or(Pacing::Spin, |queues| pacing(&queues)) {
        Pacing::Launch if allow(socket).is_err() => Pacing::Spin,
        pacing => pacing,
    }
}

/// Has `socket` take launch times.
pub(crate) fn allow(socket: &UdpSocket) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::TxTime, &libc::sock_txtime { clockid: libc::CLOCK_MONOTONIC, flags: 0 })?)
}

/// What these queues of an interface are good for.
fn pacing(queues: &[Queue]) -> Pacing {
    let mut slacks = queues.iter().filter(|queue| !TRANSPARENT.contains(&&*queue.kind)).map(|queue| queue.slack);
    let first = slacks.next().flatten();
    match first.and_then(|first| slacks.try_fold(first, |most, slack| Some(most.max(slack?)))) {
        None => Pacing::Spin,
        Some(most) => match from_std(std::time::Duration::from_nanos(most.into())) {
            slack if slack > LATE => Pacing::Coarse(slack),
            _ => Pacing::Launch,
        },
    }
}

/// Hands over datagrams with launch times.
pub(crate) struct Launcher {
    /// What CLOCK_MONOTONIC showed at [`Time::ZERO`].
    zero: std::time::Duration,
}

impl Launcher {
    /// For times by `clock`.
    pub(crate) fn new(clock: Clock) -> io::Result<Launcher> {
        let read = || -> io::Result<std::time::Duration> {
            let now = to_std(clock.now().since(Time::ZERO));
            Ok(std::time::Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC)?).saturating_sub(now))
        };
        // What passes between the two readings is least when nothing interrupts them.
        let mut zero = read()?;
        for _ in 0..9 {
            zero = zero.min(read()?);
        }
        Ok(Launcher { zero })
    }

    /// Sends through a socket that may, so that what it sends leaves `at` this time.
    pub(crate) fn send(&self, socket: &UdpSocket, transmit: &Transmit<'_>, at: Time) -> io::Result<()> {
        let at = (self.zero + to_std(at.since(Time::ZERO))).as_nanos() as u64;
        let ecn = transmit.ecn.map_or(0, |ecn| ecn as u8);
        let class = i32::from(ecn);
        let ecn = match transmit.destination.ip().to_canonical() {
            IpAddr::V4(_) => ControlMessage::Ipv4Tos(&ecn),
            IpAddr::V6(_) => ControlMessage::Ipv6TClass(&class),
        };
        let mut control = vec![ControlMessage::TxTime(&at), ecn];
        let (source4, source6, segment);
        match transmit.src_ip {
            None => {}
            Some(IpAddr::V4(from)) => {
                let ipi_spec_dst = libc::in_addr { s_addr: u32::from_ne_bytes(from.octets()) };
                source4 = libc::in_pktinfo { ipi_ifindex: 0, ipi_spec_dst, ipi_addr: libc::in_addr { s_addr: 0 } };
                control.push(ControlMessage::Ipv4PacketInfo(&source4));
            }
            Some(IpAddr::V6(from)) => {
                source6 = libc::in6_pktinfo { ipi6_ifindex: 0, ipi6_addr: libc::in6_addr { s6_addr: from.octets() } };
                control.push(ControlMessage::Ipv6PacketInfo(&source6));
            }
        }
        if let Some(size) = transmit.segment_size {
            segment = size as u16;
            control.push(ControlMessage::UdpGsoSegments(&segment));
        }
        let to = SockaddrStorage::from(transmit.destination);
        let contents = &[IoSlice::new(transmit.contents)];
        sendmsg(socket.as_raw_fd(), contents, &control, MsgFlags::MSG_DONTWAIT, Some(&to))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receive::Reader;
    use quinn::udp::{EcnCodepoint, UdpSockRef, UdpSocketState};
    use std::io::IoSliceMut;

    #[test]
    fn launch_times_are_for_interfaces_that_send_through_a_prompt_fq_alone() {
        let of = |queues: &[(&str, Option<u32>)]| {
            let queue = |&(kind, slack): &(&str, _)| Queue { kind: kind.into(), slack };
            pacing(&queues.iter().map(queue).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("fq", Some(1000))]), Pacing::Launch);
        assert_eq!(of(&[("mq", None), ("fq", Some(0)), ("fq", Some(2000)), ("clsact", None)]), Pacing::Launch);
        assert_eq!(of(&[("fq", Some(10_000))]), Pacing::Coarse(Duration::from_micros(10)));
        assert_eq!(of(&[("mq", None), ("fq", Some(1)), ("fq", Some(3000))]), Pacing::Coarse(Duration::from_micros(3)));
        assert_eq!(of(&[("fq", None)]), Pacing::Spin, "from before it said so");
        assert_eq!(of(&[("mq", None), ("fq", Some(0)), ("pfifo_fast", None)]), Pacing::Spin);
        assert_eq!(of(&[("tbf", None), ("fq", Some(0))]), Pacing::Spin, "what is shaped has no say in when it leaves");
        for other in ["noqueue", "pfifo_fast", "fq_codel", "etf", "mq", "clsact"] {
            assert_eq!(of(&[(other, None)]), Pacing::Spin, "{other}");
        }
        assert_eq!(of(&[]), Pacing::Spin);
    }

    #[test]
    fn nothing_holds_packets_on_loopback() {
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(socket) = UdpSocket::bind(own) else { continue }; // no IPv6
            assert_eq!(choose(&socket, socket.local_addr().unwrap()), Pacing::Spin);
        }
    }

    #[test]
    fn the_kernel_takes_datagrams_with_launch_times_and_all_else_that_belongs_to_them() {
        // Loopback has no queue: they arrive at once.
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(near) = UdpSocket::bind(own) else { continue };
            let far = UdpSocket::bind(own).unwrap();
            let _ = UdpSocketState::new(UdpSockRef::from(&far)).unwrap(); // has ECN told
            let (clock, reader) = (Clock::start(), Reader::new(&far).unwrap());
            let launcher = Launcher::new(clock).unwrap();
            let from = near.local_addr().unwrap();
            let mut transmit = Transmit {
                destination: far.local_addr().unwrap(),
                ecn: Some(EcnCodepoint::Ect0),
                contents: b"launchedtogether",
                segment_size: Some(8),
                src_ip: None,
            };
            let at = clock.now() + Duration::from_millis(1);
            assert!(launcher.send(&near, &transmit, at).is_err(), "it has not been allowed yet");
            allow(&near).unwrap();
            for src_ip in [None, Some(from.ip())] {
                transmit.src_ip = src_ip;
                launcher.send(&near, &transmit, at).unwrap();
                for expected in [b"launched", b"together"] {
                    let mut buffer = [0; 100];
                    far.peek(&mut buffer).unwrap();
                    let (_, meta) = reader.read(&far, &mut IoSliceMut::new(&mut buffer)).unwrap();
                    assert_eq!((meta.addr, meta.ecn), (from, Some(EcnCodepoint::Ect0)));
                    assert_eq!(&buffer[..meta.len], expected);
                }
            }
        }
    }

    #[test]
    fn launch_times_are_by_the_clock_that_std_reads() {
        let clock = Clock::start();
        let launcher = Launcher::new(clock).unwrap();
        let before = launcher.zero + to_std(clock.now().since(Time::ZERO));
        let now = std::time::Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap());
        let after = launcher.zero + to_std(clock.now().since(Time::ZERO));
        let slip = std::time::Duration::from_millis(1); // ten readings in a row do not all take longer
        assert!(before <= now + slip && now <= after + slip, "{before:?} {now:?} {after:?}");
    }
}
