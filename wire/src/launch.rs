//! Launch times (`SO_TXTIME`): the kernel gets a datagram before it is due, and the queue of the interface holds it
//! until then.
//!
//! Of the queueing disciplines `fq` does that. Others drop launch times or take them by another clock (`etf`, which
//! needs privileges and a set-up of its own).

use crate::netlink::{self, Discipline};
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

/// The most by which the timers of `fq` may be late for launch times to be better than spinning. By default `fq` has 10
/// us: packets of 1 Gbps would leave two at a time.
const MOST_SLACK: Duration = Duration::from_micros(2);
/// Disciplines that do not decide when packets leave: they only divide packets between the queues of a card, or are
/// hooks for filters.
const TRANSPARENT: [&str; 3] = ["mq", "ingress", "clsact"];

/// How packets from `socket` to `destination` are best sent at their time.
pub(crate) fn choose(socket: &UdpSocket, destination: SocketAddr) -> Pacing {
    let disciplines = netlink::interface(destination.ip().to_canonical()).and_then(netlink::disciplines);
    match disciplines.map_or(Pacing::Spin, |disciplines| pacing(&disciplines)) {
        Pacing::Launch if allow(socket).is_err() => Pacing::Spin,
        pacing => pacing,
    }
}

/// Makes `socket` take launch times.
pub(crate) fn allow(socket: &UdpSocket) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::TxTime, &libc::sock_txtime { clockid: libc::CLOCK_MONOTONIC, flags: 0 })?)
}

/// How packets are best sent through an interface with these queueing disciplines.
fn pacing(disciplines: &[Discipline]) -> Pacing {
    let deciding = disciplines.iter().filter(|discipline| !TRANSPARENT.contains(&&*discipline.kind));
    let mut slacks = deciding.map(|discipline| discipline.slack);
    let first = slacks.next().flatten();
    match first.and_then(|first| slacks.try_fold(first, |most, slack| Some(most.max(slack?)))) {
        None => Pacing::Spin,
        Some(most) => match from_std(std::time::Duration::from_nanos(most.into())) {
            slack if slack > MOST_SLACK => Pacing::Coarse(slack),
            _ => Pacing::Launch,
        },
    }
}

/// Hands over datagrams with launch times.
pub(crate) struct Launcher {
    /// What `CLOCK_MONOTONIC` showed at [`Time::ZERO`].
    zero: std::time::Duration,
}

impl Launcher {
    /// For times by `clock`.
    pub(crate) fn new(clock: Clock) -> io::Result<Launcher> {
        let read = || -> io::Result<std::time::Duration> {
            let now = to_std(clock.now().since(Time::ZERO));
            Ok(std::time::Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC)?).saturating_sub(now))
        };
        // The least difference is the most exact: nothing interrupted these two readings of the clocks.
        let mut zero = read()?;
        for _ in 0..9 {
            zero = zero.min(read()?);
        }
        Ok(Launcher { zero })
    }

    /// Hands a datagram, or several of one size, to a socket that takes launch times, to leave `at` this time. Fails if
    /// the kernel refuses.
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
    use crate::receive::DatagramReader;
    use quinn::udp::{EcnCodepoint, UdpSockRef, UdpSocketState};
    use std::io::IoSliceMut;

    #[test]
    fn launch_times_are_used_where_every_packet_leaves_through_a_prompt_fq() {
        let of = |disciplines: &[(&str, Option<u32>)]| {
            let discipline = |&(kind, slack): &(&str, _)| Discipline { kind: kind.into(), slack };
            pacing(&disciplines.iter().map(discipline).collect::<Vec<_>>())
        };
        assert_eq!(of(&[("fq", Some(1000))]), Pacing::Launch);
        assert_eq!(of(&[("mq", None), ("fq", Some(0)), ("fq", Some(2000)), ("clsact", None)]), Pacing::Launch);
        assert_eq!(of(&[("fq", Some(10_000))]), Pacing::Coarse(Duration::from_micros(10)));
        assert_eq!(of(&[("mq", None), ("fq", Some(1)), ("fq", Some(3000))]), Pacing::Coarse(Duration::from_micros(3)));
        assert_eq!(of(&[("fq", None)]), Pacing::Spin, "a kernel that does not report the slack");
        assert_eq!(of(&[("mq", None), ("fq", Some(0)), ("pfifo_fast", None)]), Pacing::Spin);
        assert_eq!(of(&[("tbf", None), ("fq", Some(0))]), Pacing::Spin, "a shaper decides when packets leave");
        for other in ["noqueue", "pfifo_fast", "fq_codel", "etf", "mq", "clsact"] {
            assert_eq!(of(&[(other, None)]), Pacing::Spin, "{other}");
        }
        assert_eq!(of(&[]), Pacing::Spin);
    }

    #[test]
    fn loopback_has_no_queue_that_holds_packets() {
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(socket) = UdpSocket::bind(own) else { continue }; // no IPv6
            assert_eq!(choose(&socket, socket.local_addr().unwrap()), Pacing::Spin);
        }
    }

    #[test]
    fn the_kernel_takes_launch_times_together_with_ecn_source_and_segment_size() {
        // Loopback has no queue: datagrams arrive at once.
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(near) = UdpSocket::bind(own) else { continue };
            let far = UdpSocket::bind(own).unwrap();
            let _ = UdpSocketState::new(UdpSockRef::from(&far)).unwrap(); // asks for ECN of what arrives
            let (clock, reader) = (Clock::start(), DatagramReader::new(&far).unwrap());
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
            assert!(launcher.send(&near, &transmit, at).is_err(), "the socket does not take launch times yet");
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
    fn launch_times_are_on_the_clock_that_std_reads() {
        let clock = Clock::start();
        let launcher = Launcher::new(clock).unwrap();
        let before = launcher.zero + to_std(clock.now().since(Time::ZERO));
        let now = std::time::Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap());
        let after = launcher.zero + to_std(clock.now().since(Time::ZERO));
        let slip = std::time::Duration::from_millis(1); // one of ten readings takes less
        assert!(before <= now + slip && now <= after + slip, "{before:?} {now:?} {after:?}");
    }
}
