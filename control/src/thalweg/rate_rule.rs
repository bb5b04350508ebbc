//! The rule by which `thalweg`'s average rate follows the estimates. RAPID's rule (PACKET-SCALE-2017, equations 5 and
//! 6) lets each flow adopt all that is free within tau, and a decrease within a stream or two. Many flows then climb
//! together and fall together. The estimates of a few flows fluctuate because of each other's streams, and each flow
//! follows its lowest ones.
//!
//! - A flow aims above its rate by at most kappa times that rate, plus a small step that lets slow flows catch up.
//!   Kappa tunes itself: it is lowered by a *collapse*, an estimate far below the average, which means that the senders
//!   together climb faster than their feedback arrives. But single estimates of a few fast flows are far too low once
//!   in a while, because their streams meet each other. So kappa always allows a climb that a path bears whatever the
//!   number of flows: by a small share of the rate in each round trip, after which feedback arrives, and by a smaller
//!   one in each stream, whose length delays the feedback of slow flows.
//! - A decrease is adopted over a span of time, not over a number of streams: fast flows see hundreds of estimates in
//!   that time, and average them. But it takes at most some tens of streams, so that fast flows reduce their rates
//!   before slow ones do. This makes their rates equal. And it takes several streams of slow flows: they do not see how
//!   little of their own rate the path lacks, and would otherwise give up more than their share.
//! - Estimates do not show a standing queue ([`super::standing_queue`]). While there is one, all flows reduce their
//!   rates by the share that drains it, and add a step that is larger for slow flows, which makes rates equal. A queue
//!   that half of the rate does not drain is another's, and is tolerated.
//!
//! What is not solved: single estimates are wrong by a fifth and more, low ones are adopted up to eight times as fast
//! as high ones, and so flows settle below the mean of their estimates. Two flows with hosts that are late by 15 us use
//! 85 % of a gigabit. The mean of the estimates over 6 ms, less 3 % of the rate and a fifth of their mean deviation,
//! makes that 92 %. But a flow that is alone, and fast, hardly sees the streams of slow newcomers in that mean: beside
//! four flows that began 5 s later it kept 85 % of a gigabit for 20 s. And collapses of the mean over 6 to 25 ms, or
//! over a round trip, in place of single estimates, come to slow flows before fast ones: eight flows then oscillate,
//! and few of them keep all.

use super::standing_queue::StandingQueue;
use crate::units::{Duration, Rate, Time};

/// The parameters of the rule.
#[derive(Clone, Debug)]
pub struct RateRuleParameters {
    /// Time over which an increase is adopted.
    pub tau: Duration,
    /// Time over which a decrease is adopted, and a standing queue drained.
    pub fall: Duration,
    /// The least and the largest number of full streams over which a decrease is adopted.
    pub eta: (f64, f64),
    /// The least and the largest value of kappa. An increase aims at most at r + kappa r + sqrt(floor r), where r is
    /// the average rate.
    pub kappa: (f64, f64),
    /// By which share of the rate a flow may climb in a round trip however small kappa is, if `climb_in_stream` allows
    /// it.
    pub climb_in_round_trip: f64,
    /// By which share of the rate a flow may climb in a full stream however small kappa is, if `climb_in_round_trip`
    /// allows it.
    pub climb_in_stream: f64,
    /// The floor in that sum, which adds a step of sqrt(floor r). If the steps of all flows were equal, a thousand slow
    /// flows would climb a hundred times as fast as ten fast ones; if all steps were proportional to r, no slow flow
    /// would catch up.
    pub floor: Rate,
    /// An estimate below this share of the average is a collapse.
    pub collapse: f64,
    /// Factor on kappa upon a collapse, once per round trip.
    pub back_off: f64,
    /// Growth of kappa per tau while there is no collapse, as a share of kappa.
    pub regrow: f64,
    /// The delay by a standing queue up to which the queue does not count.
    pub tolerance: Duration,
}

/// The rule and its state.
#[derive(Clone, Debug)]
pub struct RateRule {
    parameters: RateRuleParameters,
    /// The present value of kappa. It starts with the largest one.
    kappa: f64,
    /// The total duration of the streams that were sent since kappa was last lowered.
    since_lowered: Duration,
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

/// What the rule is given when a stream begins.
#[derive(Clone, Copy, Debug)]
pub struct StreamStart {
    /// The newest estimate.
    pub estimate: Rate,
    /// How long the stream would last at the present average rate.
    pub duration: Duration,
    /// The number of its bursts over the number of bursts in a full stream.
    pub fullness: f64,
    /// The number of packets in each of its bursts.
    pub burst: u16,
    /// The newest round-trip time.
    pub rtt: Duration,
}

impl RateRule {
    /// The rule of a flow that knows nothing of its path.
    pub fn new(parameters: RateRuleParameters) -> RateRule {
        RateRule {
            kappa: parameters.kappa.1,
            parameters,
            since_lowered: Duration::ZERO,
            standing_queue: StandingQueue::default(),
            giving_way: None,
        }
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
        let (average, duration) = (average.as_bps(), start.duration.as_secs());
        self.tune_kappa(average, start);
        let target = self.target(average, start);
        Rate::from_bps(if target > average {
            average
                + (target - average).min(self.largest_step(average, start))
                    * (duration / self.parameters.tau.as_secs()).min(1.0)
        } else {
            // The estimate of a shorter stream is less certain: the error of a mean falls with the square root of the
            // number of samples.
            let pace = (duration / self.parameters.fall.as_secs())
                .max(1.0 / self.parameters.eta.1)
                .min(libm::sqrt(start.fullness) / self.parameters.eta.0);
            average - (average - target) * pace
        })
    }

    /// The average rate of a new stream after the time `since` without an estimate, because losses interrupted all
    /// streams. Slow flows, whose streams take long, would otherwise never climb.
    pub fn without_estimate(&self, average: Rate, since: Duration, rtt: Duration) -> Rate {
        let RateRuleParameters { tau, climb_in_round_trip, .. } = self.parameters;
        let step = self.floor_step(average.as_bps()) / tau.as_secs();
        let most = climb_in_round_trip * average.as_bps() / rtt.as_secs();
        average + Rate::from_bps(step.min(most) * since.as_secs())
    }

    /// Lowers kappa, because an estimate collapsed, or more packets were lost than errors explain.
    pub fn on_collapse(&mut self) {
        self.kappa = (self.kappa * self.parameters.back_off).max(self.parameters.kappa.0);
    }

    fn tune_kappa(&mut self, average: f64, start: &StreamStart) {
        self.since_lowered += start.duration;
        if start.estimate.as_bps() >= average * self.parameters.collapse {
            let pace = (start.duration.as_secs() / self.parameters.tau.as_secs()).min(1.0);
            self.kappa = (self.kappa * (1.0 + self.parameters.regrow * pace)).min(self.parameters.kappa.1);
        } else if self.since_lowered >= start.rtt + start.duration {
            self.on_collapse();
            self.since_lowered = Duration::ZERO;
        }
    }

    /// The most by which a flow may aim above its average rate, bits per second.
    fn largest_step(&self, average: f64, start: &StreamStart) -> f64 {
        self.kappa.max(self.least_kappa(start)) * average + self.floor_step(average)
    }

    /// The step that lets slow flows catch up, bits per second.
    fn floor_step(&self, average: f64) -> f64 {
        libm::sqrt(self.parameters.floor.as_bps() * average)
    }

    /// The value of kappa below which collapses do not count. With kappa, a flow climbs by kappa T / tau in a time T.
    fn least_kappa(&self, start: &StreamStart) -> f64 {
        let RateRuleParameters { tau, climb_in_round_trip, climb_in_stream, .. } = self.parameters;
        let full_stream = start.duration.as_secs() / start.fullness;
        // A stream of bursts is as long as so many streams of packets.
        let in_stream = (climb_in_stream * f64::from(start.burst)).min(climb_in_round_trip);
        tau.as_secs() * (climb_in_round_trip / start.rtt.as_secs()).min(in_stream / full_stream)
    }

    /// The rate to aim at, bits per second: the estimate, or less behind a standing queue. To drain a queue of delay q
    /// within `fall`, each flow reduces its rate by the fraction q/`fall`. Once it has half of its rate, it waits for
    /// what comes of that. If the queue is as long as before, other traffic fills it, or it is on the way back, or the
    /// route has become longer; then it is tolerated from now on.
    fn target(&mut self, average: f64, start: &StreamStart) -> f64 {
        let estimate = start.estimate.as_bps();
        let queue = self.standing_queue.measure();
        if queue <= self.parameters.tolerance.max(self.standing_queue.tolerated()) {
            self.giving_way = None;
            return estimate;
        }
        let RateRuleParameters { fall, tau, .. } = self.parameters;
        // All flows give up the same share, and a step that is larger for slow flows makes their rates equal.
        let step = self.floor_step(average) * (fall.as_secs() / tau.as_secs());
        let kept = average * (1.0 - queue.as_secs() / fall.as_secs()) + step;
        let begin = GivingWay { rate: average, queue, at_half: Duration::ZERO };
        let giving_way = self.giving_way.get_or_insert(begin);
        if average <= giving_way.rate * NEAR_HALF {
            giving_way.at_half += start.duration;
            if giving_way.at_half > start.rtt.max(start.duration).scale(ROUND_TRIPS) {
                if queue.0 > giving_way.queue.0 / 4 * 3 {
                    self.standing_queue.tolerate(queue);
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

    fn rule(kappa: f64) -> RateRule {
        RateRule::new(RateRuleParameters {
            tau: Duration::from_millis(250),
            fall: Duration::from_millis(100),
            eta: (2.0, 20.0),
            kappa: (0.1, kappa),
            climb_in_round_trip: 0.1,
            climb_in_stream: 0.002,
            floor: Rate::from_mbps(1.0),
            collapse: 0.5,
            back_off: 0.5,
            regrow: 0.02,
            tolerance: Duration::from_millis(1),
        })
    }

    fn start(mbps: f64, duration_ms: f64) -> StreamStart {
        let duration = Duration::from_secs(duration_ms / 1e3);
        StreamStart {
            estimate: Rate::from_mbps(mbps),
            duration,
            fullness: 1.0,
            burst: 1,
            rtt: Duration::from_millis(100),
        }
    }

    fn after(rule: &mut RateRule, mbps: f64, start: StreamStart) -> f64 {
        (rule.apply(Rate::from_mbps(mbps), &start).as_mbps() * 100.0).round() / 100.0
    }

    #[test]
    fn a_flow_climbs_by_kappa_and_the_root_of_its_rate_at_most() {
        let mut rule = rule(0.1);
        assert_eq!(after(&mut rule, 100.0, start(1000.0, 250.0)), 120.0, "a tenth, and sqrt(1 Mbps x 100 Mbps)");
        assert_eq!(after(&mut rule, 100.0, start(1000.0, 25.0)), 102.0, "a tenth of tau");
        assert_eq!(after(&mut rule, 100.0, start(105.0, 999.0)), 105.0, "no more than is free");
        assert_eq!(after(&mut rule, 1.0, start(1000.0, 250.0)), 2.1, "a slow flow climbs faster for its size");
    }

    #[test]
    fn a_decrease_is_adopted_over_time_but_within_some_streams() {
        let mut rule = rule(8.0);
        assert_eq!(after(&mut rule, 100.0, start(80.0, 10.0)), 98.0, "a tenth of 100 ms");
        assert_eq!(after(&mut rule, 100.0, start(80.0, 1.0)), 99.0, "within 20 streams");
        assert_eq!(after(&mut rule, 100.0, start(80.0, 500.0)), 90.0, "within 2 streams at least");
        let short = StreamStart { fullness: 0.25, ..start(80.0, 500.0) };
        assert_eq!(after(&mut rule, 100.0, short), 95.0, "a quarter of the packets say half as much");
    }

    #[test]
    fn kappa_falls_once_per_round_trip_and_recovers() {
        let mut rule = rule(8.0);
        // The first collapse comes when the first round trip is over.
        (0..25).for_each(|_| _ = after(&mut rule, 100.0, start(10.0, 10.0)));
        assert_eq!(rule.kappa, 2.0);
        (0..200).for_each(|_| _ = after(&mut rule, 100.0, start(100.0, 250.0)));
        assert_eq!(rule.kappa, 8.0);
        (0..100).for_each(|_| rule.on_collapse());
        assert_eq!(rule.kappa, 0.1);
    }

    #[test]
    fn collapses_do_not_keep_a_fast_flow_from_climbing_slowly() {
        let climb = |duration_ms, rtt_ms: u64| {
            let mut rule = rule(8.0);
            (0..100).for_each(|_| rule.on_collapse());
            let start = StreamStart { rtt: Duration::from_millis(rtt_ms), ..start(1000.0, duration_ms) };
            // Without the step of sqrt(1 Mbps x 100 Mbps) / tau in a stream.
            after(&mut rule, 100.0, start) - 100.0 - 10.0 * duration_ms / 250.0
        };
        let is = |found: f64, expected: f64| assert!((found - expected).abs() < 0.02, "{found}");
        is(climb(1.0, 20), 0.2); // 0.002 of the rate in a stream
        is(climb(2.0, 20), 0.2);
        is(climb(1.0, 200), 100.0 * 0.1 / 200.0); // a tenth in the 200 streams of a round trip
        is(climb(25.0, 20), 100.0 * 0.1 * 25.0 / 250.0); // kappa is a tenth
    }

    /// The rate after a stream behind a queue of this delay, by a rule whose flows make no steps up behind queues.
    fn behind(rule: &mut RateRule, ms: u64, mbps: f64, estimate: f64) -> f64 {
        rule.parameters.floor = Rate::from_bps(0.0);
        (0..8).for_each(|_| rule.on_rtt(Time::ZERO, Duration::from_millis(100 + ms)));
        after(rule, mbps, start(estimate, 250.0))
    }

    #[test]
    fn behind_a_standing_queue_a_flow_gives_way_by_what_drains_it_and_half_at_most() {
        let mut rule = rule(8.0);
        assert!(behind(&mut rule, 0, 100.0, 1000.0) >= 900.0);
        assert!(behind(&mut rule, 1, 100.0, 1000.0) >= 900.0, "tolerated");
        assert_eq!(behind(&mut rule, 20, 100.0, 1000.0), 90.0, "on the way to 80");
        for _ in 0..4 {
            assert_eq!(behind(&mut rule, 90, 58.0, 1000.0), 54.0, "on the way to 50, half of what it had");
        }
        assert!(behind(&mut rule, 90, 50.0, 1000.0) > 55.0, "half has not drained it, so it is another's");
        assert_eq!(behind(&mut rule, 90, 50.0, 10.0), 30.0, "an estimate may say less");
        assert_eq!(behind(&mut rule, 95, 50.0, 1000.0), 37.5, "a longer queue is on the way to half again");
    }

    #[test]
    fn a_flow_that_drains_a_queue_goes_on_giving_way() {
        let mut rule = rule(8.0);
        assert!(behind(&mut rule, 0, 100.0, 1000.0) >= 900.0);
        assert_eq!(behind(&mut rule, 20, 100.0, 1000.0), 90.0);
        (0..4).for_each(|_| assert_eq!(behind(&mut rule, 20, 58.0, 1000.0), 54.0, "on the way to half"));
        assert_eq!(behind(&mut rule, 12, 50.0, 1000.0), 47.0, "on the way to 44");
    }

    #[test]
    fn behind_a_standing_queue_rates_become_equal() {
        let mut rule = rule(0.1);
        let standing = |rule: &mut RateRule, mbps| {
            (0..8).for_each(|_| rule.on_rtt(Time::ZERO, Duration::from_millis(120)));
            after(rule, mbps, start(1000.0, 100.0))
        };
        (0..8).for_each(|_| rule.on_rtt(Time::ZERO, Duration::from_millis(100)));
        after(&mut rule, 1.0, start(1.0, 100.0));
        // Both give up a fifth and add 0.4 sqrt(1 Mbps r). A fast flow goes half of the way down, a slow one 0.4 of its
        // way up.
        assert_eq!((standing(&mut rule, 100.0), standing(&mut rule, 1.0)), (92.0, 1.08));
    }
}
