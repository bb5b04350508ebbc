//! Two questions to the kernel, rtnetlink(7): through which interface do packets to a destination leave, and which
//! queueing disciplines does that interface have? No socket option tells. The crates for netlink describe every message
//! there is, and take longer to build than this whole crate.

use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, setsockopt, socket, sockopt};
use nix::sys::time::TimeVal;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::IpAddr;

// Messages, their flags and their attributes: linux/netlink.h, rtnetlink.h and pkt_sched.h.
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTM_NEWQDISC: u16 = 36;
const RTM_GETQDISC: u16 = 38;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_MULTI: u16 = 2;
const NLM_F_DUMP: u16 = 0x300;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_FQ_TIMER_SLACK: u16 = 13;
/// Bits in the field of an attribute's type that are flags.
const FLAGS: u16 = 0xc000;

/// A queueing discipline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Discipline {
    pub(crate) kind: String,
    /// By how many nanoseconds its timers may be late, if it is an `fq` that reports it (Linux 5.8).
    pub(crate) slack: Option<u32>,
}

/// The interface that packets to `destination` leave through.
pub(crate) fn interface(destination: IpAddr) -> io::Result<i32> {
    let (family, address) = match &destination {
        IpAddr::V4(address) => (AddressFamily::Inet, &address.octets()[..]),
        IpAddr::V6(address) => (AddressFamily::Inet6, &address.octets()[..]),
    };
    // rtmsg: family, lengths of destination and source, and fields that may be zero.
    let mut request = [0; 12].to_vec();
    (request[0], request[1]) = (family as u8, 8 * address.len() as u8);
    request.extend((4 + address.len() as u16).to_ne_bytes());
    request.extend(RTA_DST.to_ne_bytes());
    request.extend(address);
    route_interface(&ask(RTM_GETROUTE, 0, &request)?).ok_or(ErrorKind::NotFound.into())
}

/// The queueing disciplines of `interface`, including those inside others.
pub(crate) fn disciplines(interface: i32) -> io::Result<Vec<Discipline>> {
    // tcmsg: the kernel ignores it and answers for all interfaces.
    Ok(disciplines_in(&ask(RTM_GETQDISC, NLM_F_DUMP, &[0; 20])?, interface))
}

/// Sends a request to the kernel and reads the whole answer.
fn ask(kind: u16, flags: u16, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut request = (16 + body.len() as u32).to_ne_bytes().to_vec();
    request.extend(kind.to_ne_bytes());
    request.extend((NLM_F_REQUEST | flags).to_ne_bytes());
    request.extend([0; 8]); // sequence, port
    request.extend(body);
    let netlink = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    setsockopt(&netlink, sockopt::ReceiveTimeout, &TimeVal::new(1, 0))?; // the kernel answers while it is asked, never later
    let mut netlink = File::from(netlink);
    netlink.write_all(&request)?;
    let mut answer = Vec::new();
    let mut part = vec![0; 1 << 16];
    loop {
        let read = netlink.read(&mut part)?;
        let part = &part[..read];
        answer.extend_from_slice(part);
        match messages(part).last() {
            None | Some(Message { kind: NLMSG_ERROR, .. }) => return Err(ErrorKind::InvalidData.into()),
            Some(Message { kind, flags, .. }) if kind == NLMSG_DONE || flags & NLM_F_MULTI == 0 => return Ok(answer),
            Some(_) => {}
        }
    }
}

/// The interface in the answer about a route.
fn route_interface(answer: &[u8]) -> Option<i32> {
    let route = messages(answer).find(|message| message.kind == RTM_NEWROUTE)?;
    let interface = attribute(route.body.get(12..)?, RTA_OIF)?;
    Some(i32::from_ne_bytes(*interface.first_chunk()?))
}

/// The disciplines of `interface` in the answer about all interfaces.
fn disciplines_in(answer: &[u8], interface: i32) -> Vec<Discipline> {
    let discipline = |message: Message| {
        let own = message.kind == RTM_NEWQDISC && message.body.get(4..8)? == interface.to_ne_bytes();
        let attributes = message.body.get(20..).filter(|_| own)?;
        let kind = attribute(attributes, TCA_KIND)?;
        let kind = String::from_utf8_lossy(kind.strip_suffix(b"\0").unwrap_or(kind)).into_owned();
        let slack = attribute(attributes, TCA_OPTIONS).filter(|_| kind == "fq");
        let slack = slack.and_then(|options| attribute(options, TCA_FQ_TIMER_SLACK)?.first_chunk().copied());
        Some(Discipline { kind, slack: slack.map(u32::from_ne_bytes) })
    };
    messages(answer).filter_map(discipline).collect()
}

struct Message<'a> {
    kind: u16,
    flags: u16,
    body: &'a [u8],
}

/// The messages in a buffer, up to the first bytes that are none: length, type, flags, sequence, port, body.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let &[a, b, c, d, kind0, kind1, flags0, flags1, ..] = bytes else { return None };
        let length = usize::try_from(u32::from_ne_bytes([a, b, c, d])).ok()?;
        let body = bytes.get(16..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(Message { kind: u16::from_ne_bytes([kind0, kind1]), flags: u16::from_ne_bytes([flags0, flags1]), body })
    })
}

/// The value of the first attribute of type `wanted`, before the first bytes that are no attribute: length, type,
/// value.
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let &[a, b, kind0, kind1, ..] = bytes else { return None };
        let length = usize::from(u16::from_ne_bytes([a, b]));
        let value = bytes.get(4..length)?;
        if u16::from_ne_bytes([kind0, kind1]) & !FLAGS == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Linux 6.18 answered where interfaces 1 and 2 had `noqueue`, and 3 `mq` with two `pfifo_fast` and `clsact`.
    const RECORDED: &[u8] = include_bytes!("netlink/queues");
    /// What it answered about the route to 127.0.0.1.
    const ROUTE: &[u8] = include_bytes!("netlink/route");

    /// The kinds of an interface's disciplines, in the recording, which is little-endian.
    fn kinds(interface: i32) -> Vec<String> {
        disciplines_in(RECORDED, interface).into_iter().map(|discipline| discipline.kind).collect()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn the_recorded_answers_of_a_kernel_are_understood() {
        assert_eq!(kinds(1), ["noqueue"]);
        assert_eq!(kinds(3), ["mq", "pfifo_fast", "pfifo_fast", "clsact"]);
        assert!(kinds(4).is_empty());
        assert_eq!(route_interface(ROUTE), Some(1));
    }

    #[test]
    fn the_slack_of_an_fq_is_read_and_that_of_others_is_not() {
        let attribute = |kind: u16, value: &[u8]| {
            let head = [(4 + value.len() as u16).to_ne_bytes(), kind.to_ne_bytes()].concat();
            [&head, value, &[0; 3][..value.len().next_multiple_of(4) - value.len()]].concat()
        };
        let discipline = |kind: &[u8], options: &[u8]| {
            let attributes = [attribute(TCA_KIND, kind), attribute(TCA_OPTIONS | 0x8000, options)].concat();
            let body = [&[0; 4][..], &7i32.to_ne_bytes(), &[0; 12], &attributes].concat();
            let head = [RTM_NEWQDISC.to_ne_bytes(), NLM_F_MULTI.to_ne_bytes()].concat();
            [&(16 + body.len() as u32).to_ne_bytes()[..], &head, &[0; 8], &body].concat()
        };
        let slack = attribute(TCA_FQ_TIMER_SLACK, &10_000u32.to_ne_bytes());
        let options = [attribute(1, &100u32.to_ne_bytes()), attribute(15, &[1]), slack].concat();
        let answer = [
            discipline(b"mq\0", &[]),
            discipline(b"fq\0", &options),
            discipline(b"fq\0", &[]),
            discipline(b"sfq\0", &options),
        ];
        let expected = [("mq", None), ("fq", Some(10_000)), ("fq", None), ("sfq", None)];
        assert_eq!(
            disciplines_in(&answer.concat(), 7),
            expected.map(|(kind, slack)| Discipline { kind: kind.into(), slack })
        );
    }

    #[test]
    fn the_running_kernel_answers() {
        let loopback = nix::net::if_::if_nametoindex("lo").unwrap() as i32;
        for address in ["127.0.0.1", "127.3.2.1"] {
            assert_eq!(interface(address.parse().unwrap()).unwrap(), loopback);
        }
        assert!(!disciplines(loopback).unwrap().is_empty());
    }

    #[test]
    fn no_answer_causes_a_panic() {
        let read = |bytes: &[u8]| {
            (0..4).for_each(|interface| drop(disciplines_in(bytes, interface)));
            route_interface(bytes);
        };
        for recorded in [RECORDED, ROUTE] {
            (0..recorded.len()).for_each(|end| read(&recorded[..end]));
            let mut bytes = recorded.to_vec();
            for at in 0..bytes.len() {
                for other in [0, 1, 3, 15, 17, 127, 255] {
                    let byte = std::mem::replace(&mut bytes[at], other);
                    read(&bytes);
                    bytes[at] = byte;
                }
            }
        }
    }
}
