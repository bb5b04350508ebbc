//! Datagrams and when they arrived: the kernel's own timestamps (`SO_TIMESTAMPNS`), which are not late when this process is.
//! `quinn-udp` does not pass them on, so that this asks for them itself, through `nix`.

use control::Time;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use quinn::udp::{EcnCodepoint, RecvMeta};
use realtime::from_std;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads datagrams with their timestamps.
pub(crate) struct Reader {
    /// What the system's clock showed at [`Time::ZERO`].
    epoch: Duration,
    /// Room for what comes with a datagram.
    control: Mutex<Vec<u8>>,
}

impl Reader {
    /// Has the kernel stamp what arrives at `socket`, which quinn-udp has set up before.
    pub(crate) fn new(socket: &UdpSocket) -> io::Result<Reader> {
        setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
        // Datagrams that the kernel joins have one timestamp between them. Where it cannot join any, it cannot be told not to.
        let _ = setsockopt(socket, sockopt::UdpGroSegment, &false);
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Reader { epoch, control: Mutex::new(vec![0; 256]) })
    }

    /// The next datagram, into `buffer`. Its time is the kernel's or, if it gave none, the present.
    pub(crate) fn read(&self, socket: &UdpSocket, buffer: &mut IoSliceMut<'_>) -> io::Result<(Time, RecvMeta)> {
        let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
        let iov = &mut [IoSliceMut::new(buffer)];
        let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), iov, Some(&mut control), MsgFlags::MSG_DONTWAIT)?;
        let mut time = None;
        let mut meta = RecvMeta { len: message.bytes, stride: message.bytes, ..RecvMeta::default() };
        for with in message.cmsgs()? {
            match with {
                ControlMessageOwned::ScmTimestampns(at) => time = Some(Duration::from(at)),
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
            (meta.len, meta.stride) = (0, 0); // no packet of these endpoints; nothing to anyone
        }
        let from = message.address.ok_or(io::ErrorKind::InvalidData)?;
        meta.addr = match (from.as_sockaddr_in(), from.as_sockaddr_in6()) {
            (Some(v4), _) => SocketAddr::V4(SocketAddrV4::from(*v4)),
            (_, Some(v6)) => SocketAddr::V6(SocketAddrV6::from(*v6)),
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        let time = time.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        Ok((Time::ZERO + from_std(time.saturating_sub(self.epoch)), meta))
    }
}
