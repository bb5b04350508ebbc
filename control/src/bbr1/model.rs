//! The model of the path (section 4.1): BBR.BtlBw, the bandwidth of the bottleneck, and BBR.RTprop, the round-trip time
//! without queues.

use super::sender::{Bbr1Sender, Repair};
use crate::units::{Duration, Rate, Time};

/// BtlBwFilterLen: for how many round trips a rate is remembered (section 4.1.1.2). It exceeds the eight phases of a
/// gain cycle.
pub(super) const BTL_BW_FILTER_LEN: usize = 10;

impl Bbr1Sender {
    /// BBRUpdateRound (section 4.1.1.3).
    fn update_round(&mut self) {
        self.round_start = self.rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            if self.repair == Repair::Conserving {
                self.repair = Repair::Growing; // section 4.2.3.4: after one round trip
            }
        }
    }

    /// The present round trip ends with the first acknowledgment of a packet that is sent from now on.
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.sampler.delivered;
    }

    /// BBRUpdateBtlBw (section 4.1.1.5). A rate that the application limits counts only if it is higher than the
    /// model's.
    pub(super) fn update_btl_bw(&mut self) {
        self.update_round();
        let rate = self.rs.rate;
        if rate > Rate::ZERO && (rate >= self.btl_bw || !self.rs.app_limited) {
            let most = self.btl_bw_filter.update(self.round_count, rate.as_bps(), BTL_BW_FILTER_LEN);
            self.btl_bw = Rate::from_bps(most);
        }
    }

    /// BBRUpdateRTprop (section 4.1.2.3).
    pub(super) fn update_rt_prop(&mut self, now: Time, rtt: Option<Duration>) {
        let remembered = self.rt_prop_stamp + self.parameters.min_rtt_memory;
        self.rt_prop_expired = self.rt_prop.is_some() && now > remembered;
        if let Some(rtt) = rtt
            && (self.rt_prop.is_none_or(|least| rtt <= least) || self.rt_prop_expired)
        {
            self.rt_prop = Some(rtt);
            self.rt_prop_stamp = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr1;
    use super::*;
    use crate::units::Bytes;

    /// In a round trip each: a rate counts for ten round trips, and one that the application limits only if it is
    /// higher.
    #[test]
    fn the_bandwidth_is_the_largest_of_ten_round_trips() {
        let mut sender = Bbr1Sender::new(Bbr1::default(), Bytes(1000));
        let mut round = |mbps, app_limited| {
            sender.rs.prior_delivered = sender.next_round_delivered;
            (sender.rs.rate, sender.rs.app_limited) = (Rate::from_mbps(mbps), app_limited);
            sender.update_btl_bw();
            sender.btl_bw.as_mbps()
        };
        assert_eq!([round(10.0, false), round(3.0, true), round(20.0, true)], [10.0, 10.0, 20.0]);
        for _ in 0..9 {
            assert_eq!(round(8.0, false), 20.0);
        }
        assert_eq!(round(8.0, false), 8.0);
    }

    #[test]
    fn the_least_round_trip_time_is_remembered_for_10_s_and_renewed_by_its_equal() {
        let mut sender = Bbr1Sender::new(Bbr1::default(), Bytes(1000));
        let ms = Duration::from_millis;
        for (at, rtt, expired, least) in [
            (100, 100, false, 100),
            (5000, 120, false, 100),
            (6000, 100, false, 100),
            (16_000, 120, false, 100),
            (16_001, 120, true, 120), // 10 s after the 100 ms at 6 s
            (16_100, 90, false, 90),
        ] {
            sender.update_rt_prop(Time::ZERO + ms(at), Some(ms(rtt)));
            assert_eq!((sender.rt_prop_expired, sender.rt_prop), (expired, Some(ms(least))), "at {at} ms");
        }
    }
}
