//! Datagrams and when they arrived, by the kernel's timestamps (`SO_TIMESTAMPNS`), which are exact even when this
//! process runs late. `quinn-udp` does not pass them on, so that this reads the socket itself, through `nix`.

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
pub(crate) struct DatagramReader {
    /// The time since 1970 at [`Time::ZERO`], by the system's clock.
    epoch: Duration,
    /// Room for the control messages of a datagram.
    room: Mutex<Vec<u8>>,
}

impl DatagramReader {
    /// Has the kernel take the time of what arrives at `socket`, which quinn-udp has set up before.
    pub(crate) fn new(socket: &UdpSocket) -> io::Result<DatagramReader> {
        setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
        // Datagrams that the kernel joins (generic receive offload) share one timestamp. A kernel that joins none
        // refuses the option.
        let _ = setsockopt(socket, sockopt::UdpGroSegment, &false);
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(DatagramReader { epoch, room: Mutex::new(vec![0; 256]) })
    }

    /// Reads the next datagram into `buffer`. Its time is the kernel's or, if the kernel gave none, the present.
    pub(crate) fn read(&self, socket: &UdpSocket, buffer: &mut IoSliceMut<'_>) -> io::Result<(Time, RecvMeta)> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let iov = &mut [IoSliceMut::new(buffer)];
        let message = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), iov, Some(&mut room), MsgFlags::MSG_DONTWAIT)?;
        let mut time = None;
        let mut meta = RecvMeta { len: message.bytes, stride: message.bytes, ..RecvMeta::default() };
        for control in message.cmsgs()? {
            match control {
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
            (meta.len, meta.stride) = (0, 0); // larger than any packet of these endpoints: dropped
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
