//! Two TUN devices as the ends of the path: one on the host, one in a network namespace.

use crate::ends::{Ends, Received};
use crate::handle::Direction;
use crate::relay::wait;
use crate::{ip, udp};
use control::Stamp;
use nix::poll::{PollFd, PollFlags};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollOp};
use path::Ecn;
use realtime::Clock;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, IoSlice};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use tun::{AbstractDevice, Configuration, Device};

/// The most packets received from a device before the other device's turn.
const BATCH: usize = 32;
/// The network of the tunnels' addresses, 198.18.0.0/15, which is reserved for measurements (RFC 2544, RFC 6890).
const NETWORK: u32 = 0xc612_0000;
/// The most tunnels: each has four of the network's addresses.
const MOST_TUNNELS: u32 = 1 << 15;

/// See the [module](self).
pub struct Tunnel {
    /// The devices at which packets arrive, by direction.
    devices: [Device; 2],
    /// For waiting for both devices.
    epoll: Epoll,
    buffer: Vec<u8>,
    /// The host's ports that have routes of their own, by route.
    ports: Vec<u16>,
}

/// The host's end of a tunnel, before the other end is made.
pub struct HostEnd {
    device: Device,
    number: u32,
    mtu: u16,
}

impl HostEnd {
    /// A new device on the host, for packets of up to `mtu` bytes.
    ///
    /// # Errors
    /// If the system refuses the device: only root may create it.
    pub fn new(mtu: u16) -> io::Result<HostEnd> {
        // The kernel numbers the devices, and the addresses follow from the number: no other tunnel has the same.
        let mut device = create(Configuration::default().tun_name("thalweg%d"))?;
        let name = device.tun_name().map_err(other)?;
        let number = name.strip_prefix("thalweg").and_then(|number| number.parse().ok());
        let number = number.filter(|&number| number < MOST_TUNNELS).ok_or(ErrorKind::AddrNotAvailable)?;
        configure(&mut device, address(number, 1), mtu)?;
        Ok(HostEnd { device, number, mtu })
    }

    /// The host's address.
    pub fn address(&self) -> Ipv4Addr {
        address(self.number, 1)
    }

    /// The address of the other end.
    pub fn other_address(&self) -> Ipv4Addr {
        address(self.number, 2)
    }

    /// Makes the other end, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// If the system refuses the device.
    pub fn join(self) -> io::Result<Tunnel> {
        let mut inside = create(Configuration::default().tun_name("path0"))?;
        configure(&mut inside, address(self.number, 2), self.mtu)?;
        let devices = [inside, self.device];
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        for device in &devices {
            device.set_nonblock()?;
            // The device gives its descriptor only as a number, which no other call takes without `unsafe`.
            #[allow(deprecated)]
            nix::sys::epoll::epoll_ctl(
                epoll.0.as_raw_fd(),
                EpollOp::EpollCtlAdd,
                device.as_raw_fd(),
                &mut EpollEvent::new(EpollFlags::EPOLLIN, 0),
            )?;
        }
        Ok(Tunnel { devices, epoll, buffer: vec![0; 1 << 16], ports: Vec::new() })
    }
}

impl Tunnel {
    /// Packets to and from the host's port number `ports[i]` take route `i`; all other packets take the first route.
    pub fn route_by(&mut self, ports: Vec<u16>) {
        self.ports = ports;
    }
}

fn create(configuration: &Configuration) -> io::Result<Device> {
    tun::create(configuration).map_err(other)
}

fn configure(device: &mut Device, address: Ipv4Addr, mtu: u16) -> io::Result<()> {
    let mut configuration = Configuration::default();
    configuration.address(address).netmask(Ipv4Addr::new(255, 255, 255, 252)).mtu(mtu).up();
    device.configure(&configuration).map_err(other)
}

fn other(error: tun::Error) -> io::Error {
    error.into()
}

/// Address `host`, 1 or 2, of tunnel `number`.
fn address(number: u32, host: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(NETWORK + 4 * number + host)
}

impl Ends for Tunnel {
    fn receive(&mut self, clock: &Clock, take: &mut dyn FnMut(Received)) -> io::Result<()> {
        for direction in Direction::ALL {
            for _ in 0..BATCH {
                let size = match self.devices[direction as usize].recv(&mut self.buffer) {
                    Ok(size) => size,
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => break,
                    Err(e) => return Err(e),
                };
                let payload = &self.buffer[..size];
                // Only IPv4 packets cross the path: the kernel's neighbour discovery for IPv6 would only load it.
                if let Some(flow) = flow(payload) {
                    let port = host_port(payload, direction);
                    let route = self.ports.iter().position(|&known| Some(known) == port).unwrap_or(0) as u16;
                    let (ecn, stamp) = (ip::ecn(payload), udp::stamp(payload).unwrap_or_default());
                    take(Received { at: clock.now(), route, direction, flow, ecn, stamp, sides: None, payload });
                }
            }
        }
        Ok(())
    }

    fn update(&self, payload: &mut [u8], stamp: &Stamp, ecn: Ecn) {
        update(payload, stamp, ecn);
    }

    fn send(&mut self, direction: Direction, _: u64, _: Ecn, payloads: &[IoSlice]) -> usize {
        let device = &self.devices[1 - direction as usize];
        payloads.iter().take_while(|payload| device.send(payload).is_ok()).count()
    }

    fn dated(&self) -> bool {
        false
    }

    fn wait(&mut self, at_most: Duration) -> io::Result<()> {
        wait(&mut [PollFd::new(self.epoll.0.as_fd(), PollFlags::POLLIN)], at_most).map(drop)
    }

    fn missed(&self) -> (u64, u64) {
        (0, 0)
    }
}

/// Writes what the path has changed into an IPv4 packet.
pub(crate) fn update(packet: &mut [u8], stamp: &Stamp, ecn: Ecn) {
    udp::answer(packet, stamp);
    ip::set_ecn(packet, ecn);
}

/// Source and destination port of an IPv4 packet, four bytes, if it has them.
fn ports(packet: &[u8]) -> Option<&[u8]> {
    let header = usize::from(packet[0] & 15) * 4;
    let fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
    if matches!(packet[9], 6 | 17) && !fragment { packet.get(header..header + 4) } else { None }
}

/// The port on the host of an IPv4 packet that goes to the host or comes from it.
pub(crate) fn host_port(packet: &[u8], direction: Direction) -> Option<u16> {
    let ports = ports(packet)?;
    let at = if direction == Direction::Forward { 2 } else { 0 };
    Some(u16::from_be_bytes([ports[at], ports[at + 1]]))
}

/// A number for the flow of an IPv4 packet, from its addresses, its protocol and its ports, if it has them; none for
/// other packets.
pub(crate) fn flow(packet: &[u8]) -> Option<u64> {
    let first = *packet.first()?;
    if first >> 4 != 4 || packet.len() < 20 {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    (&packet[12..20], packet[9], ports(packet)).hash(&mut hasher);
    Some(hasher.finish())
}
