//! The control parameters that follow from the model: pacing rate, send quantum and congestion window (section 5.6).

use super::sender::BbrSender;
use super::state::BbrState;
use crate::units::{Bytes, Duration, Rate};

/// BBR.PacingMarginPercent: by which share the pacing rate is below the bandwidth.
const PACING_MARGIN: f64 = 0.01;
/// BBR.StartupPacingGain, 4 ln 2.
const STARTUP_PACING_GAIN: f64 = 2.77;
/// BBR.ProbeRTTCwndGain.
const PROBE_RTT_CWND_GAIN: f64 = 0.5;

impl BbrSender {
    /// BBR.pacing_gain and BBR.cwnd_gain (the table of section 5.6.1).
    fn gains(&self) -> (f64, f64) {
        match self.state {
            BbrState::Startup => (STARTUP_PACING_GAIN, 2.0),
            BbrState::Drain { .. } => (0.5, 2.0),
            BbrState::ProbeBwDown => (0.9, 2.0),
            BbrState::ProbeBwCruise | BbrState::ProbeBwRefill => (1.0, 2.0),
            BbrState::ProbeBwUp(_) => (1.25, 2.25),
            BbrState::ProbeRtt(_) => (1.0, PROBE_RTT_CWND_GAIN),
        }
    }

    /// InitPacingRate (section 5.6.2).
    pub(super) fn init_pacing_rate(&mut self, srtt: Duration) {
        let nominal_bandwidth = Bytes(self.initial_cwnd as u64).over(srtt.max(Duration::from_micros(1)));
        self.pacing_rate = nominal_bandwidth * STARTUP_PACING_GAIN;
        self.set_send_quantum();
    }

    /// SetPacingRateWithGain.
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = self.bw * (gain * (1.0 - PACING_MARGIN));
        if rate > Rate::ZERO && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// SetPacingRate.
    pub(super) fn set_pacing_rate(&mut self) {
        self.set_pacing_rate_with_gain(self.gains().0);
    }

    /// SetSendQuantum (section 5.6.3): what is sent in a millisecond, but at least two packets and at most 64 KiB.
    pub(super) fn set_send_quantum(&mut self) {
        self.send_quantum = (self.pacing_rate.as_bps() / 8.0 * 1e-3).min(65_536.0).max(2.0 * self.packet);
    }

    /// BDPMultiple (section 5.6.4.2).
    pub(super) fn bdp_multiple(&self, bw: Rate, gain: f64) -> f64 {
        match self.min_rtt {
            Some(min_rtt) => gain * bw.as_bps() / 8.0 * min_rtt.as_secs(),
            None => self.initial_cwnd,
        }
    }

    /// QuantizationBudget, with UpdateOffloadBudget as for QUIC (section 5.5.8.2).
    fn quantization_budget(&self, inflight_cap: f64) -> f64 {
        let up = if self.is_in_probe_bw_up() { 2.0 * self.packet } else { 0.0 };
        inflight_cap.max(self.send_quantum).max(self.min_pipe_cwnd()) + up
    }

    /// Inflight: the volume, in bytes, that fills the path at this bandwidth and gain.
    pub(super) fn inflight(&self, bw: Rate, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// UpdateMaxInflight.
    fn max_inflight(&self) -> f64 {
        self.quantization_budget(self.bdp_multiple(self.bw, self.gains().1) + self.extra_acked)
    }

    /// BBR.MinPipeCwnd (section 5.6.4.3).
    pub(super) fn min_pipe_cwnd(&self) -> f64 {
        4.0 * self.packet
    }

    /// SaveCwnd.
    pub(super) fn save_cwnd(&mut self) {
        self.prior_cwnd =
            if !self.in_recovery && !self.is_in_probe_rtt() { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// RestoreCwnd.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// ProbeRTTCwnd.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(self.bw, PROBE_RTT_CWND_GAIN).max(self.min_pipe_cwnd())
    }

    /// SetCwnd (section 5.6.4.6).
    pub(super) fn set_cwnd(&mut self) {
        let max_inflight = self.max_inflight();
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + self.newly_acked).min(max_inflight);
        } else if self.cwnd < max_inflight || (self.sampler.delivered as f64) < self.initial_cwnd {
            self.cwnd += self.newly_acked;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        if self.is_in_probe_rtt() {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// BoundCwndForModel (section 5.6.4.7).
    fn bound_cwnd_for_model(&mut self) {
        let longterm = match self.state {
            BbrState::ProbeRtt(_) | BbrState::ProbeBwCruise => self.inflight_with_headroom(),
            _ if self.is_in_a_probe_bw_state() => self.inflight_longterm,
            _ => f64::INFINITY,
        };
        let cap = self.shortterm.map_or(longterm, |shortterm| longterm.min(shortterm.inflight));
        self.cwnd = self.cwnd.min(cap.max(self.min_pipe_cwnd()));
    }
}
