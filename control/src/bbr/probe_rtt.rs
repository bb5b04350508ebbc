//! ProbeRTT: every 5 s, little in flight for 200 ms, so that the queue empties and the least round-trip time shows
//! (section 5.3.4); and what to do after idleness (section 5.4).

use super::sender::{AckPhase, BbrSender, BbrState};
use crate::roles::Pipe;
use crate::units::{Bytes, Duration, Time};

impl BbrSender {
    /// UpdateMinRTT (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, now: Time, rtt: Option<Duration>) {
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + self.parameters.probe_rtt_interval;
        if let Some(rtt) = rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = now;
        }
        let min_rtt_expired = now > self.min_rtt_stamp + self.parameters.min_rtt_memory;
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, now: Time) {
        if self.state != BbrState::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd();
            self.state = BbrState::ProbeRtt; // EnterProbeRTT
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
        }
        if self.state == BbrState::ProbeRtt {
            self.handle_probe_rtt(now);
        }
        if self.rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, now: Time) {
        // The low rates of these samples are its own doing.
        self.sampler.mark_app_limited(Bytes(self.in_flight as u64));
        match self.probe_rtt_done_stamp {
            None if self.in_flight <= self.probe_rtt_cwnd() => {
                self.probe_rtt_done_stamp = Some(now + self.parameters.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
            None => {}
            Some(_) => {
                self.probe_rtt_round_done |= self.round_start;
                if self.probe_rtt_round_done {
                    self.check_probe_rtt_done(now);
                }
            }
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done_stamp.is_some_and(|done| now > done) {
            self.probe_rtt_min_stamp = now; // schedules the next one
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// ExitProbeRTT (section 5.3.4.4): nothing is queued, so there is nothing to drain.
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
        if pipe.in_flight == Bytes(0) && self.sampler.app_limited > 0 {
            self.idle_restart = true;
            self.extra_acked_interval_start = now;
            if self.is_in_a_probe_bw_state() {
                self.set_pacing_rate_with_gain(1.0);
            } else if self.state == BbrState::ProbeRtt {
                self.check_probe_rtt_done(now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr;
    use super::*;

    /// The least round-trip time is looked for after 5 s without a lower one, and forgotten 10 s after it was seen.
    #[test]
    fn the_least_round_trip_time_is_remembered_for_two_looks() {
        let mut machine = BbrSender::new(Bbr::default(), Bytes(1000));
        let ms = Duration::from_millis;
        for (at, rtt, expired, least) in [
            (100, 100, false, 100),
            (5000, 120, false, 100),
            (5101, 120, true, 100), // a new look begins
            (6000, 110, false, 100),
            (10_101, 115, false, 110), // 10 s after the 100 ms
            (10_200, 90, false, 90),
        ] {
            machine.update_min_rtt(Time::ZERO + ms(at), Some(ms(rtt)));
            assert_eq!((machine.probe_rtt_expired, machine.min_rtt), (expired, ms(least)), "at {at} ms");
        }
    }
}
