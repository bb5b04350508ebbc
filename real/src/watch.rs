//! What a caller sees of a run while it lasts, and how the caller ends it.

use crate::measured::{kept_up, late_share};
use control::{Duration, Rate, Time};
use emulate::Totals;
use experiment::mean_queue;
use path::LinkDirection;

/// Sees a run while it lasts, and may end it. `()` sees nothing and ends nothing.
pub trait Watch: Sync {
    /// Whether the run goes on. The emulator asks at least fifty times per second.
    fn go_on(&self) -> bool {
        true
    }

    /// A second of the run has passed.
    fn progress(&self, _: &Progress) {}
}

impl Watch for () {}

/// The last second of a run. Of a pair, the first is forward.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Time since packets can cross the path.
    pub elapsed: Duration,
    /// Rate of what left the path.
    pub delivered: [Rate; 2],
    /// Mean number of packets that waited, of the link where it was highest.
    pub queue: f64,
    /// Packets that the links dropped.
    pub dropped: u64,
    /// The lateness that 99 % of packets did not exceed: from when a packet was due to when the kernel took it. None if
    /// no packet left.
    pub late_p99: Option<Duration>,
    /// The share of packets that left more than [`LATE_US`](crate::LATE_US) microseconds late.
    pub late_share: f64,
    /// Packets since the beginning that the kernel dropped before the emulator took them.
    pub missed: u64,
    /// Packets since the beginning that the kernel did not take when they left the path.
    pub unsent: u64,
    /// Datagrams since the beginning of clients that there was no room for.
    pub refused: u64,
    /// Whether the emulator kept up: at most 1 % of packets left late, and none was missed, unsent or refused.
    pub kept_up: bool,
}

/// Makes a [`Progress`] of what the emulator tells each second.
pub(crate) struct Observer {
    /// The directions of links that are observed.
    links: Vec<LinkDirection>,
    /// Packets missed, unsent or refused before the last second.
    failed: u64,
}

impl Observer {
    /// Observes `links`.
    pub(crate) fn new(links: Vec<LinkDirection>) -> Observer {
        Observer { links, failed: 0 }
    }

    /// The second that `told` is about.
    pub(crate) fn second(&mut self, told: &emulate::Progress) -> Progress {
        let emulate::Progress { now, interval, delivered, hops, lateness, failed } = told;
        let links = || self.links.iter().map(|link| (&hops.0[link.index()], &hops.1[link.index()]));
        let [missed, unsent, refused] = *failed;
        let before = std::mem::replace(&mut self.failed, missed + unsent + refused);
        let kept_up = kept_up(lateness, self.failed - before);
        Progress {
            elapsed: now.since(Time::ZERO),
            delivered: delivered.map(|all: Totals| all.bytes.over(*interval)),
            queue: links().map(|(before, after)| mean_queue(before, after)).fold(0.0, f64::max),
            dropped: links().map(|(before, after)| after.dropped - before.dropped).sum(),
            late_p99: lateness.quantile(0.99),
            late_share: late_share(lateness),
            missed,
            unsent,
            refused,
            kept_up,
        }
    }
}
