//! The emulator without devices and clock, for the fuzz targets. No part of the interface.

use crate::crossing::Crossing;
use crate::handle::{Direction, Handle};
use crate::pool::Pool;
use crate::{EmulatedPath, ip, tunnel, udp};
use control::Time;

/// A path, and the packets on it.
pub struct Emulator {
    crossing: Crossing,
    pool: Pool,
}

impl Emulator {
    /// No packet is on `path` yet.
    pub fn new(path: EmulatedPath) -> Emulator {
        Emulator { crossing: Crossing::new(path), pool: Pool::default() }
    }

    /// `packet` arrives from a tunnel. Returns whether it crosses the path, as IPv4 packets do.
    pub fn arrive(&mut self, now: Time, direction: Direction, packet: &[u8]) -> bool {
        let Some(flow) = tunnel::flow(packet) else { return false };
        let route = tunnel::host_port(packet, direction).map_or(0, |port| port % 2);
        let stamp = udp::stamp(packet).unwrap_or_default();
        let Some(slot) = self.pool.put(packet) else { return false };
        let (size, ecn) = (packet.len() as u32, ip::ecn(packet));
        let handle = Handle { slot, size, flow, direction, hop: 0, flipped: None, ecn, stamp };
        self.crossing.arrive(now, route, handle, &mut self.pool);
        true
    }

    /// Hands the packets that reach the end of their route until `now` to `leave`, with the routers' answers
    /// and the queues' marks.
    pub fn pass(&mut self, now: Time, mut leave: impl FnMut(&[u8])) {
        while let Some((_, packet)) = self.crossing.pass(now, &mut self.pool) {
            tunnel::update(self.pool.get(packet.slot), &packet.stamp, packet.ecn);
            packet.flipped.inspect(|&bit| self.pool.flip(packet.slot, bit));
            leave(self.pool.get(packet.slot));
            packet.flipped.inspect(|&bit| self.pool.flip(packet.slot, bit));
            self.pool.release(packet.slot);
        }
    }

    /// Takes a sample of all links at `now`.
    pub fn observe(&mut self, now: Time) {
        self.crossing.observe(now, &mut self.pool);
    }

    /// The number of packets that the pool keeps.
    pub fn kept(&self) -> usize {
        self.pool.used()
    }
}
