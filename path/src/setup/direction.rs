//! One direction of a link, as plain data.

use crate::{Buffer, Change, GilbertElliott, Jitter, QueueSetup, Shaper, Trace};
use control::{Bytes, Duration, Rate, Time};
use serde_json::Value;
use std::sync::Arc;

/// What one direction of a link is like.
#[derive(Clone, Debug)]
pub struct DirectionSetup {
    /// The rate of transmission; with a trace, its mean. An infinite rate transmits packets at once.
    pub rate: Rate,
    /// A limit of the rate in the long run.
    pub shaper: Option<Shaper>,
    /// Propagation delay.
    pub delay: Duration,
    /// Changes of rate and delay, in the order of time.
    pub changes: Vec<Change>,
    /// Delivery opportunities that replace the rate.
    pub trace: Option<Arc<Trace>>,
    /// Aggregation: packets leave the far end in batches, at multiples of this time.
    pub aggregate: Option<Duration>,
    /// An extra delay that varies over time. No packet overtakes another.
    pub jitter: Option<Jitter>,
    /// How much the queue holds, without the packet in transmission.
    pub buffer: Buffer,
    /// The queue discipline: which packet is transmitted next, and which is dropped.
    pub queue: QueueSetup,
    /// A router at the queue.
    pub router: Option<RouterSetup>,
    /// Transmission errors.
    pub errors: Errors,
    /// Probability that a packet arrives with a flipped bit, per packet. Simulated hosts drop such packets.
    pub corrupt: f64,
    /// Packets that arrive after packets sent later.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice, per packet.
    pub duplicate: f64,
}

impl DirectionSetup {
    /// A direction with a drop-tail queue, without a router, errors or changes.
    pub fn plain(rate: Rate, delay: Duration, buffer: Buffer) -> DirectionSetup {
        DirectionSetup {
            rate,
            shaper: None,
            delay,
            changes: Vec::new(),
            trace: None,
            aggregate: None,
            jitter: None,
            buffer,
            queue: QueueSetup::default(),
            router: None,
            errors: Errors::Uniform(0.0),
            corrupt: 0.0,
            reorder: None,
            duplicate: 0.0,
        }
    }

    /// What it can carry in the long run: its rate, or its shaper's where that is less; before any change.
    pub fn capacity(&self) -> Rate {
        self.shaped(self.rate)
    }

    /// [`DirectionSetup::capacity`] at `time`.
    pub fn capacity_at(&self, time: Time) -> Rate {
        let past = self.changes.iter().rev().filter(|change| change.at <= time);
        self.shaped(past.filter_map(|change| change.rate).next().unwrap_or(self.rate))
    }

    fn shaped(&self, rate: Rate) -> Rate {
        self.shaper.map_or(rate, |shaper| shaper.limit(rate))
    }
}

/// Transmission errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Errors {
    /// Each packet is lost with this probability, independently of the others.
    Uniform(f64),
    /// Packets are lost in bursts.
    Bursts(GilbertElliott),
}

impl Errors {
    /// The share of packets lost in the long run.
    pub fn mean(&self) -> f64 {
        match self {
            Errors::Uniform(p) => *p,
            Errors::Bursts(bursts) => bursts.mean_loss(),
        }
    }
}

/// Packets that take a detour at the end of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// Probability that a packet takes it.
    pub probability: f64,
    /// How much longer such a packet travels.
    pub delay: Duration,
}

/// A router that takes part in congestion control.
#[derive(Clone, Debug, PartialEq)]
pub struct RouterSetup {
    /// The name of one of [`control::routers`].
    pub protocol: String,
    /// All of its parameters, from [`control::routers::RouterProtocol::parameters`].
    pub parameters: Value,
    /// The buffer size that the router assumes.
    pub buffer: Bytes,
}
