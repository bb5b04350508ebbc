//! Delivery rate samples (section 4.1): how fast the network delivered the packets between one that is acknowledged and
//! the acknowledgment that came before it was sent.
//!
//! The host need not keep anything per packet for it: what was known when each packet left is kept here, in the order
//! of sending, and the packet that an acknowledgment is about is found by when it was sent.

use crate::roles::Ack;
use crate::units::{Bytes, Duration, Rate, Time};
use alloc::collections::VecDeque;

/// What was known when a packet was sent (section 4.1.2.1.2).
#[derive(Clone, Copy, Debug)]
pub struct PacketState {
    time: Time,
    /// Of the packet.
    pub size: Bytes,
    /// In flight, this packet included.
    pub in_flight: Bytes,
    /// Delivered in all, and when the last of it was.
    pub delivered: u64,
    delivered_time: Time,
    /// When the first packet of its flight was sent.
    first_sent: Time,
    /// Lost in all.
    pub lost: u64,
    /// Whether the sender had run out of data.
    pub app_limited: bool,
    /// It has arrived since.
    arrived: bool,
}

/// A rate sample (section 4.1.2.1.3). All about the newest packet acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Zero if the interval was too short to say.
    pub rate: Rate,
    /// Delivered since it was sent, bytes.
    pub delivered: u64,
    /// Delivered in all when it was sent, bytes.
    pub prior_delivered: u64,
    /// In flight when it was sent.
    pub in_flight: Bytes,
    /// Lost since it was sent, bytes.
    pub lost: u64,
    /// Whether the application limited the rate.
    pub app_limited: bool,
}

/// The estimator's state (section 4.1.2.1.1).
#[derive(Debug)]
pub struct RateSampler {
    /// The packets in flight and those among them that have arrived, in the order of sending.
    sent: VecDeque<PacketState>,
    /// How many of them were sent before the newest that arrived, it included.
    passed: usize,
    /// Bytes of those that have not arrived.
    outstanding: Bytes,
    /// Delivered in all, bytes, and when the last of it was.
    pub delivered: u64,
    delivered_time: Time,
    /// When the newest packet that arrived was sent, or the first one after idleness.
    first_sent: Time,
    /// Lost in all, bytes.
    pub lost: u64,
    /// The sample is limited by the application until so much is delivered; zero if it is not.
    pub app_limited: u64,
    min_rtt: Duration,
}

impl RateSampler {
    /// Nothing has been sent.
    pub fn new() -> RateSampler {
        RateSampler {
            sent: VecDeque::new(),
            passed: 0,
            outstanding: Bytes(0),
            delivered: 0,
            delivered_time: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            app_limited: 0,
            min_rtt: Duration::MAX,
        }
    }

    /// OnPacketSent, with `in_flight` before it.
    pub fn on_send(&mut self, now: Time, size: Bytes, in_flight: Bytes) {
        self.forget(in_flight);
        if in_flight == Bytes(0) {
            self.first_sent = now;
            self.delivered_time = now;
        }
        self.outstanding += size;
        self.sent.push_back(PacketState {
            time: now,
            size,
            in_flight: in_flight + size,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent: self.first_sent,
            lost: self.lost,
            app_limited: self.app_limited > 0,
            arrived: false,
        });
    }

    /// UpdateRateSample: returns the packet that `ack` is about, if it was sent after all that have arrived before.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) -> Option<PacketState> {
        self.delivered += ack.acked.0;
        if ack.acked > Bytes(0) {
            self.delivered_time = now;
        }
        let rtt = ack.rtt.filter(|rtt| rtt.0 <= now.0)?;
        self.min_rtt = self.min_rtt.min(rtt);
        let time = Time(now.0 - rtt.0);
        let before = self.passed;
        while self.sent.get(self.passed).is_some_and(|sent| sent.time < time) {
            self.passed += 1;
        }
        // Of several sent at once, this is the first of which nothing was heard.
        if self.sent.get(self.passed).is_some_and(|sent| sent.time == time) {
            self.passed += 1;
        }
        if self.passed == before {
            return None;
        }
        let packet = &mut self.sent[self.passed - 1];
        packet.arrived = true;
        self.outstanding -= packet.size;
        self.first_sent = packet.time;
        Some(*packet)
    }

    /// The next packet of `lost` bytes that are lost: the oldest of which nothing was heard, if a later one has
    /// arrived.
    pub fn next_lost(&mut self, lost: &mut Bytes) -> Option<PacketState> {
        while *lost > Bytes(0) && self.passed > 0 {
            let packet = self.drop_first();
            if !packet.arrived {
                *lost = Bytes(lost.0.saturating_sub(packet.size.0));
                self.lost += packet.size.0;
                return Some(packet);
            }
        }
        None
    }

    /// No more than `in_flight` is out there: the oldest packets are not. (One acknowledgment may stand for many.)
    pub fn forget(&mut self, in_flight: Bytes) {
        while self.outstanding > in_flight || self.sent.front().is_some_and(|sent| sent.arrived) {
            self.drop_first();
        }
    }

    fn drop_first(&mut self) -> PacketState {
        let packet = self.sent.pop_front().expect("outstanding packets are in `sent`");
        self.passed = self.passed.saturating_sub(1);
        if !packet.arrived {
            self.outstanding -= packet.size;
        }
        packet
    }

    /// GenerateRateSample, for the `packet` that was acknowledged now.
    pub fn sample(&mut self, packet: &PacketState) -> RateSample {
        let interval = (packet.time.since(packet.first_sent)).max(self.delivered_time.since(packet.delivered_time));
        let delivered = self.delivered - packet.delivered;
        // What the network seems to have delivered faster than in the least round trip is a retransmission mistaken.
        let reliable = interval >= self.min_rtt && interval > Duration::ZERO;
        RateSample {
            rate: if reliable { Bytes(delivered).over(interval) } else { Rate::ZERO },
            delivered,
            prior_delivered: packet.delivered,
            in_flight: packet.in_flight,
            lost: self.lost - packet.lost,
            app_limited: packet.app_limited,
        }
    }

    /// MarkConnectionAppLimited: what is in flight now is less than could be.
    pub fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited = (self.delivered + in_flight.0).max(1);
    }

    /// The first step of GenerateRateSample: is the gap that the application left delivered?
    pub fn end_app_limited(&mut self) {
        if self.delivered > self.app_limited {
            self.app_limited = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1000);
    const RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn ack(rtt: Duration) -> Ack {
        Ack { acked: PACKET, rtt: Some(rtt), ..Ack::default() }
    }

    /// PacketState every 10 ms, arriving every 20: a flight's rate is that at which it arrives, 1000 bytes in 20 ms.
    #[test]
    fn measures_the_rate_at_which_a_flight_arrives() {
        let mut sampler = RateSampler::new();
        for i in 0..10 {
            sampler.on_send(at(10 * i), PACKET, Bytes(i * 1000));
        }
        let mut rates = Vec::new();
        for i in 0..10 {
            let now = at(100 + 20 * i);
            let packet = sampler.on_ack(now, &ack(now.since(at(10 * i)))).unwrap();
            rates.push(sampler.sample(&packet).rate.as_mbps());
            // From then on each acknowledgment lets a packet go, whose sample spans its own round trip.
            sampler.on_send(now, PACKET, Bytes(9000));
        }
        assert!((rates[0] - 0.08).abs() < 1e-9, "one packet in 100 ms: {rates:?}");
        let now = at(300);
        let packet = sampler.on_ack(now, &ack(now.since(at(100)))).unwrap();
        let sample = sampler.sample(&packet);
        assert!((sample.rate.as_mbps() - 0.4).abs() < 1e-9, "{sample:?}");
        assert_eq!((sample.delivered, sample.prior_delivered, sample.in_flight), (10_000, 1000, Bytes(10_000)));
    }

    /// Acknowledgments that were held back and come at once do not make the path look faster than it was fed.
    #[test]
    fn no_faster_than_it_was_sent() {
        let mut sampler = RateSampler::new();
        for i in 0..10 {
            sampler.on_send(at(20 * i), PACKET, Bytes(i * 1000));
        }
        let mut last = None;
        for i in 0..10 {
            last = sampler.on_ack(at(300), &ack(at(300).since(at(20 * i))));
        }
        let sample = sampler.sample(&last.unwrap());
        assert!(sample.rate.as_mbps() <= 10.0 * 0.008 / 0.18 + 1e-9, "{sample:?}");
    }

    #[test]
    fn lost_packets_are_the_oldest_unheard_of() {
        let mut sampler = RateSampler::new();
        for i in 0..8 {
            sampler.on_send(at(i), PACKET, Bytes(i * 1000));
        }
        // 1 and 2 are lost.
        for i in [0, 3, 4, 5] {
            sampler.on_ack(at(i) + RTT, &ack(RTT)).unwrap();
        }
        let mut lost = Bytes(2000);
        let records: Vec<Bytes> =
            std::iter::from_fn(|| sampler.next_lost(&mut lost)).map(|sent| sent.in_flight).collect();
        assert_eq!((records, sampler.lost), (vec![Bytes(2000), Bytes(3000)], 2000));
        sampler.forget(Bytes(2000));
        assert_eq!((sampler.sent.len(), sampler.passed, sampler.outstanding), (2, 0, Bytes(2000)));
        let packet = sampler.on_ack(at(6) + RTT, &ack(RTT)).unwrap();
        assert_eq!(sampler.sample(&packet).lost, 2000);
        // A timeout: nothing is out there any more.
        sampler.forget(Bytes(0));
        assert!(sampler.sent.is_empty());
        assert!(sampler.on_ack(at(7) + RTT, &ack(RTT)).is_none());
    }

    /// Several packets sent at the same instant, and an acknowledgment that stands for two.
    #[test]
    fn bursts_and_delayed_acknowledgments_keep_the_books() {
        let mut sampler = RateSampler::new();
        for i in 0..4 {
            sampler.on_send(at(0), PACKET, Bytes(i * 1000));
        }
        let first = sampler.on_ack(at(100), &ack(RTT)).unwrap();
        assert_eq!(first.in_flight, Bytes(1000));
        sampler.forget(Bytes(3000));
        let two = Ack { acked: Bytes(2000), ..ack(Duration::from_millis(120)) };
        assert_eq!(sampler.on_ack(at(120), &two).unwrap().in_flight, Bytes(2000));
        sampler.forget(Bytes(1000));
        assert_eq!((sampler.delivered, sampler.outstanding, sampler.sent.len()), (3000, Bytes(1000), 1));
    }

    #[test]
    fn an_idle_application_marks_the_samples_of_the_next_round_trip() {
        let mut sampler = RateSampler::new();
        sampler.on_send(at(0), PACKET, Bytes(0));
        sampler.mark_app_limited(PACKET);
        sampler.on_send(at(50), PACKET, PACKET);
        for (sent, limited) in [(0, false), (50, true)] {
            let packet = sampler.on_ack(at(sent) + RTT, &ack(RTT)).unwrap();
            sampler.end_app_limited();
            assert_eq!(sampler.sample(&packet).app_limited, limited);
        }
        assert_eq!(sampler.app_limited, 0);
    }
}
