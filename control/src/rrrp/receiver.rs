//! The receiver of RRRP: measures the rate at which packets arrive.

use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Time};
use alloc::{vec, vec::Vec};

/// Measures X_out over the last n packets (equation 14): the bits of the last n - 1, over the time from the first to
/// the last.
pub struct RrrpReceiver {
    /// Times and sizes of the last n arrivals, in a ring.
    arrivals: Vec<(Time, Bytes)>,
    /// The index of the next arrival, which is that of the oldest once there are n.
    next: usize,
    /// Whether n packets have arrived.
    full: bool,
    /// Sum of the sizes in the ring.
    total: Bytes,
}

impl RrrpReceiver {
    /// A receiver that averages over `n` packets, or 2 if `n` is less.
    pub fn new(n: u16) -> RrrpReceiver {
        RrrpReceiver {
            arrivals: vec![(Time::ZERO, Bytes(0)); n.max(2) as usize],
            next: 0,
            full: false,
            total: Bytes(0),
        }
    }
}

impl Receiver for RrrpReceiver {
    /// **Decided**: there is no report before n packets have arrived. Two packets that leave a queue one after the
    /// other arrive at the link's rate, so that an average over few packets gives too much.
    fn on_arrival(&mut self, now: Time, _: &Stamp, size: Bytes) -> Option<Report> {
        let oldest = core::mem::replace(&mut self.arrivals[self.next], (now, size));
        self.next = (self.next + 1) % self.arrivals.len();
        self.full |= self.next == 0;
        self.total = self.total + size - oldest.1;
        let (first, without) = self.arrivals[self.next];
        let elapsed = now.since(first);
        if !self.full || elapsed.0 == 0 {
            return None;
        }
        Some(Report::Received { rate: (self.total - without).over(elapsed).as_bps() as f32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    #[test]
    fn averages_over_n_packets() {
        let mut meter = RrrpReceiver::new(4);
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
        let mut meter = RrrpReceiver::new(2);
        assert_eq!(meter.on_arrival(Time::ZERO, &Stamp::None, Bytes(1000)), None);
        assert_eq!(meter.on_arrival(Time::ZERO, &Stamp::None, Bytes(1000)), None);
    }
}
