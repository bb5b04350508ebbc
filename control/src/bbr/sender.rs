//! The sender's variables, and the order in which an acknowledgment updates them (section 5.2).

use super::Bbr;
use super::ecn::Marks;
use super::state::{AckPhase, BbrState, ShortTerm};
use crate::delivery_rate::{RateSample, RateSampler};
use crate::max_filter::MaxFilter;
use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Sender, Stamp, State as Shown};
use crate::units::{Bytes, Duration, Rate, Time};

/// The sender. The fields are the draft's variables, in the order of its sections. Volumes are in bytes; a volume that
/// is not limited is infinite, as in the draft.
pub struct BbrSender {
    pub(super) parameters: Bbr,
    /// C.SMSS.
    pub(super) packet: f64,
    /// C.InitialCwnd.
    pub(super) initial_cwnd: f64,
    pub(super) sampler: RateSampler,
    /// RS: the newest rate sample.
    pub(super) rs: RateSample,
    /// RS.newly_acked: data newly acknowledged by the newest acknowledgment.
    pub(super) newly_acked: f64,
    /// C.inflight.
    pub(super) in_flight: f64,
    /// Whether the host is repairing losses.
    pub(super) in_recovery: bool,
    /// C.is_cwnd_limited: whether the window has held packets back in the present round trip, and in the one before.
    pub(super) cwnd_limited: [bool; 2],

    pub(super) state: BbrState,
    pub(super) ack_phase: AckPhase,

    // 5.5.1: packet-timed round trips.
    pub(super) round_count: u64,
    pub(super) round_start: bool,
    pub(super) next_round_delivered: u64,

    // 5.3.1 and 5.3.2: Startup and Drain.
    pub(super) full_bw: Rate,
    pub(super) full_bw_count: u32,
    pub(super) full_bw_now: bool,
    pub(super) full_bw_reached: bool,
    pub(super) loss_ranges_in_round: u32,

    // 5.3.3: ProbeBW.
    pub(super) cycle_count: u64,
    pub(super) cycle_stamp: Time,
    pub(super) bw_probe_wait: Duration,
    pub(super) bw_probe_up_rounds: u32,
    pub(super) rounds_since_probe_up: u64,
    pub(super) is_bw_probe_sample: bool,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,

    // 5.3.4: ProbeRTT and the least round-trip time.
    /// None before the first sample; so is `probe_rtt_min_delay`.
    pub(super) min_rtt: Option<Duration>,
    pub(super) min_rtt_stamp: Time,
    pub(super) probe_rtt_min_delay: Option<Duration>,
    pub(super) probe_rtt_min_stamp: Time,
    pub(super) probe_rtt_expired: bool,
    pub(super) idle_restart: bool,

    // 5.5: the model of the path.
    pub(super) max_bw: Rate,
    pub(super) max_bw_filter: MaxFilter<2>,
    pub(super) bw: Rate,
    /// None while losses have set no limits.
    pub(super) shortterm: Option<ShortTerm>,
    pub(super) bw_latest: Rate,
    pub(super) inflight_longterm: f64,
    pub(super) inflight_latest: f64,
    pub(super) is_loss_in_round: bool,
    pub(super) loss_round_start: bool,
    pub(super) loss_round_delivered: u64,
    pub(super) extra_acked: f64,
    pub(super) extra_acked_filter: MaxFilter<10>,
    pub(super) extra_acked_interval_start: Time,
    pub(super) extra_acked_delivered: f64,
    /// Only if the sender responds to marks.
    pub(super) marks: Option<Marks>,

    // 5.6: the control parameters.
    pub(super) pacing_rate: Rate,
    pub(super) send_quantum: f64,
    pub(super) cwnd: f64,
    pub(super) prior_cwnd: f64,
    pacer: Pacer,
}

impl BbrSender {
    /// OnInit (section 5.2.1), for packets of `packet` bytes.
    pub fn new(parameters: Bbr, packet: Bytes) -> BbrSender {
        let smss = packet.0 as f64;
        let initial_cwnd = parameters.initial_window * smss;
        let marks = parameters.ecn.then(Marks::new);
        let mut sender = BbrSender {
            parameters,
            packet: smss,
            initial_cwnd,
            sampler: RateSampler::new(),
            rs: RateSample::default(),
            newly_acked: 0.0,
            in_flight: 0.0,
            in_recovery: false,
            cwnd_limited: [false; 2],
            state: BbrState::Startup,
            ack_phase: AckPhase::Init,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            full_bw: Rate::ZERO,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            loss_ranges_in_round: 0,
            cycle_count: 0,
            cycle_stamp: Time::ZERO,
            bw_probe_wait: Duration::ZERO,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: None,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            idle_restart: false,
            max_bw: Rate::ZERO,
            max_bw_filter: MaxFilter::new(),
            bw: Rate::ZERO,
            shortterm: None,
            bw_latest: Rate::ZERO,
            inflight_longterm: f64::INFINITY,
            inflight_latest: 0.0,
            is_loss_in_round: false,
            loss_round_start: false,
            loss_round_delivered: 0,
            extra_acked: 0.0,
            extra_acked_filter: MaxFilter::new(),
            extra_acked_interval_start: Time::ZERO,
            extra_acked_delivered: 0.0,
            marks,
            pacing_rate: Rate::ZERO,
            send_quantum: 0.0,
            cwnd: initial_cwnd,
            prior_cwnd: 0.0,
            pacer: Pacer::default(),
        };
        sender.init_pacing_rate(Duration::from_millis(1));
        sender
    }

    /// UpdateModelAndState (section 5.2.3).
    fn update_model_and_state(&mut self, now: Time, ack: &Ack) {
        self.update_latest_delivery_signals();
        self.update_congestion_signals(ack);
        self.update_ack_aggregation(now);
        self.check_full_bw_reached();
        self.check_startup_done();
        self.check_drain_done(now);
        self.update_probe_bw_cycle_phase(now);
        self.update_min_rtt(now, ack.rtt);
        self.check_probe_rtt(now);
        self.advance_latest_delivery_signals();
        self.bound_bw_for_model();
    }

    /// UpdateControlParameters (section 5.2.3).
    fn update_control_parameters(&mut self) {
        self.set_pacing_rate();
        self.set_send_quantum();
        self.set_cwnd();
    }

    /// C.is_cwnd_limited.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }
}

impl Sender for BbrSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        if pipe.in_flight.0 as f64 + self.packet > self.cwnd {
            self.cwnd_limited[0] = true;
            return Next::AfterAck;
        }
        let due = self.pacer.due(self.pacing_rate);
        if due > now { Next::At(due) } else { Next::Now }
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.handle_restart_from_idle(now, pipe);
        self.sampler.on_send(now, size, pipe.in_flight);
        self.pacer.on_send(now, size, self.pacing_rate);
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && self.min_rtt.is_none()
        {
            self.init_pacing_rate(rtt);
        }
        self.in_flight = ack.in_flight.0 as f64;
        self.newly_acked = ack.acked.0 as f64;
        let packet = self.sampler.on_ack(now, ack);
        self.handle_losses(now, ack.lost);
        self.sampler.forget(ack.in_flight);
        if ack.app_limited {
            self.sampler.mark_app_limited(ack.in_flight);
        }
        self.sampler.end_app_limited();
        match packet {
            Some(packet) => self.rs = self.sampler.sample(&packet),
            // A packet was acknowledged that was sent before one that has already arrived: it gives no rate.
            None => self.rs.rate = Rate::ZERO,
        }
        if self.in_recovery && !ack.recovery {
            self.restore_cwnd(); // section 5.6.4.4, upon exiting loss recovery
        }
        self.in_recovery = ack.recovery;
        if ack.acked > Bytes(0) {
            self.update_model_and_state(now, ack);
            self.update_control_parameters();
        }
    }

    fn on_loss(&mut self, _: Time, loss: &Loss) {
        self.save_cwnd();
        match loss {
            Loss::Event => self.in_recovery = true, // OnEnterFastRecovery
            Loss::Timeout => {
                // OnEnterRTO: all packets in flight count as lost.
                self.note_loss();
                self.sampler.forget(Bytes(0));
                self.in_recovery = false;
                self.cwnd = self.packet;
            }
        }
    }

    fn state(&self) -> Shown {
        let phase = match self.state {
            BbrState::Startup => Phase::SlowStart,
            BbrState::Drain { .. } => Phase::Drain,
            BbrState::ProbeBwDown => Phase::ProbeDown,
            BbrState::ProbeBwCruise => Phase::Cruise,
            BbrState::ProbeBwRefill => Phase::Refill,
            BbrState::ProbeBwUp(_) => Phase::ProbeUp,
            BbrState::ProbeRtt(_) => Phase::ProbeRtt,
        };
        Shown { window: Some(self.cwnd / self.packet), rate: Some(self.pacing_rate), phase }
    }
}
