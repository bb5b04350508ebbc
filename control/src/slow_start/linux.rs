//! HyStart as in Linux, `tcp_cubic.c` (S. Ha, I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks
//! 55(9), 2011).
//!
//! **Decided**: nothing is added for offloads, which delay acknowledgments in Linux by up to a millisecond.

use super::round::Round;
use super::{SAMPLES, threshold};
use crate::units::{Duration, Time};

/// The least window at which slow start ends, packets (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;

/// Acknowledgments that arrive no longer after one another than this belong to a train (`hystart_ack_delta_us`).
const SPACING: Duration = Duration::from_millis(2);

/// The state in one slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Linux {
    round: Round,
    /// When the last acknowledgment of the round's train arrived (`last_ack`).
    train: Time,
    /// The least round-trip time so far (`delay_min`).
    least: Option<Duration>,
    /// The host spaces packets.
    paced: bool,
}

impl Linux {
    /// Before the first slow start. The host is `paced` if it spaces packets.
    pub fn new(paced: bool) -> Linux {
        Linux { paced, ..Linux::default() }
    }

    /// Before another slow start.
    pub fn restart(&mut self) {
        *self = Linux::new(self.paced);
    }

    /// An acknowledgment arrives at a window of `w` packets. Returns whether it ends slow start.
    pub fn finds_end(&mut self, now: Time, rtt: Duration, w: f64) -> bool {
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if self.round.end(now, rtt).is_some() {
            self.train = now;
        }
        if w < LOW_WINDOW {
            return false;
        }
        if now.since(self.train) <= SPACING {
            self.train = now;
            // Two windows per round-trip time last half of it by themselves (`sk_pacing_status`).
            if now.since(self.round.began) > if self.paced { least } else { least.scale(0.5) } {
                return true;
            }
        }
        let shortest = self.round.sample(rtt);
        self.round.samples > SAMPLES && shortest > least + threshold(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: f64) -> Duration {
        Duration::from_secs(ms / 1e3)
    }

    /// Tells of a round in which `packets` acknowledgments arrive from `start` ms on, `gap` ms apart, each after `rtt`
    /// ms. Returns the number of the acknowledgment that ended slow start, if one did.
    fn round(linux: &mut Linux, start: f64, packets: u32, gap: f64, rtt: f64) -> Option<u32> {
        (0..packets).find(|&i| {
            let now = Time::ZERO + ms(start + f64::from(i) * gap);
            linux.finds_end(now, ms(rtt), 100.0)
        })
    }

    #[test]
    fn a_train_of_more_than_half_of_the_least_round_trip_time_ends_slow_start() {
        let mut linux = Linux::default();
        assert_eq!(round(&mut linux, 100.0, 50, 1.0, 100.0), None, "49 ms");
        assert_eq!(round(&mut linux, 200.0, 100, 1.0, 100.0), Some(51), "more than 50 ms");
        let mut linux = Linux::default();
        assert_eq!(round(&mut linux, 100.0, 100, 2.5, 100.0), None, "gaps of more than 2 ms make no train");
        let mut linux = Linux::new(true);
        assert_eq!(round(&mut linux, 100.0, 100, 1.0, 100.0), None, "a host that paces: the whole of it");
        assert_eq!(round(&mut linux, 200.0, 200, 1.0, 100.0), None, "rounds begin anew");
    }

    #[test]
    fn a_round_whose_least_round_trip_time_is_an_eighth_longer_ends_slow_start() {
        for (rtt, end) in [(112.0, None), (113.0, Some(8))] {
            let mut linux = Linux::default();
            assert_eq!(round(&mut linux, 100.0, 20, 2.5, 100.0), None);
            assert_eq!(round(&mut linux, 100.0 + rtt, 20, 2.5, rtt), end, "after eight others, of 100 and {rtt} ms");
        }
    }

    #[test]
    fn below_16_packets_nothing_ends_slow_start() {
        let mut linux = Linux::default();
        for i in 0..400u32 {
            let (now, rtt) = (Time::ZERO + ms(100.0 + f64::from(i)), ms(100.0 + f64::from(i)));
            assert!(!linux.finds_end(now, rtt, 15.9));
        }
    }
}
