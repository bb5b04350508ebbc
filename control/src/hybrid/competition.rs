//! Whether the packet-scale protocol loses against traffic that fills queues, and a window protocol in its place would
//! not.
//!
//! Flows of a packet-scale protocol share a link without a standing queue, and without losses. A loss-based protocol
//! leaves a queue standing behind a large buffer, and overflows a small one; there, a flow that gives way to queues
//! gets little. So a flow loses if it gets less than its window protocol carried before, while there are such queues or
//! losses. It does not if it gets less and the queue is short: then others of its kind have come, or the link has become
//! slower. It gets too little in any case where a packet-scale protocol is no longer worth it.

use crate::roles::Ack;
use crate::units::{Bytes, Duration, Rate, Time};

/// What is compared, for as long as the packet-scale protocol is in charge.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    /// The rate that the window protocol carried, or later the one that was reached where nothing filled the queue.
    expected: Rate,
    /// The window that the window protocol had, in packets.
    window: f64,
    /// Whether nothing had stopped the slow start of the window protocol, and this is the first period.
    unstopped: bool,
    /// When the present period began.
    since: Time,
    delivered: Bytes,
    /// Whether the application held data back in the period.
    app_limited: bool,
    /// Whether more was lost in the period than errors explain.
    lost: bool,
    /// Round trips in the period, and how many of them had a standing queue.
    rounds: u32,
    queued: u32,
    /// When the present round trip ends, and the least round-trip time in it.
    round_ends: Time,
    least_in_round: Duration,
}

/// How many of the shortest round-trip times a period takes at least; it does not end while a loss is being repaired. In
/// fewer, the flow has not drained the queue that the window protocol left.
const ROUNDS: f64 = 16.0;
/// The least length of a period: the first streams of the packet-scale protocol lower its rate and raise it again.
const SHORTEST: Duration = Duration::from_millis(500);
/// A delay above the shortest round-trip time that counts as a standing queue.
const QUEUE: Duration = Duration::from_millis(1);
/// The flow loses if it gets less than this share of what it is expected to get.
const SHARE: f64 = 0.9;
/// What is expected falls by this share of the difference to what is reached in a period without queues.
const GAIN: f64 = 0.125;

impl Competition {
    /// From `now` on; the window protocol carried `rate`, with a window of so many packets, and was still in
    /// its first slow start if it is `unstopped`.
    pub(super) fn new(now: Time, rate: Rate, window: f64, unstopped: bool) -> Competition {
        Competition {
            expected: rate,
            window,
            unstopped,
            since: now,
            delivered: Bytes(0),
            app_limited: false,
            lost: false,
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

    /// An acknowledgment arrived. The newest round-trip time is `rtt`, and `least` the shortest so far. Returns
    /// whether the flow gets too little: less than it is expected to because others fill queues, or less than `worth`.
    pub(super) fn on_ack(&mut self, now: Time, ack: &Ack, rtt: Duration, least: Duration, worth: Rate) -> bool {
        self.delivered += ack.acked;
        self.app_limited |= ack.app_limited;
        self.least_in_round = self.least_in_round.min(rtt);
        if now < self.round_ends {
            return false;
        }
        self.rounds += 1;
        self.queued += u32::from(self.least_in_round > least + QUEUE);
        (self.round_ends, self.least_in_round) = (now + rtt, Duration::MAX);
        if now.since(self.since) < SHORTEST.max(least.scale(ROUNDS)) || ack.recovery {
            return false;
        }
        let reached = self.delivered.over(now.since(self.since));
        let fills_queues = self.fills_queues();
        let loses = !self.app_limited && (reached < worth || fills_queues && reached < self.expected * SHARE);
        if reached > self.expected {
            self.expected = reached;
        } else if !fills_queues && !self.app_limited {
            self.expected = self.expected * (1.0 - GAIN) + reached * GAIN;
        }
        let unstopped = self.unstopped && loses;
        *self = Competition::new(now, self.expected, self.window, unstopped);
        loses
    }

    /// How far the slow start of the window protocol would go now had it stayed in charge, in packets of `packet` bytes:
    /// without bound if nothing had stopped it, or else to its window or to what the path carried, if that is more.
    pub(super) fn ssthresh(&self, rtt: Duration, packet: Bytes) -> f64 {
        let carried = self.expected.as_bps() * rtt.as_secs() / packet.as_bits();
        if self.unstopped { f64::INFINITY } else { carried.max(self.window) }
    }

    fn fills_queues(&self) -> bool {
        self.lost || 2 * self.queued > self.rounds
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
    fn after(met: Met) -> (bool, f64) {
        let mut competition = Competition::new(Time::ZERO, Rate::from_mbps(100.0), 1000.0, true);
        let rtt = RTT + Duration::from_millis(met.queue_ms);
        let ack = Ack { acked: Bytes(met.mbps * 1250), app_limited: met.app_limited, ..Ack::default() };
        let loses = (1..=100 * met.seconds).any(|hundredth| {
            if met.loses_packets {
                competition.on_loss();
            }
            let now = Time::ZERO + Duration::from_millis(10 * hundredth);
            competition.on_ack(now, &ack, rtt, RTT, Rate::from_mbps(20.0))
        });
        (loses, competition.ssthresh(rtt, PACKET).round())
    }

    #[test]
    fn a_flow_loses_where_others_fill_queues_and_it_gets_less_than_before() {
        let loses = |met| after(met).0;
        assert!(loses(Met { queue_ms: 50, ..ALONE }), "a queue stands");
        assert!(loses(Met { loses_packets: true, ..ALONE }), "a short buffer overflows");
        assert!(!loses(Met { mbps: 95, queue_ms: 50, loses_packets: true, ..ALONE }), "it gets what it had");
        assert!(!loses(Met { seconds: 20, ..ALONE }), "others of its kind have come");
        assert!(!loses(Met { queue_ms: 50, app_limited: true, ..ALONE }), "its application sends no more");
        assert!(loses(Met { mbps: 19, ..ALONE }), "it is not worth it");
        assert!(!loses(Met { seconds: 1, mbps: 19, queue_ms: 50, ..ALONE }), "it is too early to tell");
    }

    #[test]
    fn the_window_protocol_goes_on_where_it_would_be() {
        let ssthresh = |met| after(met).1;
        assert_eq!(ssthresh(Met { queue_ms: 50, ..ALONE }), f64::INFINITY, "in its first slow start");
        assert_eq!(ssthresh(Met { seconds: 4, mbps: 200, ..ALONE }), 2000.0, "the path carried 200 Mbps");
        assert_eq!(ssthresh(Met { seconds: 60, mbps: 50, ..ALONE }), 1000.0, "its window, where that is more");
    }
}
