//! The state machine (section 4.3), and the restart after an idle period (section 4.4).

use super::sender::Bbr1Sender;
use crate::bbr::ProbeRtt;
use crate::draw::draw;
use crate::roles::Pipe;
use crate::units::{Bytes, Time};

/// BBRHighGain, 2/ln 2: the least gain with which Startup doubles its rate per round trip (section 4.3.2.1).
const HIGH_GAIN: f64 = 2.0 / core::f64::consts::LN_2;
/// The pacing gains of ProbeBW: a round trip to look for more bandwidth, one to empty the queue of that, and six at the
/// bandwidth (section 4.3.4.1).
const GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// BBR.state (section 4.3.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBw {
        /// BBR.cycle_index: the phase of the gain cycle.
        cycle_index: usize,
        /// BBR.cycle_stamp: when the phase began.
        cycle_stamp: Time,
    },
    ProbeRtt(ProbeRtt),
}

impl Bbr1Sender {
    /// BBR.pacing_gain and BBR.cwnd_gain.
    pub(super) fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            Mode::ProbeBw { cycle_index, .. } => (GAIN_CYCLE[cycle_index], self.parameters.cwnd_gain),
            Mode::ProbeRtt(_) => (1.0, 1.0),
        }
    }

    /// BBRCheckFullPipe (section 4.3.2.2): the path is full after three round trips in which the bandwidth grew by less
    /// than a quarter.
    pub(super) fn check_full_pipe(&mut self) {
        if self.filled_pipe || !self.round_start || self.rs.app_limited {
            return;
        }
        if self.btl_bw.as_bps() >= self.full_bw.as_bps() * 1.25 {
            (self.full_bw, self.full_bw_count) = (self.btl_bw, 0);
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    /// BBRCheckDrain (section 4.3.3).
    pub(super) fn check_drain(&mut self, now: Time) {
        if self.mode == Mode::Startup && self.filled_pipe {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    /// BBREnterProbeBW (section 4.3.4.3). The first phase is any but that of gain 3/4: there is no queue to be emptied.
    fn enter_probe_bw(&mut self, now: Time) {
        let drawn = (draw(now) % (GAIN_CYCLE.len() as u64 - 1)) as usize; // 0 to 6
        let before = GAIN_CYCLE.len() - 1 - drawn; // 1 to 7
        self.advance_cycle_phase(now, before);
    }

    /// BBRCheckCyclePhase.
    pub(super) fn check_cycle_phase(&mut self, now: Time) {
        if let Mode::ProbeBw { cycle_index, cycle_stamp } = self.mode
            && self.is_next_cycle_phase(now, GAIN_CYCLE[cycle_index], cycle_stamp)
        {
            self.advance_cycle_phase(now, cycle_index);
        }
    }

    /// BBRAdvanceCyclePhase.
    fn advance_cycle_phase(&mut self, now: Time, cycle_index: usize) {
        self.mode = Mode::ProbeBw { cycle_index: (cycle_index + 1) % GAIN_CYCLE.len(), cycle_stamp: now };
    }

    /// BBRIsNextCyclePhase.
    fn is_next_cycle_phase(&self, now: Time, pacing_gain: f64, cycle_stamp: Time) -> bool {
        let is_full_length = self.rt_prop.is_none_or(|rt_prop| now.since(cycle_stamp) > rt_prop);
        if pacing_gain > 1.0 {
            // Until what the gain is to bring is in flight, but not against a buffer that is full.
            return is_full_length && (self.newly_lost > 0.0 || self.prior_in_flight >= self.inflight(pacing_gain));
        }
        is_full_length || (pacing_gain < 1.0 && self.prior_in_flight <= self.inflight(1.0))
    }

    /// BBRCheckProbeRTT (section 4.3.5).
    pub(super) fn check_probe_rtt(&mut self, now: Time) {
        if !matches!(self.mode, Mode::ProbeRtt(_)) && self.rt_prop_expired && !self.idle_restart {
            self.save_cwnd();
            self.mode = Mode::ProbeRtt(ProbeRtt::Draining); // BBREnterProbeRTT
        }
        if let Mode::ProbeRtt(part) = self.mode {
            self.handle_probe_rtt(now, part);
        }
        self.idle_restart = false;
    }

    /// BBRHandleProbeRTT.
    fn handle_probe_rtt(&mut self, now: Time, part: ProbeRtt) {
        // The rates of these samples are low because the sender itself limits them.
        self.sampler.mark_app_limited(Bytes(self.in_flight as u64));
        match part {
            ProbeRtt::Draining if self.in_flight <= self.min_pipe_cwnd() => {
                let done = now + self.parameters.probe_rtt_duration;
                self.mode = Mode::ProbeRtt(ProbeRtt::Holding { done, round_done: false });
                self.start_round();
            }
            ProbeRtt::Draining => {}
            ProbeRtt::Holding { done, round_done } => {
                let round_done = round_done || self.round_start;
                self.mode = Mode::ProbeRtt(ProbeRtt::Holding { done, round_done });
                if round_done && now > done {
                    self.rt_prop_stamp = now; // schedules the next ProbeRTT
                    self.restore_cwnd();
                    self.exit_probe_rtt(now);
                }
            }
        }
    }

    /// BBRExitProbeRTT.
    fn exit_probe_rtt(&mut self, now: Time) {
        if self.filled_pipe {
            self.enter_probe_bw(now);
        } else {
            self.mode = Mode::Startup; // BBREnterStartup
        }
    }

    /// BBRHandleRestartFromIdle (section 4.4).
    pub(super) fn handle_restart_from_idle(&mut self, pipe: &Pipe) {
        if pipe.in_flight == Bytes(0) && self.sampler.is_app_limited() {
            self.idle_restart = true;
            if let Mode::ProbeBw { .. } = self.mode {
                self.set_pacing_rate_with_gain(1.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr1;
    use super::*;
    use crate::units::{Duration, Rate};

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A path of 80 Mbps and 100 ms, a million bytes, with quanta of a packet.
    fn sender(mode: Mode) -> Bbr1Sender {
        let mut sender = Bbr1Sender::new(Bbr1::default(), Bytes(1000));
        (sender.btl_bw, sender.rt_prop) = (Rate::from_mbps(80.0), Some(Duration::from_millis(100)));
        (sender.filled_pipe, sender.send_quantum, sender.mode) = (true, 1000.0, mode);
        sender
    }

    #[test]
    fn the_path_is_full_after_three_round_trips_with_less_than_a_quarter_of_growth() {
        let mut sender = Bbr1Sender::new(Bbr1::default(), Bytes(1000));
        let rounds =
            [(10.0, false), (20.0, false), (24.9, false), (25.0, false), (30.0, false), (31.0, false), (31.2, true)];
        for (mbps, full) in rounds {
            sender.btl_bw = Rate::from_mbps(mbps);
            // The bandwidth counts once per round trip, and not in a sample that the application limits.
            for (round_start, app_limited) in [(false, false), (true, true), (true, false)] {
                (sender.round_start, sender.rs.app_limited) = (round_start, app_limited);
                sender.check_full_pipe();
            }
            assert_eq!(sender.filled_pipe, full, "{mbps} Mbps");
        }
        sender.rt_prop = Some(Duration::from_millis(100));
        sender.in_flight = 1e6;
        sender.check_drain(at(0));
        assert_eq!((sender.mode, sender.gains().0 * HIGH_GAIN), (Mode::Drain, 1.0));
        // 31.2 Mbps x 100 ms and three quanta.
        sender.in_flight = 390_000.0 + 3.0 * sender.send_quantum + 1.0;
        sender.check_drain(at(0));
        assert_eq!(sender.mode, Mode::Drain);
        sender.in_flight -= 1.0;
        sender.check_drain(at(0));
        assert!(matches!(sender.mode, Mode::ProbeBw { .. }));
    }

    #[test]
    fn the_cycle_begins_in_any_phase_but_the_second() {
        let mut seen = [0; 8];
        for ms in 0..700 {
            let mut sender = sender(Mode::Drain);
            sender.enter_probe_bw(at(ms));
            let Mode::ProbeBw { cycle_index, .. } = sender.mode else { panic!("{:?}", sender.mode) };
            seen[cycle_index] += 1;
        }
        assert_eq!(seen[1], 0);
        assert!([0, 2, 3, 4, 5, 6, 7].iter().all(|&phase| (60..140).contains(&seen[phase])), "{seen:?}");
    }

    /// A phase lasts for RTprop. That of gain 5/4 goes on until 5/4 of the path's volume were in flight, unless packets
    /// are lost; that of 3/4 ends early once there is no queue.
    #[test]
    fn phases_end_by_time_and_by_what_is_in_flight() {
        for (cycle_index, after_ms, prior_in_flight, lost, ends) in [
            (0, 99, 2e6, 0.0, false),
            (0, 101, 1.252e6, 0.0, false),
            (0, 101, 1.253e6, 0.0, true),
            (0, 101, 1e6, 1000.0, true),
            (1, 50, 1.004e6, 0.0, false),
            (1, 50, 1.003e6, 0.0, true),
            (1, 101, 2e6, 0.0, true),
            (2, 99, 1e6, 0.0, false),
            (2, 101, 1e6, 0.0, true),
        ] {
            let mut sender = sender(Mode::ProbeBw { cycle_index, cycle_stamp: at(0) });
            (sender.prior_in_flight, sender.newly_lost) = (prior_in_flight, lost);
            sender.check_cycle_phase(at(after_ms));
            let next = Mode::ProbeBw { cycle_index: cycle_index + 1, cycle_stamp: at(after_ms) };
            assert_eq!(sender.mode == next, ends, "phase {cycle_index} after {after_ms} ms: {:?}", sender.mode);
        }
    }

    /// ProbeRTT: four packets for 200 ms and a round trip, counted from when no more are in flight.
    #[test]
    fn the_round_trip_time_is_probed_for_200_ms() {
        let mut sender = sender(Mode::ProbeBw { cycle_index: 2, cycle_stamp: at(0) });
        sender.cwnd = 2e6;
        sender.rt_prop_expired = true;
        for (ms, in_flight, round_start, probing) in [
            (0, 1e6, false, true),
            (100, 5000.0, true, true),
            (150, 4000.0, false, true), // 200 ms from here
            (250, 4000.0, true, true),
            (350, 4000.0, false, true),
            (351, 4000.0, false, false),
        ] {
            (sender.in_flight, sender.round_start) = (in_flight, round_start);
            sender.check_probe_rtt(at(ms));
            assert_eq!(matches!(sender.mode, Mode::ProbeRtt(_)), probing, "at {ms} ms");
            sender.rt_prop_expired = false;
            sender.set_cwnd(false);
            assert_eq!(sender.cwnd, if probing { 4000.0 } else { 2e6 }, "at {ms} ms");
        }
        assert_eq!(sender.rt_prop_stamp, at(351));
    }
}
