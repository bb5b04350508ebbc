//! The control parameters that follow from the model: pacing rate, send quantum and congestion window (section 4.2).

use super::machine::Mode;
use super::sender::{Bbr1Sender, Repair};
use crate::units::{Bytes, Duration, Rate};

impl Bbr1Sender {
    /// BBRInitPacingRate (section 4.2.1), where the RTT has just been measured or is assumed.
    pub(super) fn init_pacing_rate(&mut self, srtt: Duration) {
        let nominal_bandwidth = Bytes(self.initial_cwnd as u64).over(srtt.max(Duration::from_micros(1)));
        self.pacing_rate = nominal_bandwidth * self.gains().0;
        self.set_send_quantum();
    }

    /// BBRSetPacingRateWithGain (section 4.2.1): before the path was full, the rate is not lowered.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = self.btl_bw * gain;
        if rate > Rate::ZERO && (self.filled_pipe || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// BBRSetSendQuantum (section 4.2.2).
    pub(super) fn set_send_quantum(&mut self) {
        let rate = self.pacing_rate.as_mbps();
        self.send_quantum = if rate < 1.2 {
            self.packet
        } else if rate < 24.0 {
            2.0 * self.packet
        } else {
            (rate * 1e6 / 8.0 * 1e-3).min(65_536.0) // what is sent in a millisecond
        };
    }

    /// BBRInflight (section 4.2.3.2): the volume in flight that is `gain` times the path's, and three quanta on the way
    /// through the hosts.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        match self.rt_prop {
            Some(rt_prop) => gain * self.btl_bw.as_bps() / 8.0 * rt_prop.as_secs() + 3.0 * self.send_quantum,
            None => self.initial_cwnd,
        }
    }

    /// BBRMinPipeCwnd (section 4.2.3.3).
    pub(super) fn min_pipe_cwnd(&self) -> f64 {
        4.0 * self.packet
    }

    /// BBRSaveCwnd (section 4.2.3.4).
    pub(super) fn save_cwnd(&mut self) {
        let reduced = self.repair != Repair::None || matches!(self.mode, Mode::ProbeRtt(_));
        self.prior_cwnd = if reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// BBRRestoreCwnd (section 4.2.3.4).
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// BBRModulateCwndForRecovery (section 4.2.3.4): in the first round trip of a recovery, a packet leaves for each
    /// that is acknowledged; after it, at most two. `recovering`: the host is still repairing losses.
    fn modulate_cwnd_for_recovery(&mut self, recovering: bool) {
        self.cwnd = (self.cwnd - self.newly_lost).max(self.packet);
        if self.repair != Repair::None && !recovering {
            self.repair = Repair::None;
            self.restore_cwnd();
        }
        if self.repair == Repair::Begun {
            self.repair = Repair::Conserving;
            self.start_round();
            self.cwnd = self.in_flight + self.newly_acked;
        }
        if self.repair == Repair::Conserving {
            self.cwnd = self.cwnd.max(self.in_flight + self.newly_acked);
        }
    }

    /// BBRSetCwnd (section 4.2.3.6).
    pub(super) fn set_cwnd(&mut self, recovering: bool) {
        let target = self.inflight(self.gains().1); // BBRUpdateTargetCwnd
        self.modulate_cwnd_for_recovery(recovering);
        if self.repair != Repair::Conserving {
            if self.filled_pipe {
                self.cwnd = (self.cwnd + self.newly_acked).min(target);
            } else if self.cwnd < target || (self.sampler.delivered as f64) < self.initial_cwnd {
                self.cwnd += self.newly_acked;
            }
            self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        }
        if let Mode::ProbeRtt(_) = self.mode {
            self.cwnd = self.cwnd.min(self.min_pipe_cwnd()); // BBRModulateCwndForProbeRTT (section 4.2.3.5)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr1;
    use super::*;
    use crate::roles::{Loss, Sender};

    /// A full path of 80 Mbps and 100 ms: a million bytes.
    fn sender() -> Bbr1Sender {
        let mut sender = Bbr1Sender::new(Bbr1::default(), Bytes(1000));
        (sender.btl_bw, sender.rt_prop) = (Rate::from_mbps(80.0), Some(Duration::from_millis(100)));
        sender.filled_pipe = true;
        sender.mode = Mode::ProbeBw { cycle_index: 2, cycle_stamp: crate::Time::ZERO };
        sender.set_pacing_rate_with_gain(1.0);
        sender.set_send_quantum();
        sender
    }

    /// The quantum is what 80 Mbps send in a millisecond: 10,000 bytes.
    #[test]
    fn the_window_is_two_bandwidth_delay_products_and_three_quanta() {
        let mut sender = sender();
        assert_eq!((sender.send_quantum, sender.inflight(1.0)), (10_000.0, 1_030_000.0));
        (sender.cwnd, sender.newly_acked) = (2_029_500.0, 1000.0);
        sender.set_cwnd(false);
        assert_eq!(sender.cwnd, 2_030_000.0);
        for (mbps, quantum) in [(1.19, 1000.0), (1.2, 2000.0), (23.9, 2000.0), (24.0, 3000.0), (8000.0, 65_536.0)] {
            sender.pacing_rate = Rate::from_mbps(mbps);
            sender.set_send_quantum();
            assert!((sender.send_quantum - quantum).abs() < 1e-6, "{} at {mbps} Mbps", sender.send_quantum);
        }
    }

    /// Section 4.2.3.4: conservation for a round trip, growth by what is acknowledged after it, and at the end the
    /// window from before.
    #[test]
    fn a_recovery_begins_with_packet_conservation() {
        let mut sender = sender();
        sender.cwnd = 1_500_000.0;
        sender.save_cwnd();
        sender.repair = Repair::Begun;
        for (lost, acked, in_flight, cwnd) in
            [(50e3, 1e3, 800e3, 801e3), (0.0, 2e3, 799e3, 801e3), (1e3, 2e3, 798e3, 800e3)]
        {
            (sender.newly_lost, sender.newly_acked, sender.in_flight) = (lost, acked, in_flight);
            sender.set_cwnd(true);
            assert_eq!(sender.cwnd, cwnd);
        }
        sender.repair = Repair::Growing;
        (sender.newly_lost, sender.newly_acked) = (0.0, 2e3);
        sender.set_cwnd(true);
        assert_eq!(sender.cwnd, 802e3);
        sender.set_cwnd(false);
        assert_eq!((sender.cwnd, sender.repair), (1_502e3, Repair::None));
    }

    /// A timeout leaves one packet; a loss during a recovery is part of that recovery.
    #[test]
    fn losses_change_the_window_with_their_acknowledgments_and_timeouts_at_once() {
        let mut sender = sender();
        sender.cwnd = 1e6;
        for repair in [Repair::Begun, Repair::Growing] {
            if sender.repair == Repair::Begun {
                sender.repair = Repair::Growing;
            }
            sender.on_loss(crate::Time::ZERO, &Loss::Event);
            assert_eq!((sender.repair, sender.cwnd), (repair, 1e6));
        }
        sender.on_loss(crate::Time::ZERO, &Loss::Timeout);
        assert_eq!((sender.repair, sender.cwnd), (Repair::None, 1000.0));
    }

    #[test]
    fn nothing_lowers_the_rate_before_the_path_was_full() {
        let mut sender = sender();
        sender.filled_pipe = false;
        sender.set_pacing_rate_with_gain(0.5);
        assert_eq!(sender.pacing_rate, Rate::from_mbps(80.0));
        sender.filled_pipe = true;
        sender.set_pacing_rate_with_gain(0.5);
        assert_eq!(sender.pacing_rate, Rate::from_mbps(40.0));
    }
}
