//! The rule by which `thalweg`'s average rate follows the estimates. RAPID's rule (PACKET-SCALE-2017, equations 5 and
//! 6) lets each flow adopt all that is free within tau, and a decrease within a stream or two. Many flows then climb
//! together and fall together.
//!
//! - An increase is adopted over tau, as in RAPID, but a flow aims above its rate by no more than [`Climb`] allows.
//! - A decrease is adopted over a quarter of tau, but over some streams at least, because a slow flow's stream may take
//!   longer than that. How far it goes is the receiver's decision ([`super::overload`]).
//! - Estimates do not show a standing queue ([`super::standing_queue`]). While there is one, all flows reduce their
//!   rates by the share that drains it, and add a step that is larger for slow flows, which makes rates equal. A queue
//!   that half of the rate does not drain is another's, and is tolerated: from then on, only what exceeds it counts.
//!   Where the path hands packets on in batches, their wait for the next batch is no queue.
//! - Where the round-trip time wanders by itself, estimates are low by chance, and do not slow the climb.
//! - Where losses are the only signal of congestion ([`super::classifier`]), each flow gives up a share of its rate in
//!   proportion to the share that is lost beyond what errors explain. That is the same for all, and their climbs are
//!   larger for slow flows ([`super::climb`]), so that rates become equal.
//!
//! All times are shorter where feedback is fast: see the time scale in [`super::climb`].

use super::climb::{Climb, ClimbParameters, StreamStart};
use super::standing_queue::StandingQueue;
use super::wander::LEAST_WANDER;
use crate::units::{Duration, Rate, Time};

/// The parameters of the rule.
#[derive(Clone, Debug)]
pub struct RateRuleParameters {
    /// The least number of full streams over which a decrease is adopted.
    pub eta: f64,
    /// The delay by a standing queue up to which the queue does not count.
    pub tolerance: Duration,
    /// Where losses are the only signal of congestion: which share of its rate a flow gives up within tau, over the
    /// share of packets that is lost beyond what errors explain.
    pub loss_gain: f64,
}

/// The rule and its state.
#[derive(Clone, Debug)]
pub struct RateRule {
    parameters: RateRuleParameters,
    climb: Climb,
    standing_queue: StandingQueue,
    /// How the flow gives way to a standing queue, while there is one.
    giving_way: Option<GivingWay>,
}

/// A flow gives way to a standing queue until its rate is half of what it was when it began to.
#[derive(Clone, Copy, Debug)]
struct GivingWay {
    /// The average rate when it began, bits per second, and the queue then.
    rate: f64,
    queue: Duration,
    /// The total duration of the streams that were sent at half of that rate.
    at_half: Duration,
}

/// A flow has given way if it has this share of its rate. Half of it is reached step by step.
const NEAR_HALF: f64 = 0.6;

/// For so many round trips, or streams if these take longer, a flow waits to see whether half of its rate drained the
/// queue. Flows with longer round-trip times hear of the queue later, and reduce their rates later.
const ROUND_TRIPS: f64 = 4.0;

/// A decrease is adopted over this share of tau.
const DECREASE: f64 = 0.25;
/// The same for a flow of bursts: a burst delays packets by nearly as much as the queue grows in a stream, so that its
/// overload is known coarsely, and is averaged over a longer time.
const DECREASE_OF_BURSTS: f64 = 0.5;
/// A standing queue is drained over this share of tau.
const DRAIN: f64 = 0.5;

/// The losses of one stream change the rate by this share at most.
const MOST_BY_LOSSES: f64 = 0.5;

impl RateRule {
    /// The rule of a flow that knows nothing of its path.
    pub fn new(parameters: RateRuleParameters, climb: ClimbParameters) -> RateRule {
        RateRule { parameters, climb: Climb::new(climb), standing_queue: StandingQueue::default(), giving_way: None }
    }

    /// Forgets all measurements of queues, because they are out of date.
    pub fn forget_queues(&mut self) {
        (self.standing_queue, self.giving_way) = (StandingQueue::default(), None);
    }

    /// A packet was acknowledged after this round-trip time.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration) {
        self.standing_queue.on_rtt(now, rtt);
    }

    /// The average rate of a new stream, whose sender has the present `average`.
    pub fn apply(&mut self, average: Rate, start: &StreamStart) -> Rate {
        let average = average.as_bps();
        self.climb.begin_stream(average, start);
        let target = self.target(average, start);
        if self.standing_queue.wanders().0 >= LEAST_WANDER as u64 {
            self.climb.forget_collapses();
        }
        Rate::from_bps(if target > average {
            let step = self.climb.largest_step(average, start);
            let pace = self.climb.share_of_tau(start.duration);
            let lost = self.parameters.loss_gain * start.excess.unwrap_or(0.0) * pace;
            average + (target - average).min(step) * pace - average * lost.clamp(-MOST_BY_LOSSES, MOST_BY_LOSSES)
        } else {
            let over = if start.burst > 1 { DECREASE_OF_BURSTS } else { DECREASE } * self.climb.tau();
            // The estimate of a shorter stream is less certain: the error of a mean falls with the square root of the
            // number of samples. So slow flows also give up less than fast ones, which makes rates equal.
            let pace = (start.duration.as_secs() / over).min(libm::sqrt(start.fullness) / self.parameters.eta);
            average - (average - target) * pace
        })
    }

    /// The average rate of a new stream after the time `since` without an estimate, because losses interrupted all
    /// streams, which would last for `stream`. Slow flows, whose streams take long, would otherwise never climb.
    pub fn without_estimate(&mut self, average: Rate, since: Duration, rtt: Duration, stream: Duration) -> Rate {
        self.climb.wait(since, rtt, stream);
        average
            + Rate::from_bps(self.climb.floor_step(average.as_bps(), rtt, Duration::ZERO))
                * self.climb.share_of_tau(since)
    }

    /// Slows the climb, because more packets were lost than errors explain. That moves round-trip times, too.
    pub fn on_loss(&mut self) {
        self.climb.on_collapse();
        self.standing_queue.on_loss();
    }

    /// Begins a search, in which the flow may climb fast until so many estimates in a row are as low as the average
    /// rate; zero ends it. See [`Climb::search`].
    pub fn search(&mut self, patience: u32) {
        self.climb.search(patience);
    }

    /// The losses taken for a collapse were errors, or the flow begins anew.
    pub fn forget_collapses(&mut self) {
        self.climb.forget_collapses();
    }

    /// The rate to aim at, bits per second: the estimate, or less behind a standing queue. To drain a queue of delay q
    /// within half of tau, each flow reduces its rate by the fraction 2q/tau. Once it has half of its rate, it waits
    /// for what comes of that. If the queue is as long as before, other traffic fills it, or it is on the way back, or
    /// the route has become longer; then it is tolerated from now on, and q is what exceeds it.
    fn target(&mut self, average: f64, start: &StreamStart) -> f64 {
        let estimate = start.estimate.as_bps();
        let measured = self.standing_queue.measure();
        let queue = Duration(measured.0.saturating_sub(self.standing_queue.tolerated().0));
        // The first packet of each batch waits for the time between two batches.
        let no_queue = self.parameters.tolerance.max(self.standing_queue.wanders()).max(start.batches);
        if queue <= no_queue {
            self.giving_way = None;
            return estimate;
        }
        // All flows give up the same share, and a step that is larger for slow flows makes their rates equal.
        let step = self.climb.floor_step(average, start.rtt, start.duration) * DRAIN;
        let kept = average * (1.0 - queue.as_secs() / (DRAIN * self.climb.tau())) + step;
        let begin = GivingWay { rate: average, queue, at_half: Duration::ZERO };
        let giving_way = self.giving_way.get_or_insert(begin);
        if average <= giving_way.rate * NEAR_HALF {
            giving_way.at_half += start.duration;
            if giving_way.at_half > start.rtt.max(start.duration).scale(ROUND_TRIPS) {
                if queue.0 > giving_way.queue.0 / 4 * 3 {
                    self.standing_queue.tolerate(measured);
                    self.giving_way = None;
                    return estimate;
                }
                *giving_way = begin;
            }
        }
        estimate.min(kept.max((giving_way.rate * 0.5).min(average)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    /// A rule whose flows aim above their rates by a multiple of eight, and by the step of a floor.
    fn rule(floor: Rate) -> RateRule {
        rule_with((8.0, 8.0), floor)
    }

    fn rule_with(kappa: (f64, f64), floor: Rate) -> RateRule {
        let climb = ClimbParameters {
            tau: Duration::from_millis(200),
            kappa,
            floor,
            young_floor: floor,
            climb_in_round_trip: 1.0,
            collapse: 0.5,
            back_off: 0.5,
            regrow: 0.02,
            slow_feedback: Duration(1),
        };
        let tolerance = Duration::from_millis(1);
        RateRule::new(RateRuleParameters { eta: 2.0, tolerance, loss_gain: 10.0 }, climb)
    }

    fn without_floor() -> RateRule {
        rule(Rate::from_bps(0.0))
    }

    fn start(mbps: f64, duration_ms: f64) -> StreamStart {
        let duration = Duration::from_secs(duration_ms / 1e3);
        StreamStart {
            estimate: Rate::from_mbps(mbps),
            is_new: true,
            duration,
            fullness: 1.0,
            burst: 1,
            batches: Duration::ZERO,
            rtt: Duration::from_millis(100),
            packet: Bytes(1000),
            excess: None,
        }
    }

    fn after(rule: &mut RateRule, mbps: f64, start: StreamStart) -> f64 {
        (rule.apply(Rate::from_mbps(mbps), &start).as_mbps() * 100.0).round() / 100.0
    }

    #[test]
    fn an_increase_is_adopted_over_tau_and_within_its_bound() {
        let mut rule = without_floor();
        assert_eq!(after(&mut rule, 100.0, start(1000.0, 200.0)), 900.0, "eight times as much");
        assert_eq!(after(&mut rule, 100.0, start(1000.0, 20.0)), 180.0, "a tenth of tau");
        assert_eq!(after(&mut rule, 100.0, start(105.0, 999.0)), 105.0, "no more than is free");
    }

    #[test]
    fn a_decrease_is_adopted_over_time_but_within_some_streams() {
        let mut rule = without_floor();
        assert_eq!(after(&mut rule, 100.0, start(80.0, 5.0)), 98.0, "a tenth of 50 ms");
        assert_eq!(after(&mut rule, 100.0, start(80.0, 500.0)), 90.0, "within 2 streams at least");
        let short = StreamStart { fullness: 0.25, ..start(80.0, 500.0) };
        assert_eq!(after(&mut rule, 100.0, short), 95.0, "a quarter of the packets say half as much");
        let bursts = StreamStart { burst: 4, ..start(80.0, 10.0) };
        assert_eq!(after(&mut rule, 100.0, bursts), 98.0, "what bursts find takes 100 ms");
    }

    /// The rate after a stream behind a queue of this delay, of 250 ms.
    fn behind(rule: &mut RateRule, ms: u64, mbps: f64, estimate: f64) -> f64 {
        (0..8).for_each(|_| rule.on_rtt(Time::ZERO, Duration::from_millis(100 + ms)));
        after(rule, mbps, start(estimate, 250.0))
    }

    #[test]
    fn behind_a_standing_queue_a_flow_gives_way_by_what_drains_it_and_half_at_most() {
        let mut rule = without_floor();
        assert!(behind(&mut rule, 0, 100.0, 1000.0) >= 900.0);
        assert!(behind(&mut rule, 1, 100.0, 1000.0) >= 900.0, "tolerated");
        assert_eq!(behind(&mut rule, 20, 100.0, 1000.0), 90.0, "on the way to 80");
        for _ in 0..4 {
            assert_eq!(behind(&mut rule, 90, 58.0, 1000.0), 54.0, "on the way to 50, half of what it had");
        }
        assert!(behind(&mut rule, 90, 50.0, 1000.0) > 55.0, "half has not drained it, so it is another's");
        assert_eq!(behind(&mut rule, 90, 50.0, 10.0), 30.0, "an estimate may say less");
        assert_eq!(behind(&mut rule, 91, 50.0, 40.0), 45.0, "a millisecond more is tolerated");
        assert_eq!(behind(&mut rule, 110, 50.0, 1000.0), 45.0, "on the way to 40: only what is new is drained");
    }

    #[test]
    fn the_wait_for_a_batch_is_no_standing_queue() {
        let mut rule = without_floor();
        let mut after_batches = |ms: u64| {
            (0..8).for_each(|_| rule.on_rtt(Time::ZERO, Duration::from_millis(100 + ms)));
            let batches = Duration::from_millis(20);
            after(&mut rule, 100.0, StreamStart { batches, ..start(1000.0, 250.0) })
        };
        assert!(after_batches(0) >= 900.0);
        assert!(after_batches(20) >= 900.0);
        assert_eq!(after_batches(21), 89.5, "on the way to 79");
    }

    #[test]
    fn a_flow_that_drains_a_queue_goes_on_giving_way() {
        let mut rule = without_floor();
        assert!(behind(&mut rule, 0, 100.0, 1000.0) >= 900.0);
        assert_eq!(behind(&mut rule, 20, 100.0, 1000.0), 90.0);
        (0..4).for_each(|_| assert_eq!(behind(&mut rule, 20, 58.0, 1000.0), 54.0, "on the way to half"));
        assert_eq!(behind(&mut rule, 12, 50.0, 1000.0), 47.0, "on the way to 44");
    }

    #[test]
    fn low_estimates_slow_the_climb_unless_the_round_trip_time_wanders() {
        // The rate after 60 low estimates and a high one, with these least round-trip times in turn, ms.
        let climbs_to = |rtts: [u64; 2]| {
            let mut rule = rule_with((0.5, 8.0), Rate::from_bps(0.0));
            for i in 0..60 {
                let now = Time::ZERO + Duration::from_millis(100 * i);
                (0..8).for_each(|_| rule.on_rtt(now, Duration::from_millis(rtts[i as usize % 2])));
                after(&mut rule, 100.0, start(10.0, 100.0));
            }
            after(&mut rule, 100.0, start(1000.0, 200.0))
        };
        assert_eq!(climbs_to([100, 100]), 151.0, "kappa is 2 % above its least value");
        assert_eq!(climbs_to([100, 103]), 900.0, "kappa has its largest value");
    }

    #[test]
    fn where_losses_are_the_only_signal_the_rate_follows_their_excess() {
        let with_losses = |excess: f64| {
            let lossy = StreamStart { excess: Some(excess), ..start(1000.0, 20.0) };
            after(&mut without_floor(), 100.0, lossy)
        };
        // 100 Mbps are 1250 packets in a round trip. A climb is by kappa, and by the root of one over this number.
        let climb = with_losses(0.0);
        assert_eq!((100.0 * (climb - 100.0)).round(), 80_00.0 + 28.0, "a tenth of kappa's 800 % and of 2.8 %");
        assert_eq!(with_losses(0.05), climb - 5.0, "ten times 5 %, a tenth of it in a tenth of tau");
        assert_eq!(with_losses(-0.02), climb + 2.0, "fewer are lost than errors explain");
        assert_eq!(with_losses(0.9), climb - 50.0, "half of the rate at most");
    }

    #[test]
    fn behind_a_standing_queue_rates_become_equal() {
        let mut rule = rule(Rate::from_mbps(1.0));
        let standing = |rule: &mut RateRule, mbps| {
            (0..8).for_each(|_| rule.on_rtt(Time::ZERO, Duration::from_millis(120)));
            after(rule, mbps, start(1000.0, 100.0))
        };
        (0..8).for_each(|_| rule.on_rtt(Time::ZERO, Duration::from_millis(100)));
        after(&mut rule, 1.0, start(1.0, 100.0));
        // Both give up a fifth and add 0.5 sqrt(1 Mbps r). Both go half of the way, the fast flow down and the slow one
        // up.
        assert_eq!((standing(&mut rule, 100.0), standing(&mut rule, 1.0)), (92.5, 1.15));
    }
}
