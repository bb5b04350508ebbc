//! Delivery rate samples of BBR: the rate at which the network delivered data between the newest acknowledgment before
//! a packet was sent and the acknowledgment of that packet. Sections and names are those of draft-ietf-ccwg-bbr-06,
//! section 4.1, which took over draft-cheng-iccrg-delivery-rate-estimation-00.
//!
//! The host keeps nothing per packet for this. The state at the time when each packet left is kept here, in the order
//! of sending, and the packet that caused an acknowledgment is found by the time when it was sent.

use crate::roles::Ack;
use crate::units::{Bytes, Duration, Rate, Time};
use alloc::collections::VecDeque;

/// P: the state of the connection when a packet was sent (section 4.1.2.1.2).
#[derive(Clone, Copy, Debug)]
pub struct PacketState {
    /// P.sent_time.
    time: Time,
    /// The packet's size.
    pub size: Bytes,
    /// P.inflight: data in flight, this packet included.
    pub in_flight: Bytes,
    /// P.delivered: data delivered since the connection began, bytes.
    pub delivered: u64,
    /// P.delivered_time: when the last of it was delivered.
    delivered_time: Time,
    /// P.first_sent_time: when the first packet of the flight was sent.
    first_sent: Time,
    /// P.lost: data lost since the connection began, bytes.
    pub lost: u64,
    /// Data that arrived marked since the connection began, bytes.
    marked: u64,
    /// P.is_app_limited: whether the sender had run out of data.
    pub app_limited: bool,
    /// Whether the packet has been acknowledged since.
    arrived: bool,
}

/// RS: a rate sample, for the packet that was sent last among those acknowledged (section 4.1.2.1.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSample {
    /// RS.delivery_rate, or zero if the sample's interval is too short for a measurement.
    pub rate: Rate,
    /// RS.delivered: data delivered since the packet was sent, bytes.
    pub delivered: u64,
    /// RS.prior_delivered: data delivered before the packet was sent, bytes.
    pub prior_delivered: u64,
    /// RS.tx_in_flight: data in flight when the packet was sent.
    pub in_flight: Bytes,
    /// RS.lost: data lost since the packet was sent, bytes.
    pub lost: u64,
    /// Data that arrived marked since the packet was sent, bytes.
    pub marked: u64,
    /// RS.is_app_limited: whether the application limited the rate.
    pub app_limited: bool,
}

/// C: the state of the delivery rate estimator (section 4.1.2.1.1).
#[derive(Debug)]
pub struct RateSampler {
    /// The packets from the oldest one in flight on, in the order of sending. Some may have arrived.
    sent: VecDeque<PacketState>,
    /// How many of these were sent no later than the packet that was sent last among those that have arrived.
    passed: usize,
    /// Sum of the sizes of the packets in `sent` that have not arrived.
    outstanding: Bytes,
    /// C.delivered: data delivered since the connection began, bytes.
    pub delivered: u64,
    /// C.delivered_time: when the last of it was delivered.
    delivered_time: Time,
    /// C.first_sent_time: when the packet that was sent last among those that have arrived was sent, or the first
    /// packet after an idle period.
    first_sent: Time,
    /// C.lost: data lost since the connection began, bytes.
    pub lost: u64,
    /// Data that arrived marked since the connection began, bytes.
    pub marked: u64,
    /// C.app_limited: samples are limited by the application until more than this is delivered, bytes; none if they are
    /// not.
    app_limited: Option<u64>,
    /// The shortest RTT so far; none before the first.
    min_rtt: Option<Duration>,
}

impl RateSampler {
    /// The estimator before the first packet.
    pub fn new() -> RateSampler {
        RateSampler {
            sent: VecDeque::new(),
            passed: 0,
            outstanding: Bytes(0),
            delivered: 0,
            delivered_time: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            marked: 0,
            app_limited: None,
            min_rtt: None,
        }
    }

    /// OnPacketSent, where `in_flight` does not include the packet.
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
            marked: self.marked,
            app_limited: self.is_app_limited(),
            arrived: false,
        });
    }

    /// UpdateRateSample: returns the packet that caused `ack`, if it was sent after all packets that had arrived
    /// before.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) -> Option<PacketState> {
        self.delivered += ack.acked.0;
        self.marked += ack.marked.0;
        if ack.acked > Bytes(0) {
            self.delivered_time = now;
        }
        let rtt = ack.rtt.filter(|rtt| rtt.0 <= now.0)?;
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let time = Time(now.0 - rtt.0);
        let before = self.passed;
        while self.sent.get(self.passed).is_some_and(|sent| sent.time < time) {
            self.passed += 1;
        }
        // Among packets sent at the same time, take the first that has not been acknowledged.
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

    /// The next packet among `lost` bytes that are lost: the oldest that has not been acknowledged, if a later one has.
    /// Subtracts its size from `lost`.
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

    /// Only `in_flight` is still in the network: the oldest packets are forgotten until no more is outstanding here.
    /// (One acknowledgment may be for many packets, of which only one is found by its RTT.)
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
        // An interval shorter than the shortest RTT is due to an acknowledgment that was attributed to the wrong
        // transmission.
        let reliable = self.min_rtt.is_some_and(|least| interval >= least) && interval > Duration::ZERO;
        RateSample {
            rate: if reliable { Bytes(delivered).over(interval) } else { Rate::ZERO },
            delivered,
            prior_delivered: packet.delivered,
            in_flight: packet.in_flight,
            lost: self.lost - packet.lost,
            marked: self.marked - packet.marked,
            app_limited: packet.app_limited,
        }
    }

    /// MarkConnectionAppLimited: less than the window is in flight, as the application has no more data.
    pub fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited = Some(self.delivered + in_flight.0);
    }

    /// The first step of GenerateRateSample: ends the application-limited phase once all data sent in it is delivered.
    pub fn end_app_limited(&mut self) {
        self.app_limited = self.app_limited.filter(|&end| self.delivered <= end);
    }

    /// Whether packets sent now are limited by the application.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
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

    /// Packets of 1000 bytes are sent every 10 ms and arrive every 20 ms: the rate is 1000 bytes per 20 ms.
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
            // From then on each acknowledgment releases a packet, whose sample spans its own round trip.
            sampler.on_send(now, PACKET, Bytes(9000));
        }
        assert!((rates[0] - 0.08).abs() < 1e-9, "one packet in 100 ms: {rates:?}");
        let now = at(300);
        let packet = sampler.on_ack(now, &ack(now.since(at(100)))).unwrap();
        let sample = sampler.sample(&packet);
        assert!((sample.rate.as_mbps() - 0.4).abs() < 1e-9, "{sample:?}");
        assert_eq!((sample.delivered, sample.prior_delivered, sample.in_flight), (10_000, 1000, Bytes(10_000)));
    }

    /// Acknowledgments that arrive all at once do not give a rate above that at which the packets were sent.
    #[test]
    fn the_rate_is_no_higher_than_the_rate_of_sending() {
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
    fn lost_packets_are_the_oldest_that_are_not_acknowledged() {
        let mut sampler = RateSampler::new();
        for i in 0..8 {
            sampler.on_send(at(i), PACKET, Bytes(i * 1000));
        }
        // Packets 1 and 2 are lost.
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
        // After a timeout, nothing counts as in flight.
        sampler.forget(Bytes(0));
        assert!(sampler.sent.is_empty());
        assert!(sampler.on_ack(at(7) + RTT, &ack(RTT)).is_none());
    }

    /// Several packets are sent at the same time, and one acknowledgment is for two of them.
    #[test]
    fn bursts_and_delayed_acknowledgments_are_counted_correctly() {
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
    fn samples_of_the_round_trip_after_an_idle_period_are_marked() {
        let mut sampler = RateSampler::new();
        sampler.on_send(at(0), PACKET, Bytes(0));
        sampler.mark_app_limited(PACKET);
        sampler.on_send(at(50), PACKET, PACKET);
        for (sent, limited) in [(0, false), (50, true)] {
            let packet = sampler.on_ack(at(sent) + RTT, &ack(RTT)).unwrap();
            sampler.end_app_limited();
            assert_eq!(sampler.sample(&packet).app_limited, limited);
        }
        assert!(!sampler.is_app_limited());
    }
}
