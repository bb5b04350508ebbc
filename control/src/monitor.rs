//! Monitor intervals: what became of the packets that were sent at one rate, for senders that learn which rate serves
//! them best (PCC: Dong, Li, Zarchy, Godfrey and Schapira, NSDI 2015, section 3.1).
//!
//! A sender cuts its packets into intervals. An interval is over when none of its packets is in flight any more, about
//! a round trip after its last packet was sent.
//!
//! Nothing is kept per packet. Packets are taken to be acknowledged, or found lost, in the order of sending; of those
//! that one acknowledgment settles, the oldest are the lost ones. As a host waits for three later packets before it
//! declares one lost, up to three losses count in the next interval.

use crate::roles::Ack;
use crate::units::{Bytes, Rate, Time};
use alloc::collections::VecDeque;

/// What an interval has shown once it is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured {
    /// Intervals are numbered from 0 in the order of sending.
    pub(crate) number: u64,
    /// The rate at which its packets were sent.
    pub(crate) rate: Rate,
    /// The share of its bytes that was lost.
    pub(crate) loss: f64,
    /// d(RTT)/dt: by how many seconds the RTT grew per second of sending, by linear regression over all samples. Zero
    /// if there were fewer than two.
    pub(crate) rtt_gradient: f64,
    /// Whether the application limited the rate at some time before it was over.
    pub(crate) app_limited: bool,
}

/// An interval of which packets are in flight or still to be sent.
struct Interval {
    begin: Time,
    /// When the next interval began; none while this one is the newest.
    end: Option<Time>,
    /// Of all bytes sent, those before its first packet and before the next interval's.
    bytes: (u64, u64),
    lost: u64,
    rtts: Regression,
    app_limited: bool,
}

/// The intervals of a flow.
pub(crate) struct Monitor {
    /// Those that are not over, oldest first.
    intervals: VecDeque<Interval>,
    /// The number of the oldest one.
    oldest: u64,
    /// Bytes sent since the flow began.
    sent: u64,
    /// Of these, the bytes that are not in flight any more.
    settled: u64,
}

impl Monitor {
    /// Before the first packet.
    pub(crate) fn new() -> Monitor {
        Monitor { intervals: VecDeque::new(), oldest: 0, sent: 0, settled: 0 }
    }

    /// The number of the interval that begins next.
    pub(crate) fn next(&self) -> u64 {
        self.oldest + self.intervals.len() as u64
    }

    /// The packets from now on belong to a new interval.
    pub(crate) fn begin(&mut self, now: Time) {
        if let Some(last) = self.intervals.back_mut() {
            last.end = Some(now);
        }
        let (bytes, rtts) = ((self.sent, self.sent), Regression::default());
        self.intervals.push_back(Interval { begin: now, end: None, bytes, lost: 0, rtts, app_limited: false });
    }

    /// A packet of `size` leaves.
    pub(crate) fn on_send(&mut self, size: Bytes) {
        self.sent += size.0;
        if let Some(last) = self.intervals.back_mut() {
            last.bytes.1 = self.sent;
        }
    }

    /// An acknowledgment arrives.
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Ack) {
        let settled = self.sent.saturating_sub(ack.in_flight.0).max(self.settled);
        let mut lost = ack.lost.0;
        for interval in &mut self.intervals {
            let newly = settled.min(interval.bytes.1).saturating_sub(self.settled.max(interval.bytes.0));
            interval.lost += newly.min(lost);
            lost -= newly.min(lost);
            interval.app_limited |= ack.app_limited;
        }
        self.settled = settled;
        if let Some(rtt) = ack.rtt
            && let Some(interval) = self.intervals.iter_mut().rfind(|one| one.begin <= now - rtt)
            && interval.end.is_none_or(|end| now - rtt < end)
        {
            interval.rtts.add((now - rtt).since(interval.begin).as_secs(), rtt.as_secs());
        }
    }

    /// The oldest interval, if it is over; not to be returned again.
    pub(crate) fn finished(&mut self) -> Option<Measured> {
        let first = self.intervals.front()?;
        let end = first.end.filter(|_| self.settled >= first.bytes.1)?;
        let (number, bytes) = (self.oldest, first.bytes.1 - first.bytes.0);
        let measured = Measured {
            number,
            rate: Bytes(bytes).over(end.since(first.begin)),
            loss: if bytes > 0 { first.lost as f64 / bytes as f64 } else { 0.0 },
            rtt_gradient: first.rtts.slope(),
            app_limited: first.app_limited,
        };
        self.oldest += 1;
        self.intervals.pop_front();
        Some(measured)
    }

    /// A timeout: what was in flight is given up, and the intervals with it.
    pub(crate) fn give_up(&mut self) {
        self.oldest = self.next();
        self.intervals.clear();
        self.settled = self.sent;
    }
}

/// Linear regression by sums: the slope of the line through points (x, y) that comes closest to them.
#[derive(Clone, Copy, Debug, Default)]
struct Regression {
    n: f64,
    /// The first point. The sums are of differences from it, so that little is lost to rounding.
    first: (f64, f64),
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Regression {
    fn add(&mut self, x: f64, y: f64) {
        if self.n == 0.0 {
            self.first = (x, y);
        }
        let (x, y) = (x - self.first.0, y - self.first.1);
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
    }

    fn slope(&self) -> f64 {
        let spread = self.n * self.xx - self.x * self.x;
        if spread > 0.0 { (self.n * self.xy - self.x * self.y) / spread } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    const PACKET: Bytes = Bytes(1000);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// The packet of `sent` ms is acknowledged at `now` ms, beside `lost` packets; `in_flight` remain.
    fn ack(monitor: &mut Monitor, sent: u64, now: u64, lost: u64, in_flight: u64) {
        let (acked, rtt) = (PACKET, Some(at(now).since(at(sent))));
        let (lost, in_flight) = (Bytes(1000 * lost), Bytes(1000 * in_flight));
        monitor.on_ack(at(now), &Ack { acked, lost, rtt, in_flight, ..Ack::default() });
    }

    /// Ten packets in 100 ms, then five in 100 ms: 0.8 and 0.4 Mbps. In the first interval the RTT grows by 1 ms from
    /// packet to packet, 0.1 s per second, and two packets are lost.
    #[test]
    fn an_interval_has_the_rate_the_losses_and_the_gradient_of_its_own_packets() {
        let mut monitor = Monitor::new();
        for (begin, gap, count) in [(0, 10, 10), (100, 20, 5), (200, 10, 1)] {
            monitor.begin(at(begin));
            (0..count).for_each(|_| monitor.on_send(PACKET));
            assert_eq!(gap * count, if begin == 200 { 10 } else { 100 });
        }
        let mut in_flight = 16;
        for i in (0..10).filter(|i| ![3, 4].contains(i)) {
            assert_eq!(monitor.finished(), None);
            let lost = if i == 7 { 2 } else { 0 };
            in_flight -= 1 + lost;
            ack(&mut monitor, 10 * i, 200 + 11 * i, lost, in_flight);
        }
        let first = monitor.finished().unwrap();
        assert_eq!((first.number, first.rate, first.loss), (0, Rate::from_mbps(0.8), 0.2));
        assert!((first.rtt_gradient - 0.1).abs() < 1e-9, "{}", first.rtt_gradient);
        for i in 0..5 {
            assert_eq!(monitor.finished(), None);
            ack(&mut monitor, 100 + 20 * i, 400 + 20 * i, 0, 5 - i);
        }
        let second = monitor.finished().unwrap();
        assert_eq!((second.number, second.rate, second.loss), (1, Rate::from_mbps(0.4), 0.0));
        assert!(second.rtt_gradient.abs() < 1e-9 && !second.app_limited);
        assert_eq!((monitor.finished(), monitor.next()), (None, 3));
    }

    /// One acknowledgment for the end of an interval and the beginning of the next: each gets its share, and the losses
    /// are the oldest packets.
    #[test]
    fn an_acknowledgment_may_settle_packets_of_two_intervals() {
        let mut monitor = Monitor::new();
        for begin in [0, 40, 80] {
            monitor.begin(at(begin));
            (0..4).for_each(|_| monitor.on_send(PACKET));
        }
        ack(&mut monitor, 0, 100, 0, 10);
        ack(&mut monitor, 50, 150, 3, 5);
        assert_eq!(monitor.finished().unwrap().loss, 0.5); // its two last packets
        ack(&mut monitor, 70, 170, 0, 4);
        assert_eq!(monitor.finished().unwrap().loss, 0.25); // its first
    }

    #[test]
    fn a_timeout_gives_up_all_intervals() {
        let mut monitor = Monitor::new();
        for begin in [0, 40] {
            monitor.begin(at(begin));
            monitor.on_send(PACKET);
        }
        monitor.give_up();
        assert_eq!((monitor.finished(), monitor.next()), (None, 2));
        monitor.begin(at(900));
        monitor.on_send(PACKET);
        monitor.begin(at(910));
        ack(&mut monitor, 900, 950, 0, 0);
        assert_eq!(monitor.finished().unwrap().number, 2);
    }

    #[test]
    fn an_interval_that_the_application_limits_is_marked() {
        let mut monitor = Monitor::new();
        monitor.begin(at(0));
        monitor.on_send(PACKET);
        monitor.begin(at(10));
        let (rtt, app_limited) = (Some(Duration::from_millis(100)), true);
        monitor.on_ack(at(100), &Ack { acked: PACKET, rtt, app_limited, ..Ack::default() });
        assert!(monitor.finished().unwrap().app_limited);
    }

    /// The line through (1, 5), (2, 5), (3, 8) has the slope 1.5: sum of (x - 2)(y - 6) over the sum of (x - 2)^2, 3/2.
    #[test]
    fn the_slope_is_that_of_least_squares() {
        let mut line = Regression::default();
        assert_eq!(line.slope(), 0.0);
        for (x, y) in [(1.0, 5.0), (2.0, 5.0), (3.0, 8.0)] {
            line.add(x, y);
        }
        assert!((line.slope() - 1.5).abs() < 1e-12);
    }
}
