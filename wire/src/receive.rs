//! Messages and when they arrived, by the kernel's timestamps (`SO_TIMESTAMPNS`), which are exact even when this
//! process runs late. `quinn-udp` does not pass them on, so that this reads the socket itself, through `nix`. A message
//! is one datagram, or several that the kernel joined (generic receive offload) and that share a timestamp.

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use quinn::udp::{EcnCodepoint, RecvMeta, UdpSocketState};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads messages with their timestamps.
pub(crate) struct MessageReader {
    /// Room for the control messages that come with a message.
    room: Mutex<Vec<u8>>,
}

impl MessageReader {
    /// For sockets that quinn-udp has set up.
    pub(crate) fn new() -> MessageReader {
        MessageReader { room: Mutex::new(vec![0; 256]) }
    }

    /// Has the kernel take the time of what arrives at `socket`, or no longer. While it does, quinn-udp cannot read the
    /// socket: it has no room for the timestamp.
    pub(crate) fn take_times(&self, socket: &UdpSocket, take: bool) {
        // A kernel without them refuses; then the present stands in for them.
        let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &take);
    }

    /// Reads the next message into `buffer`. Its time, since 1970, is the kernel's or, if the kernel gave none, the
    /// present.
    pub(crate) fn read(
        &self,
        socket: &UdpSocket,
        _: &UdpSocketState,
        buffer: &mut IoSliceMut<'_>,
    ) -> io::Result<(Duration, RecvMeta)> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let iov = &mut [IoSliceMut::new(buffer)];
        let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), iov, Some(&mut room), MsgFlags::MSG_DONTWAIT)?;
        let mut time = None;
        let mut meta = RecvMeta { len: message.bytes, stride: message.bytes, ..RecvMeta::default() };
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::ScmTimestampns(at) => time = Some(Duration::from(at)),
                ControlMessageOwned::UdpGroSegments(size) => meta.stride = size as usize,
                ControlMessageOwned::Ipv4Tos(tos) => meta.ecn = EcnCodepoint::from_bits(tos),
                ControlMessageOwned::Ipv6TClass(class) => meta.ecn = EcnCodepoint::from_bits(class as u8),
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    meta.dst_ip = Some(IpAddr::V4(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes())));
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => {
                    meta.dst_ip = Some(IpAddr::V6(info.ipi6_addr.s6_addr.into()));
                }
                _ => {}
            }
        }
        if message.flags.contains(MsgFlags::MSG_TRUNC) {
            meta.len = 0; // larger than any packet of these endpoints: dropped
        }
        let from = message.address.ok_or(io::ErrorKind::InvalidData)?;
        meta.addr = match (from.as_sockaddr_in(), from.as_sockaddr_in6()) {
            (Some(v4), _) => SocketAddr::V4(SocketAddrV4::from(*v4)),
            (_, Some(v6)) => SocketAddr::V6(SocketAddrV6::from(*v6)),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        let time = time.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        Ok((time, meta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quinn::udp::{Transmit, UdpSockRef};

    #[test]
    fn a_burst_arrives_as_one_message_with_one_time() {
        for own in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(near) = UdpSocket::bind(own) else { continue }; // no IPv6
            let far = UdpSocket::bind(own).unwrap();
            let from = near.local_addr().unwrap();
            let state = |socket| UdpSocketState::new(UdpSockRef::from(socket)).unwrap();
            let (sender, receiver, reader) = (state(&near), state(&far), MessageReader::new());
            if sender.max_gso_segments() < 3 || receiver.gro_segments() < 3 {
                continue; // a kernel that neither divides nor joins
            }
            reader.take_times(&far, true);
            far.set_nonblocking(false).unwrap();
            let contents = [[7; 100], [8; 100], [9; 100]].concat();
            let transmit = Transmit {
                destination: far.local_addr().unwrap(),
                ecn: Some(EcnCodepoint::Ect0),
                contents: &contents[..250],
                segment_size: Some(100),
                src_ip: None,
            };
            let mut last = Duration::ZERO;
            for _ in 0..3 {
                sender.send(UdpSockRef::from(&near), &transmit).unwrap();
                let mut buffer = [0; 1000];
                far.peek(&mut buffer).unwrap();
                let (at, meta) = reader.read(&far, &receiver, &mut IoSliceMut::new(&mut buffer)).unwrap();
                assert_eq!((meta.len, meta.stride, meta.addr), (250, 100, from));
                assert_eq!((meta.ecn, meta.dst_ip), (Some(EcnCodepoint::Ect0), Some(from.ip())));
                assert_eq!(buffer[..250], contents[..250]);
                assert!(at > last);
                last = at;
            }
        }
    }
}
