//! ProbeBW: a cycle of draining the queue, cruising, refilling the path and probing for more bandwidth (section 5.3.3).

use super::sender::BbrSender;
use super::state::{AckPhase, BbrState, ProbeUp};
use crate::draw::draw;
use crate::units::{Duration, Time};

impl BbrSender {
    /// StartProbeBW_DOWN.
    pub(super) fn start_probe_bw_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.pick_probe_wait(now);
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = BbrState::ProbeBwDown;
    }

    /// StartProbeBW_CRUISE.
    pub(super) fn start_probe_bw_cruise(&mut self) {
        self.state = BbrState::ProbeBwCruise;
    }

    /// StartProbeBW_REFILL. The probe after it begins with a step that has been doubled `rounds` times.
    fn start_probe_bw_refill(&mut self, rounds: u32) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = rounds;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = BbrState::ProbeBwRefill;
    }

    /// StartProbeBW_UP.
    fn start_probe_bw_up(&mut self) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = self.rs.rate;
        let mut probe = ProbeUp { rounds: self.bw_probe_up_rounds, acked: 0.0, acked_per_inc: f64::INFINITY };
        probe.raise_slope(self.cwnd, self.packet);
        self.state = BbrState::ProbeBwUp(probe);
    }

    /// UpdateProbeBWCyclePhase (section 5.3.3.9).
    pub(super) fn update_probe_bw_cycle_phase(&mut self, now: Time) {
        if !self.full_bw_reached || self.adapt_long_term_model(now) {
            return;
        }
        match self.state {
            BbrState::ProbeBwDown | BbrState::ProbeBwCruise => {
                if let Some(rounds) = self.rounds_of_reprobe() {
                    self.start_probe_bw_refill(rounds);
                } else if self.is_time_to_probe_bw(now) {
                    self.start_probe_bw_refill(0);
                } else if self.state == BbrState::ProbeBwDown && self.is_time_to_cruise() {
                    self.start_probe_bw_cruise();
                }
            }
            BbrState::ProbeBwRefill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up();
            }
            BbrState::ProbeBwUp(_) => self.go_down_in_time(now),
            _ => {}
        }
    }

    /// IsInAProbeBWState.
    pub(super) fn is_in_a_probe_bw_state(&self) -> bool {
        use BbrState::{ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp};
        matches!(self.state, ProbeBwDown | ProbeBwCruise | ProbeBwRefill | ProbeBwUp(_))
    }

    /// IsProbingBW.
    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, BbrState::Startup | BbrState::ProbeBwRefill | BbrState::ProbeBwUp(_))
    }

    pub(super) fn is_in_probe_bw_up(&self) -> bool {
        matches!(self.state, BbrState::ProbeBwUp(_))
    }

    /// IsTimeToProbeBW (section 5.3.3.8.3): after 2 to 3 s, or after as many round trips as Reno would need to regain
    /// its rate.
    fn is_time_to_probe_bw(&self, now: Time) -> bool {
        let reno_rounds = self.target_inflight() / self.packet;
        now > self.cycle_stamp + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= reno_rounds.min(63.0)
    }

    /// PickProbeWait.
    fn pick_probe_wait(&mut self, now: Time) {
        let chance = draw(now);
        self.rounds_since_probe_up = chance & 1;
        let part = (chance >> 11) as f64 / (1u64 << 53) as f64; // 0 to 1
        self.bw_probe_wait = Duration::from_secs(2.0 + part);
    }

    /// TargetInflight: the estimated bandwidth-delay product, or the window if congestion has made it smaller.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.cwnd)
    }

    /// IsTimeToCruise.
    fn is_time_to_cruise(&self) -> bool {
        self.in_flight <= self.inflight_with_headroom() && self.in_flight <= self.inflight(self.max_bw, 1.0)
    }

    /// The transition from ProbeBW_UP to ProbeBW_DOWN.
    fn go_down_in_time(&mut self, now: Time) {
        if self.is_time_to_go_down() {
            self.prev_probe_too_high = false;
            self.start_probe_bw_down(now);
        }
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self) -> bool {
        // Section 5.3.3.6: the last probe went too high, and this one has reached the same volume in flight.
        if self.prev_probe_too_high && self.in_flight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm {
            // While its own limit holds the sender back, the rate does not show whether the path is full.
            self.reset_full_bw();
            self.full_bw = self.rs.rate;
            return false;
        }
        self.full_bw_now
    }

    /// InflightWithHeadroom.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        let headroom = self.packet.max(self.parameters.headroom * self.inflight_longterm);
        (self.inflight_longterm - headroom).max(self.min_pipe_cwnd())
    }

    /// ProbeInflightLongtermUpward, in ProbeBW_UP.
    fn probe_inflight_longterm_upward(&mut self) {
        let limited = self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm;
        let BbrState::ProbeBwUp(probe) = &mut self.state else { return };
        if !limited {
            return; // the sender does not use all that inflight_longterm allows
        }
        probe.acked += self.newly_acked;
        if probe.acked >= probe.acked_per_inc {
            let delta = libm::floor(probe.acked / probe.acked_per_inc);
            probe.acked -= delta * probe.acked_per_inc;
            self.inflight_longterm += delta * self.packet;
        }
        if self.round_start {
            probe.raise_slope(self.cwnd, self.packet);
        }
    }

    /// AdaptLongTermModel. Returns whether it has changed the state.
    fn adapt_long_term_model(&mut self, now: Time) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_a_probe_bw_state() {
                if !self.rs.app_limited {
                    self.advance_max_bw_filter();
                }
                // Section 5.3.3.6: the probe that stopped early caused no losses, so the next probe may begin at once.
                if self.prev_probe_precautionary && !self.prev_probe_too_high {
                    self.start_probe_bw_refill(0);
                    return true;
                }
            }
        }
        let (lost, in_flight) = (self.rs.lost as f64, self.rs.in_flight.0 as f64);
        if self.are_marks_too_high() {
            if self.is_bw_probe_sample {
                self.handle_inflight_too_high(now, in_flight, self.rs.app_limited);
            }
        } else if !self.is_inflight_too_high(lost, in_flight) && self.inflight_longterm < f64::INFINITY {
            self.inflight_longterm = self.inflight_longterm.max(in_flight);
            self.probe_inflight_longterm_upward();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr;
    use super::*;
    use crate::units::Bytes;

    /// Section 5.3.3.5: by 1, 2, 4, 8 packets in successive round trips, as long as the window equals the limit and is
    /// used up.
    #[test]
    fn inflight_longterm_grows_by_twice_as_much_in_each_round_trip() {
        let mut sender = BbrSender::new(Bbr::default(), Bytes(1000));
        sender.cwnd = 1024e3;
        sender.inflight_longterm = sender.cwnd;
        sender.newly_acked = 1000.0;
        sender.cwnd_limited = [true, true];
        sender.start_probe_bw_up();
        for growth in [1.0, 2.0, 4.0, 8.0] {
            let before = sender.inflight_longterm;
            for i in 1..=1024 {
                sender.cwnd = sender.inflight_longterm;
                sender.round_start = i == 1024;
                sender.probe_inflight_longterm_upward();
            }
            let grown = (sender.inflight_longterm - before) / 1000.0;
            assert!((grown - growth).abs() <= 1.0, "{grown} instead of {growth} packets");
        }
        sender.cwnd_limited = [false, false];
        let before = sender.inflight_longterm;
        (0..1024).for_each(|_| sender.probe_inflight_longterm_upward());
        assert_eq!(sender.inflight_longterm, before);
    }
}
