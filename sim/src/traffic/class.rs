//! The connections of one workload, and what is counted of them.

use crate::event_queue::Kind;
use crate::network::Network;
use control::registry::Factory;
use control::{Bytes, Duration, Time};
use experiment::traffic::{Arrivals, Connection, Random};
use experiment::{Workload, WorkloadOutcome};
use std::collections::VecDeque;

/// A workload's connections.
pub struct Class<'a> {
    pub workload: &'a Workload,
    pub factory: Factory,
    pub arrivals: Box<dyn Arrivals>,
    /// The next connection.
    pub upcoming: Connection,
    /// Free slots, and since when.
    pub free: VecDeque<(u32, Time)>,
    /// Round-trip propagation delay of the links.
    pub crossed: Duration,
    /// The measured interval.
    pub measure: (Time, Time),
    pub random: Random,
    /// Bytes of either side delivered so far, without duplicates.
    pub delivered: [Bytes; 2],
    /// The same at the last sample.
    pub sampled: [Bytes; 2],
    /// The same at the beginning of the measured interval.
    pub measured: [Bytes; 2],
    pub active: u32,
    pub outcome: WorkloadOutcome,
}

impl Class<'_> {
    /// Schedules the next arrival, unless it comes after the workload's end.
    pub fn announce(&self, now: Time, event: u32, network: &mut Network) {
        let start = self.workload.start + self.upcoming.start.since(Time::ZERO);
        if start < self.workload.stop {
            network.events.add(start.max(now), (Kind::Cross, event));
        }
    }

    /// Bytes on the wire of `size` bytes of an application.
    pub fn on_wire(&self, size: Bytes) -> Bytes {
        let Workload { packet, header, .. } = self.workload;
        size + Bytes(size.0.div_ceil((*packet - *header).0.max(1)) * header.0)
    }

    pub fn is_measured(&self, time: Time) -> bool {
        let (from, to) = self.measure;
        from <= time && time < to
    }
}
