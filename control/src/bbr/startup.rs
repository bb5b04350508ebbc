//! Startup, which doubles the rate per round trip until the path is full, and Drain, which empties the queue that
//! Startup leaves (sections 5.3.1 and 5.3.2).

use super::sender::BbrSender;
use super::state::BbrState;
use crate::units::{Rate, Time};

/// BBRStartupFullLossCnt: how many ranges of lost packets in a round trip end Startup.
const FULL_LOSS_RANGES: u32 = 6;

impl BbrSender {
    /// EnterStartup.
    pub(super) fn enter_startup(&mut self) {
        self.state = BbrState::Startup;
    }

    /// ResetFullBW (section 5.3.1.2).
    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = Rate::ZERO;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// CheckFullBWReached: the path is full after three round trips in which the rate grew by less than a quarter
    /// (section 5.3.1.2).
    pub(super) fn check_full_bw_reached(&mut self) {
        if self.full_bw_now || !self.round_start || self.rs.app_limited {
            return;
        }
        if self.rs.rate.as_bps() >= self.full_bw.as_bps() * 1.25 {
            self.reset_full_bw();
            self.full_bw = self.rs.rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// CheckStartupDone.
    pub(super) fn check_startup_done(&mut self) {
        self.check_startup_high_loss();
        if self.state == BbrState::Startup && self.full_bw_reached {
            self.enter_drain();
        }
    }

    /// CheckStartupHighLoss (section 5.3.1.3): the path is full after a whole round trip in recovery with too large a
    /// share of lost packets in too many ranges.
    fn check_startup_high_loss(&mut self) {
        if !self.loss_round_start {
            return;
        }
        let ranges = core::mem::take(&mut self.loss_ranges_in_round);
        if self.state == BbrState::Startup
            && !self.full_bw_reached
            && self.in_recovery
            && ranges >= FULL_LOSS_RANGES
            && self.is_inflight_too_high(self.rs.lost as f64, self.rs.in_flight.0 as f64)
        {
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp_multiple(self.bw, 1.0).max(self.inflight_latest);
        }
    }

    /// EnterDrain.
    fn enter_drain(&mut self) {
        self.state = BbrState::Drain { start_round: self.round_count };
    }

    /// CheckDrainDone.
    pub(super) fn check_drain_done(&mut self, now: Time) {
        if let BbrState::Drain { start_round } = self.state
            && (self.in_flight <= self.inflight(self.bw, 1.0) || self.round_count > start_round + 3)
        {
            self.start_probe_bw_down(now); // EnterProbeBW
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr;
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn the_path_is_full_after_three_round_trips_with_less_than_a_quarter_of_growth() {
        let mut sender = BbrSender::new(Bbr::default(), Bytes(1000));
        let rounds = [
            (10.0, false),
            (20.0, false),
            (24.0, false),
            (24.9, false),
            (25.0, false),
            (30.0, false),
            (20.0, false),
            (31.0, true),
        ];
        for (mbps, full) in rounds {
            sender.rs.rate = Rate::from_mbps(mbps);
            // The rate counts once per round trip, and not in a sample that the application limits.
            for (round_start, app_limited) in [(false, false), (true, true), (true, false)] {
                (sender.round_start, sender.rs.app_limited) = (round_start, app_limited);
                sender.check_full_bw_reached();
            }
            assert_eq!(sender.full_bw_reached, full, "{mbps} Mbps");
        }
        sender.check_startup_done();
        assert_eq!(sender.state, BbrState::Drain { start_round: 0 });
    }
}
