//! How `thalweg` follows the estimates. RAPID's rules let each flow take all that is free within tau, and give up a decrease within a stream or two.
//! Many flows then climb together and fall together; and few, whose estimates waver by each other's streams, follow the lowest of them.
//!
//! - Each flow climbs by no more than kappa times its rate, and a little that lets a slow flow catch up. Kappa tunes itself: an estimate well below
//!   the average, a collapse, means that the senders together climb faster than their feedback comes back.
//! - A decrease is adopted over a span of time, not over streams: fast flows see hundreds in that time, and average them. But over no more than
//!   some tens of streams, so that a fast flow gives way before a slow one does, which is what makes them equal.
//! - Estimates do not see a queue that stands ([`super::standing::Standing`]). Behind one, nobody climbs, and all give way by as much as drains it.

use super::standing::Standing;
use crate::units::{Duration, Rate, Time};

/// The parameters.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Time over which an increase is adopted.
    pub tau: Duration,
    /// Time over which a decrease is adopted, and a standing queue drained. No stream should last longer.
    pub fall: Duration,
    /// Number of full streams over which a decrease is adopted at least, and at most.
    pub eta: (f64, f64),
    /// The least and the most by which the average may aim above itself (kappa), as a multiple of itself.
    pub kappa: (f64, f64),
    /// What is added to it: the geometric mean of this and the average. By equal steps a thousand slow flows would climb as fast as ten fast
    /// ones do; by steps in proportion, none would catch up.
    pub floor: Rate,
    /// An estimate below this share of the average is a collapse.
    pub collapse: f64,
    /// Factor on kappa upon a collapse, once per round trip.
    pub back_off: f64,
    /// Growth of kappa per tau otherwise.
    pub regrow: f64,
    /// A standing queue of no more delay is none.
    pub tolerance: Duration,
}

/// The rules and their state.
#[derive(Clone, Debug)]
pub struct Gentle {
    rules: Rules,
    /// At the start the most.
    kappa: f64,
    /// How long ago it was last lowered.
    since: Duration,
    standing: Standing,
    /// The average when a queue began to stand, and how long ago that was: forgotten after [`MEMORY`].
    stood: Option<(Rate, Duration)>,
}

/// Standing queues lower the rate to half at most in so much time.
const MEMORY: Duration = Duration::from_millis(10_000);

/// What is known when a stream begins.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The newest estimate.
    pub estimate: Rate,
    /// How long the stream would last at the present average.
    pub length: Duration,
    /// Its packets as a share of those of a full one.
    pub share: f64,
    /// The newest round-trip time.
    pub rtt: Duration,
}

impl Gentle {
    /// Nothing is known of the path.
    pub fn new(rules: Rules) -> Gentle {
        Gentle { kappa: rules.kappa.1, rules, since: Duration::ZERO, standing: Standing::default(), stood: None }
    }

    /// What is known of queues is out of date.
    pub(super) fn forget_queues(&mut self) {
        (self.standing, self.stood) = (Standing::default(), None);
    }

    /// How long a stream should last at most.
    pub(super) fn longest(&self) -> Duration {
        self.rules.fall
    }

    /// A packet's round-trip time.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration) {
        self.standing.on_rtt(now, rtt);
    }

    /// The average rate of a new stream.
    pub fn apply(&mut self, average: Rate, known: &Known) -> Rate {
        let (now, length) = (average.as_bps(), known.length.as_secs());
        self.tune(now, known);
        let target = self.behind_a_queue(now, known);
        Rate::from_bps(if target > now {
            now + (target - now).min(self.most(now)) * (length / self.rules.tau.as_secs()).min(1.0)
        } else {
            // The error of a mean falls with the root of how much there is of it.
            let pace = (length / self.rules.fall.as_secs())
                .max(1.0 / self.rules.eta.1)
                .min(libm::sqrt(known.share) / self.rules.eta.0);
            now - (now - target) * pace
        })
    }

    /// More was lost than errors explain: that, too, is a collapse.
    pub fn on_loss(&mut self) {
        self.kappa = (self.kappa * self.rules.back_off).max(self.rules.kappa.0);
    }

    fn tune(&mut self, now: f64, known: &Known) {
        self.since = Duration(self.since.0.saturating_add(known.length.0));
        if known.estimate.as_bps() >= now * self.rules.collapse {
            let pace = (known.length.as_secs() / self.rules.tau.as_secs()).min(1.0);
            self.kappa = (self.kappa * (1.0 + self.rules.regrow * pace)).min(self.rules.kappa.1);
        } else if self.since.0 >= known.rtt.0.saturating_add(known.length.0) {
            self.on_loss();
            self.since = Duration::ZERO;
        }
    }

    /// The most by which the average may aim above itself.
    fn most(&self, now: f64) -> f64 {
        self.kappa * now + libm::sqrt(self.rules.floor.as_bps() * now)
    }

    /// What to aim at. To drain a queue within `fall`, all must give up that part of their rates; but no more than half: if that does not drain it,
    /// it is others' queue, one on the way back, or a longer route.
    fn behind_a_queue(&mut self, now: f64, known: &Known) -> f64 {
        let estimate = known.estimate.as_bps();
        self.stood = self.stood.map(|(rate, age)| (rate, Duration(age.0.saturating_add(known.length.0))));
        if self.stood.is_some_and(|(_, age)| age > MEMORY) {
            self.stood = None;
        }
        let queue = self.standing.queue();
        if queue <= self.rules.tolerance {
            return estimate;
        }
        let stood = self.stood.get_or_insert((Rate::from_bps(now), Duration::ZERO)).0.as_bps();
        let kept = now * (1.0 - queue.as_secs() / self.rules.fall.as_secs());
        estimate.min(kept.max(stood * 0.5).min(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gentle(kappa: f64) -> Gentle {
        Gentle::new(Rules {
            tau: Duration::from_millis(250),
            fall: Duration::from_millis(100),
            eta: (2.0, 20.0),
            kappa: (0.1, kappa),
            floor: Rate::from_mbps(1.0),
            collapse: 0.5,
            back_off: 0.5,
            regrow: 0.02,
            tolerance: Duration::from_millis(1),
        })
    }

    fn known(mbps: f64, length_ms: f64) -> Known {
        let length = Duration::from_secs(length_ms / 1e3);
        Known { estimate: Rate::from_mbps(mbps), length, share: 1.0, rtt: Duration::from_millis(100) }
    }

    fn after(gentle: &mut Gentle, mbps: f64, known: Known) -> f64 {
        (gentle.apply(Rate::from_mbps(mbps), &known).as_mbps() * 100.0).round() / 100.0
    }

    #[test]
    fn climbs_by_kappa_and_the_root_of_the_rate_at_most() {
        let mut gentle = gentle(0.1);
        assert_eq!(after(&mut gentle, 100.0, known(1000.0, 250.0)), 120.0, "a tenth, and sqrt(1 Mbps x 100 Mbps)");
        assert_eq!(after(&mut gentle, 100.0, known(1000.0, 25.0)), 102.0, "a tenth of tau");
        assert_eq!(after(&mut gentle, 100.0, known(105.0, 999.0)), 105.0, "no more than is free");
        assert_eq!(after(&mut gentle, 1.0, known(1000.0, 250.0)), 2.1, "a slow flow climbs faster for its size");
    }

    #[test]
    fn adopts_a_decrease_in_time_but_within_some_streams() {
        let mut gentle = gentle(8.0);
        assert_eq!(after(&mut gentle, 100.0, known(80.0, 10.0)), 98.0, "a tenth of 100 ms");
        assert_eq!(after(&mut gentle, 100.0, known(80.0, 1.0)), 99.0, "within 20 streams");
        assert_eq!(after(&mut gentle, 100.0, known(80.0, 500.0)), 90.0, "within 2 streams at least");
        let short = Known { share: 0.25, ..known(80.0, 500.0) };
        assert_eq!(after(&mut gentle, 100.0, short), 95.0, "a quarter of the packets say half as much");
    }

    #[test]
    fn kappa_falls_once_per_round_trip_and_recovers() {
        let mut gentle = gentle(8.0);
        // The first collapse comes when the first round trip is over.
        (0..25).for_each(|_| _ = after(&mut gentle, 100.0, known(10.0, 10.0)));
        assert_eq!(gentle.kappa, 2.0);
        (0..200).for_each(|_| _ = after(&mut gentle, 100.0, known(100.0, 250.0)));
        assert_eq!(gentle.kappa, 8.0);
        (0..100).for_each(|_| gentle.on_loss());
        assert_eq!(gentle.kappa, 0.1);
    }

    #[test]
    fn behind_a_standing_queue_gives_way_by_what_drains_it_and_half_at_most() {
        let mut gentle = gentle(8.0);
        let mut behind = |ms: u64, mbps: f64, estimate: f64| {
            (0..8).for_each(|_| gentle.on_rtt(Time::ZERO, Duration::from_millis(100 + ms)));
            after(&mut gentle, mbps, known(estimate, 250.0))
        };
        assert!(behind(0, 100.0, 1000.0) > 900.0);
        assert!(behind(1, 100.0, 1000.0) > 900.0, "tolerated");
        assert_eq!(behind(20, 100.0, 1000.0), 90.0, "on the way to 80");
        assert_eq!(behind(90, 60.0, 1000.0), 55.0, "on the way to 50");
        assert_eq!(behind(90, 50.0, 1000.0), 50.0, "half of what it had");
        assert_eq!(behind(90, 40.0, 1000.0), 40.0, "nor up to that");
        assert_eq!(behind(90, 50.0, 10.0), 30.0, "an estimate may say more");
        assert!(behind(0, 50.0, 1000.0) > 100.0);
        assert_eq!(behind(90, 50.0, 1000.0), 50.0, "another queue soon after takes no more");
        (0..50).for_each(|_| _ = behind(0, 50.0, 1000.0));
        assert_eq!(behind(90, 50.0, 1000.0), 37.5, "on the way to half of that");
    }
}
