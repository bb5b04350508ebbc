//! Whether noise keeps a packet-scale protocol from climbing.
//!
//! Its estimates follow from how much the delay grows within a stream. Where packets wait for random times that are
//! longer than a stream's packets are apart, growth by chance hides what the path has left, and the flow stays near
//! the rate at which it began, on however fast a path. A window protocol needs no such times.
//!
//! The round-trip time tells noise from queues. Queues that flows of this kind fill grow by the share by which their
//! rates exceed the link's: over a second, all changes of the round-trip time together, up and down, are 0.04 to 0.3
//! seconds on a clean link of 1 Gbps and 100 ms with two to five hybrids. Where jitter of milliseconds hides the queue,
//! they are 0.9 to 1.7 seconds.

use crate::units::{Duration, Rate};

/// Where all changes of the round-trip time add up to more than this share of the time, they are noise.
const SHARE: f64 = 0.5;

/// An estimate above this multiple of the rate says that the flow may climb.
const ABOVE: f64 = 1.25;

/// What shows noise, since a period began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noise {
    /// The last round-trip time.
    last: Option<Duration>,
    /// The sum of all changes of the round-trip time, up and down.
    moved: Duration,
    estimates: u32,
    /// How many of these say that the flow may climb.
    above: u32,
}

impl Noise {
    /// A packet had this round-trip time.
    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        if let Some(last) = self.last.replace(rtt) {
            self.moved += if rtt > last { rtt - last } else { last - rtt };
        }
    }

    /// A stream shows this available bandwidth, to a flow whose mean rate is `rate`.
    pub(super) fn on_estimate(&mut self, estimate: Rate, rate: Rate) {
        self.estimates += 1;
        self.above += u32::from(estimate > rate * ABOVE);
    }

    /// Whether noise hides queues on this path, and most estimates say nevertheless that the flow may climb, after a
    /// period of length `period`.
    pub(super) fn holds_back(&self, period: Duration) -> bool {
        self.moved > period.scale(SHARE) && 2 * self.above > self.estimates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// After a hundred packets in a second, whose round-trip times alternate by `jitter_ms`, or grow by a millisecond
    /// each, and fourteen estimates, of which `above` are twice the rate and the others half of it.
    fn held_back(jitter_ms: u64, grows: bool, above: usize) -> bool {
        let mut noise = Noise::default();
        for i in 0..100 {
            noise.on_rtt(MS(100 + jitter_ms * (i % 2) + if grows { i } else { 0 }));
        }
        for i in 0..14 {
            noise.on_estimate(Rate::from_mbps(if i < above { 20.0 } else { 5.0 }), Rate::from_mbps(10.0));
        }
        noise.holds_back(MS(1000))
    }

    #[test]
    fn delays_that_jump_by_most_of_the_time_hold_a_flow_back_that_might_climb() {
        assert!(held_back(10, false, 8), "990 ms of changes in a second");
        assert!(!held_back(10, false, 7), "half of the estimates say that it is to fall");
        assert!(!held_back(5, false, 8), "495 ms of changes in a second");
        assert!(!held_back(0, true, 14), "a queue that grows by a tenth of the time");
    }
}
