//! Whether a flow gets too little from its packet-scale protocol, so that the window protocol is to resume.
//!
//! Flows of a packet-scale protocol share a link without a standing queue and without losses. A loss-based protocol
//! keeps a long buffer full, and overflows a short one. A flow that gives way to queues gets little beside it, and a
//! window protocol in its place would get more. So the flow gets too little if its goodput is less than what the window
//! protocol carried before, while a queue stands or packets are lost. If its goodput is less and the queue is short,
//! then other flows of its kind have come, or the link has become slower. In any case the flow gets too little below
//! the rate from which on a packet-scale protocol is worth it, and where noise keeps it from climbing to what a slow
//! start that nothing had stopped would find (`noise.rs`).

use super::catch_up::CatchUp;
use super::noise::Noise;
use crate::roles::Ack;
use crate::units::{Bytes, Duration, Rate, Time};

/// What the window protocol had when the packet-scale protocol took over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// The rate that it carried.
    pub rate: Rate,
    /// Its window, in packets.
    pub window: f64,
    /// Whether nothing had stopped its slow start.
    pub unstopped: bool,
    /// Whether packets waited in a queue.
    pub behind_queue: bool,
}

/// Why a flow gets too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooLittle {
    /// It gets less than expected, and others fill queues.
    BesideQueues,
    /// It gets less than the rate from which on a packet-scale protocol is worth it.
    NotWorthIt,
    /// It gets little more than it began with, because noise hides that the path has more.
    HeldBackByNoise,
}

/// What is measured and compared while the packet-scale protocol is in charge, period by period.
#[derive(Debug)]
pub(super) struct Competition {
    /// The rate that the window protocol carried, or later the one that was reached where nothing filled the queue.
    expected: Rate,
    before: Before,
    /// Whether this is the first period after a slow start that nothing had stopped.
    unstopped: bool,
    /// When the present period began.
    since: Time,
    delivered: Bytes,
    /// Whether the application held data back in the period.
    app_limited: bool,
    /// Whether more was lost in the period than errors explain.
    lost: bool,
    noise: Noise,
    /// Round trips in the period, and how many of them had a standing queue.
    rounds: u32,
    queued: u32,
    /// When the present round trip ends, and the least round-trip time in it.
    round_ends: Time,
    least_in_round: Duration,
}

/// The least length of a period, in shortest round-trip times: within fewer, the flow has not drained the queue that
/// the window protocol left.
const ROUNDS: f64 = 16.0;
/// The least length of a period, because the first streams of the packet-scale protocol lower its rate and raise it
/// again.
const SHORTEST: Duration = Duration::from_millis(500);
/// A delay above the shortest round-trip time that counts as a standing queue.
const QUEUE: Duration = Duration::from_millis(1);
/// Beside traffic that fills queues, less than this share of the expected rate is too little.
const SHARE: f64 = 0.9;
/// After a period without queues, the expected rate falls by this share of the difference to the rate reached.
const GAIN: f64 = 0.125;
/// A flow that interrupted a slow start and has room climbs by more than this factor in the first period.
const CLIMB: f64 = 2.0;

impl Competition {
    /// A first period that begins now.
    pub(super) fn new(now: Time, before: Before) -> Competition {
        Competition {
            expected: before.rate,
            before,
            unstopped: before.unstopped,
            since: now,
            delivered: Bytes(0),
            app_limited: false,
            lost: false,
            noise: Noise::default(),
            rounds: 0,
            queued: 0,
            round_ends: now,
            least_in_round: Duration::MAX,
        }
    }

    /// More was lost than errors explain.
    pub(super) fn on_loss(&mut self) {
        self.lost = true;
    }

    /// A stream shows this available bandwidth, while the flow sends at `rate` in the mean.
    pub(super) fn on_estimate(&mut self, estimate: Rate, rate: Rate) {
        self.noise.on_estimate(estimate, rate);
    }

    /// An acknowledgment arrived. The newest round-trip time is `rtt`, and `least` the shortest so far. Returns whether
    /// it ends a period, which is then to be [judged](Competition::judge). No period ends while a loss is being
    /// repaired.
    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack, rtt: Duration, least: Duration) -> bool {
        self.delivered += ack.acked;
        self.app_limited |= ack.app_limited;
        ack.rtt.iter().for_each(|&rtt| self.noise.on_rtt(rtt));
        self.least_in_round = self.least_in_round.min(rtt);
        if now < self.round_ends {
            return false;
        }
        self.rounds += 1;
        self.queued += u32::from(self.least_in_round > least + QUEUE);
        (self.round_ends, self.least_in_round) = (now + rtt, Duration::MAX);
        now.since(self.since) >= SHORTEST.max(least.scale(ROUNDS)) && !ack.recovery
    }

    /// Whether and why the flow got too little in the period that ends now, if a packet-scale protocol is worth it from
    /// the rate `worth` on. The next period begins.
    pub(super) fn judge(&mut self, now: Time, worth: Rate) -> Option<TooLittle> {
        let period = now.since(self.since);
        let reached = self.delivered.over(period);
        let others_fill_queues = self.lost || 2 * self.queued > self.rounds;
        let too_little = if self.app_limited {
            None
        } else if others_fill_queues && reached < self.expected * SHARE {
            Some(TooLittle::BesideQueues)
        } else if self.unstopped
            && !others_fill_queues
            && reached < self.before.rate * CLIMB
            && self.noise.holds_back(period)
        {
            Some(TooLittle::HeldBackByNoise)
        } else {
            (reached < worth).then_some(TooLittle::NotWorthIt)
        };
        if reached > self.expected {
            self.expected = reached;
        } else if !others_fill_queues && !self.app_limited {
            self.expected = self.expected * (1.0 - GAIN) + reached * GAIN;
        }
        let (expected, unstopped) = (self.expected, self.unstopped && too_little.is_some());
        *self = Competition { expected, unstopped, ..Competition::new(now, self.before) };
        too_little
    }

    /// How far the slow start of the window protocol would go now had it stayed in charge, in packets of `packet`
    /// bytes: without bound if nothing had stopped it, or else to its window or to what the path carried, if that is
    /// more.
    pub(super) fn ssthresh(&self, rtt: Duration, packet: Bytes) -> f64 {
        let carried = self.expected.as_bps() * rtt.as_secs() / packet.as_bits();
        if self.unstopped { f64::INFINITY } else { carried.max(self.before.window) }
    }

    /// After how many losses this slow start goes on, and how far.
    pub(super) fn catch_up(&self) -> CatchUp {
        if self.unstopped { CatchUp::of_first_slow_start(self.before.behind_queue) } else { CatchUp::to(self.expected) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);
    const PACKET: Bytes = Bytes(1250);

    /// What a flow meets.
    #[derive(Clone, Copy)]
    struct Met {
        seconds: u64,
        mbps: u64,
        queue_ms: u64,
        loses_packets: bool,
        app_limited: bool,
    }

    const ALONE: Met = Met { seconds: 2, mbps: 80, queue_ms: 0, loses_packets: false, app_limited: false };

    /// A flow whose window protocol carried 100 Mbps in its first slow start: whether it gets too little, and how far
    /// slow start would go then.
    fn after(met: Met) -> (Option<TooLittle>, f64) {
        let rate = Rate::from_mbps(100.0);
        let before = Before { rate, window: 1000.0, unstopped: true, behind_queue: false };
        let mut competition = Competition::new(Time::ZERO, before);
        let rtt = RTT + Duration::from_millis(met.queue_ms);
        let ack = Ack { acked: Bytes(met.mbps * 1250), app_limited: met.app_limited, ..Ack::default() };
        let too_little = (1..=100 * met.seconds).find_map(|hundredth| {
            if met.loses_packets {
                competition.on_loss();
            }
            let now = Time::ZERO + Duration::from_millis(10 * hundredth);
            competition.on_ack(now, &ack, rtt, RTT).then(|| competition.judge(now, Rate::from_mbps(20.0)))?
        });
        (too_little, competition.ssthresh(rtt, PACKET).round())
    }

    #[test]
    fn a_flow_gets_too_little_if_others_fill_queues_and_it_gets_less_than_before() {
        let too_little = |met| after(met).0;
        let (queues, not_worth_it) = (Some(TooLittle::BesideQueues), Some(TooLittle::NotWorthIt));
        assert_eq!(too_little(Met { queue_ms: 50, ..ALONE }), queues, "a queue stands");
        assert_eq!(too_little(Met { loses_packets: true, ..ALONE }), queues, "a short buffer overflows");
        assert_eq!(too_little(Met { mbps: 19, queue_ms: 50, ..ALONE }), queues, "not worth it because of them");
        assert_eq!(
            too_little(Met { mbps: 95, queue_ms: 50, loses_packets: true, ..ALONE }),
            None,
            "it gets what it had"
        );
        assert_eq!(too_little(Met { seconds: 20, ..ALONE }), None, "others of its kind have come");
        assert_eq!(too_little(Met { queue_ms: 50, app_limited: true, ..ALONE }), None, "its application sends no more");
        assert_eq!(too_little(Met { mbps: 19, ..ALONE }), not_worth_it, "too little is left");
        assert_eq!(too_little(Met { seconds: 1, mbps: 19, queue_ms: 50, ..ALONE }), None, "it is too early to tell");
    }

    #[test]
    fn the_window_protocol_goes_on_where_it_would_be() {
        let ssthresh = |met| after(met).1;
        assert_eq!(ssthresh(Met { queue_ms: 50, ..ALONE }), f64::INFINITY, "in its first slow start");
        assert_eq!(ssthresh(Met { seconds: 4, mbps: 200, ..ALONE }), 2000.0, "the path carried 200 Mbps");
        assert_eq!(ssthresh(Met { seconds: 60, mbps: 50, ..ALONE }), 1000.0, "its window, where that is more");
    }

    /// Round-trip times that jump by 15 ms with every packet, and estimates of twice the rate, while the flow reaches
    /// `mbps` in its first period, behind a queue or not: whether it gets too little, and how far slow start would go.
    fn behind_jitter(mbps: u64, queue_ms: u64) -> (Option<TooLittle>, f64) {
        let before = Before { rate: Rate::from_mbps(100.0), window: 1000.0, unstopped: true, behind_queue: false };
        let mut competition = Competition::new(Time::ZERO, before);
        let too_little = (1..=200).find_map(|hundredth| {
            let rtt = RTT + Duration::from_millis(queue_ms + 15 * (hundredth % 2));
            let ack = Ack { acked: Bytes(mbps * 1250), rtt: Some(rtt), ..Ack::default() };
            competition.on_estimate(Rate::from_mbps(200.0), Rate::from_mbps(100.0));
            let now = Time::ZERO + Duration::from_millis(10 * hundredth);
            competition.on_ack(now, &ack, rtt, RTT).then(|| competition.judge(now, Rate::from_mbps(20.0)))?
        });
        (too_little, competition.ssthresh(RTT, PACKET).round())
    }

    #[test]
    fn a_flow_that_noise_holds_back_goes_on_with_its_slow_start() {
        assert_eq!(behind_jitter(110, 0), (Some(TooLittle::HeldBackByNoise), f64::INFINITY));
        assert_eq!(behind_jitter(210, 0).0, None, "it has climbed");
        assert_eq!(behind_jitter(110, 50).0, None, "others fill the queue, and it gets what it had");
    }
}
