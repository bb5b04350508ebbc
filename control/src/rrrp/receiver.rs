//! The receiver of RRRP: measures the rate at which packets arrive.

use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Time};
use alloc::{vec, vec::Vec};

/// Measures X_out over the last n packets (equation 14): the bits of the last n - 1, over the time from the first to
/// the last.
///
/// When a queue drains, packets arrive faster than they were sent, which equation 1 does not know: X_out is X_in at
/// most. If it is bounded so, a flow gives way to flows that fill a queue between their losses. But beside a background
/// whose packets come by chance, X_out is above X_in as often as below, and the bound makes the flow give way, too.
pub struct RrrpReceiver {
    /// Times and sizes of the last n arrivals, and the rates in bits per second at which the packets were sent, in a
    /// ring.
    arrivals: Vec<(Time, Bytes, u64)>,
    /// The index of the next arrival, which is that of the oldest once there are n.
    next: usize,
    /// Whether n packets have arrived.
    full: bool,
    /// Sum of the sizes in the ring.
    total: Bytes,
    /// Sum of the rates in the ring, bits per second. It is an integer, as a sum of floats that loses terms again would
    /// keep the rounding error of the largest of them, and a peer chooses the rates.
    sent: u128,
    /// Whether X_out is X_in at most.
    bounded: bool,
}

impl RrrpReceiver {
    /// A receiver that averages over `n` packets, or 2 if `n` is less.
    pub fn new(n: u16, bounded: bool) -> RrrpReceiver {
        RrrpReceiver {
            arrivals: vec![(Time::ZERO, Bytes(0), 0); n.max(2) as usize],
            next: 0,
            full: false,
            total: Bytes(0),
            sent: 0,
            bounded,
        }
    }
}

impl Receiver for RrrpReceiver {
    /// **Decided**: there is no report before n packets have arrived. Two packets that leave a queue one after the
    /// other arrive at the link's rate, so that an average over few packets gives too much.
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        let sent = if let Stamp::Probe { rate, .. } = stamp { libm::round(f64::from(*rate)) as u64 } else { 0 };
        let oldest = core::mem::replace(&mut self.arrivals[self.next], (now, size, sent));
        self.next = (self.next + 1) % self.arrivals.len();
        self.full |= self.next == 0;
        self.total = self.total + size - oldest.1;
        self.sent = self.sent + u128::from(sent) - u128::from(oldest.2);
        let (first, without, _) = self.arrivals[self.next];
        let elapsed = now.since(first);
        if !self.full || elapsed.0 == 0 {
            return None;
        }
        let received = (self.total - without).over(elapsed).as_bps();
        let sent = self.sent as f64 / self.arrivals.len() as f64;
        Some(Report::Received { rate: if self.bounded { received.min(sent) } else { received } as f32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    #[test]
    fn averages_over_n_packets() {
        let mut meter = RrrpReceiver::new(4, false);
        // Milliseconds and bytes. The first packet's bytes do not count, as the time that they took is not known.
        let arrivals = [(0, 9000), (1, 1000), (2, 1000), (3, 2000), (5, 500), (9, 1500)];
        let reports = arrivals.map(|(ms, bytes)| {
            let now = Time::ZERO + Duration::from_millis(ms);
            meter.on_arrival(now, &Stamp::None, Bytes(bytes)).map(|report| match report {
                Report::Received { rate } => rate,
                other => panic!("{other:?}"),
            })
        });
        let kbps = |bytes: f32, ms: f32| Some(bytes * 8000.0 / ms);
        assert_eq!(reports, [None, None, None, kbps(4000.0, 3.0), kbps(3500.0, 4.0), kbps(4000.0, 7.0)]);
    }

    #[test]
    fn packets_at_one_instant_have_no_rate() {
        let mut meter = RrrpReceiver::new(2, false);
        assert_eq!(meter.on_arrival(Time::ZERO, &Stamp::None, Bytes(1000)), None);
        assert_eq!(meter.on_arrival(Time::ZERO, &Stamp::None, Bytes(1000)), None);
    }

    /// A packet that claims more than any link has, among others that claim little.
    #[test]
    fn what_a_packet_claims_is_forgotten_with_it() {
        let mut meter = RrrpReceiver::new(2, true);
        let mut reports = [0.0; 8];
        for (i, rate) in [8e6, 3e38, 8e6, 8e6, 1e25, 8e6, 8e6, 8e6].into_iter().enumerate() {
            let stamp = Stamp::Probe { stream: 0, index: 0, len: 0, rate, sent: Time::ZERO };
            let now = Time::ZERO + Duration::from_micros(500 * i as u64);
            if let Some(Report::Received { rate }) = meter.on_arrival(now, &stamp, Bytes(1000)) {
                reports[i] = rate;
            }
        }
        assert_eq!(reports, [0.0, 16e6, 16e6, 8e6, 16e6, 16e6, 8e6, 8e6]);
    }

    /// Packets that were sent at 8 Mbps and arrive at 16, and then at 4.
    #[test]
    fn what_arrives_is_bounded_by_what_was_sent() {
        let stamp = Stamp::Probe { stream: 0, index: 0, len: 0, rate: 8e6, sent: Time::ZERO };
        for (bounded, fast) in [(false, 16e6), (true, 8e6)] {
            let mut meter = RrrpReceiver::new(4, bounded);
            let mut at = |us: u64| match meter.on_arrival(Time::ZERO + Duration::from_micros(us), &stamp, Bytes(1000)) {
                Some(Report::Received { rate }) => rate,
                _ => f32::NAN,
            };
            let arrivals = (1..=12).map(|i| 500 * i).chain((1..=12).map(|i| 6000 + 2000 * i));
            let reports: Vec<f32> = arrivals.map(&mut at).collect();
            assert_eq!((reports[11], reports[23]), (fast, 4e6));
        }
    }
}
