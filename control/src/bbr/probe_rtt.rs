//! ProbeRTT: every 5 s, little is in flight for 200 ms, so that the queue empties and the least round-trip time can be
//! measured (section 5.3.4). And the restart after an idle period (section 5.4).

use super::sender::BbrSender;
use super::state::{AckPhase, BbrState, ProbeRtt};
use crate::roles::Pipe;
use crate::units::{Bytes, Duration, Time};

/// Whether `a` is less than `b`, where no round-trip time counts as infinite.
fn shorter(a: Option<Duration>, b: Option<Duration>) -> bool {
    a.is_some_and(|a| b.is_none_or(|b| a < b))
}

impl BbrSender {
    /// UpdateMinRTT (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, now: Time, rtt: Option<Duration>) {
        // Before the first sample nothing can expire, however late the flow begins.
        self.probe_rtt_expired =
            self.probe_rtt_min_delay.is_some() && now > self.probe_rtt_min_stamp + self.parameters.probe_rtt_interval;
        if rtt.is_some() && (shorter(rtt, self.probe_rtt_min_delay) || self.probe_rtt_expired) {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = now;
        }
        let min_rtt_expired = now > self.min_rtt_stamp + self.parameters.min_rtt_memory;
        if shorter(self.probe_rtt_min_delay, self.min_rtt) || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    pub(super) fn is_in_probe_rtt(&self) -> bool {
        matches!(self.state, BbrState::ProbeRtt(_))
    }

    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, now: Time) {
        if !self.is_in_probe_rtt() && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd();
            self.state = BbrState::ProbeRtt(ProbeRtt::Draining); // EnterProbeRTT
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if let BbrState::ProbeRtt(part) = self.state {
            self.handle_probe_rtt(now, part);
        }
        if self.rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// HandleProbeRTT.
    fn handle_probe_rtt(&mut self, now: Time, part: ProbeRtt) {
        // The rates of these samples are low because the sender itself limits them.
        self.sampler.mark_app_limited(Bytes(self.in_flight as u64));
        match part {
            ProbeRtt::Draining if self.in_flight <= self.probe_rtt_cwnd() => {
                let done = now + self.parameters.probe_rtt_duration;
                self.state = BbrState::ProbeRtt(ProbeRtt::Holding { done, round_done: false });
                self.start_round();
            }
            ProbeRtt::Draining => {}
            ProbeRtt::Holding { done, round_done } => {
                let round_done = round_done || self.round_start;
                self.state = BbrState::ProbeRtt(ProbeRtt::Holding { done, round_done });
                if round_done {
                    self.check_probe_rtt_done(now);
                }
            }
        }
    }

    /// CheckProbeRTTDone.
    fn check_probe_rtt_done(&mut self, now: Time) {
        if let BbrState::ProbeRtt(ProbeRtt::Holding { done, .. }) = self.state
            && now > done
        {
            self.probe_rtt_min_stamp = now; // schedules the next ProbeRTT
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// ExitProbeRTT (section 5.3.4.4): no queue is left, so ProbeBW begins with cruising.
    fn exit_probe_rtt(&mut self, now: Time) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(now);
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// HandleRestartFromIdle (section 5.4.1).
    pub(super) fn handle_restart_from_idle(&mut self, now: Time, pipe: &Pipe) {
        if pipe.in_flight == Bytes(0) && self.sampler.is_app_limited() {
            self.idle_restart = true;
            self.extra_acked_interval_start = now;
            if self.is_in_a_probe_bw_state() {
                self.set_pacing_rate_with_gain(1.0);
            } else {
                self.check_probe_rtt_done(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr;
    use super::*;

    /// ProbeRTT is due after 5 s without a lower round-trip time, and the least one is forgotten 10 s after it was
    /// measured.
    #[test]
    fn the_least_round_trip_time_is_remembered_for_10_s() {
        let mut sender = BbrSender::new(Bbr::default(), Bytes(1000));
        let ms = Duration::from_millis;
        for (at, rtt, expired, least) in [
            (100, 100, false, 100),
            (5000, 120, false, 100),
            (5101, 120, true, 100), // ProbeRTT is due
            (6000, 110, false, 100),
            (10_101, 115, false, 110), // 10 s after the 100 ms
            (10_200, 90, false, 90),
        ] {
            sender.update_min_rtt(Time::ZERO + ms(at), Some(ms(rtt)));
            assert_eq!((sender.probe_rtt_expired, sender.min_rtt), (expired, Some(ms(least))), "at {at} ms");
        }
    }

    #[test]
    fn a_flow_that_begins_late_does_not_begin_with_probe_rtt() {
        let mut sender = BbrSender::new(Bbr::default(), Bytes(1000));
        let ms = Duration::from_millis;
        for (at, expired) in [(60_000, false), (65_000, false), (65_001, true)] {
            sender.update_min_rtt(Time::ZERO + ms(at), Some(ms(100)));
            assert_eq!(sender.probe_rtt_expired, expired, "at {at} ms");
        }
    }
}
