//! The sender's variables, and the order in which an acknowledgment updates them (section 3.5).

use super::Bbr1;
use super::machine::Mode;
use super::model::BTL_BW_FILTER_LEN;
use crate::delivery_rate::{RateSample, RateSampler};
use crate::max_filter::MaxFilter;
use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Sender, Stamp, State};
use crate::units::{Bytes, Duration, Rate, Time};

/// How far the repair of losses is (section 4.2.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Nothing is to be repaired.
    None,
    /// A loss was found, and its acknowledgment is still to come.
    Begun,
    /// BBR.packet_conservation: the first round trip.
    Conserving,
    /// The round trips after it.
    Growing,
}

/// The sender. The fields are the draft's variables, in the order of its sections. Volumes are in bytes.
pub struct Bbr1Sender {
    pub(super) parameters: Bbr1,
    /// The size of a full packet.
    pub(super) packet: f64,
    /// InitialCwnd.
    pub(super) initial_cwnd: f64,
    pub(super) sampler: RateSampler,
    /// rs: the newest rate sample.
    pub(super) rs: RateSample,
    /// Acknowledged by the newest acknowledgment.
    pub(super) newly_acked: f64,
    /// Lost, as the newest acknowledgment shows.
    pub(super) newly_lost: f64,
    /// In flight after the newest acknowledgment.
    pub(super) in_flight: f64,
    /// In flight before it.
    pub(super) prior_in_flight: f64,

    // 4.1: the model of the path.
    pub(super) round_count: u64,
    pub(super) round_start: bool,
    pub(super) next_round_delivered: u64,
    pub(super) btl_bw: Rate,
    pub(super) btl_bw_filter: MaxFilter<BTL_BW_FILTER_LEN>,
    /// None before the first sample.
    pub(super) rt_prop: Option<Duration>,
    pub(super) rt_prop_stamp: Time,
    pub(super) rt_prop_expired: bool,

    // 4.2: the control parameters.
    pub(super) pacing_rate: Rate,
    pub(super) send_quantum: f64,
    pub(super) cwnd: f64,
    pub(super) prior_cwnd: f64,
    pub(super) repair: Repair,
    pacer: Pacer,

    // 4.3 and 4.4: the state machine.
    pub(super) mode: Mode,
    pub(super) filled_pipe: bool,
    pub(super) full_bw: Rate,
    pub(super) full_bw_count: u32,
    pub(super) idle_restart: bool,
}

impl Bbr1Sender {
    /// BBRInit, for packets of `packet` bytes.
    pub fn new(parameters: Bbr1, packet: Bytes) -> Bbr1Sender {
        let packet = packet.0 as f64;
        let initial_cwnd = parameters.initial_window * packet;
        let mut sender = Bbr1Sender {
            parameters,
            packet,
            initial_cwnd,
            sampler: RateSampler::new(),
            rs: RateSample::default(),
            newly_acked: 0.0,
            newly_lost: 0.0,
            in_flight: 0.0,
            prior_in_flight: 0.0,
            round_count: 0,
            round_start: false,
            next_round_delivered: 0,
            btl_bw: Rate::ZERO,
            btl_bw_filter: MaxFilter::new(),
            rt_prop: None,
            rt_prop_stamp: Time::ZERO,
            rt_prop_expired: false,
            pacing_rate: Rate::ZERO,
            send_quantum: 0.0,
            cwnd: initial_cwnd,
            prior_cwnd: 0.0,
            repair: Repair::None,
            pacer: Pacer::default(),
            mode: Mode::Startup,
            filled_pipe: false,
            full_bw: Rate::ZERO,
            full_bw_count: 0,
            idle_restart: false,
        };
        sender.init_pacing_rate(Duration::from_millis(1));
        sender
    }

    /// BBRUpdateModelAndState.
    fn update_model_and_state(&mut self, now: Time, rtt: Option<Duration>) {
        self.update_btl_bw();
        self.check_cycle_phase(now);
        self.check_full_pipe();
        self.check_drain(now);
        self.update_rt_prop(now, rtt);
        self.check_probe_rtt(now);
    }

    /// BBRUpdateControlParameters.
    fn update_control_parameters(&mut self, recovering: bool) {
        self.set_pacing_rate_with_gain(self.gains().0); // BBRSetPacingRate
        self.set_send_quantum();
        self.set_cwnd(recovering);
    }
}

impl Sender for Bbr1Sender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        if pipe.in_flight.0 as f64 + self.packet > self.cwnd {
            return Next::AfterAck;
        }
        let due = self.pacer.due(self.pacing_rate);
        if due > now { Next::At(due) } else { Next::Now }
    }

    /// BBROnTransmit.
    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.handle_restart_from_idle(pipe);
        self.sampler.on_send(now, size, pipe.in_flight);
        self.pacer.on_send(now, size, self.pacing_rate);
        Stamp::None
    }

    /// BBRUpdateOnACK.
    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && self.rt_prop.is_none()
        {
            self.init_pacing_rate(rtt);
        }
        self.in_flight = ack.in_flight.0 as f64;
        (self.newly_acked, self.newly_lost) = (ack.acked.0 as f64, ack.lost.0 as f64);
        self.prior_in_flight = self.in_flight + self.newly_acked + self.newly_lost;
        let packet = self.sampler.on_ack(now, ack);
        self.sampler.forget(ack.in_flight); // lost packets are the oldest
        if ack.app_limited {
            self.sampler.mark_app_limited(ack.in_flight);
        }
        self.sampler.end_app_limited();
        match packet {
            Some(packet) => self.rs = self.sampler.sample(&packet),
            // A packet was acknowledged that was sent before one that has already arrived: it gives no rate.
            None => self.rs.rate = Rate::ZERO,
        }
        if ack.acked > Bytes(0) {
            self.update_model_and_state(now, ack.rtt);
            self.update_control_parameters(ack.recovery);
        }
    }

    fn on_loss(&mut self, _: Time, loss: &Loss) {
        self.save_cwnd();
        match loss {
            // Where one recovery follows the other at once, there is but one, as in Linux: packets are conserved in the
            // first round trip alone.
            Loss::Event if self.repair == Repair::None => self.repair = Repair::Begun,
            Loss::Event => {}
            Loss::Timeout => {
                self.sampler.forget(Bytes(0)); // all packets in flight count as lost
                self.repair = Repair::None;
                self.cwnd = self.packet;
            }
        }
    }

    fn state(&self) -> State {
        let phase = match self.mode {
            Mode::Startup => Phase::SlowStart,
            Mode::Drain => Phase::Drain,
            Mode::ProbeBw { cycle_index: 0, .. } => Phase::ProbeUp,
            Mode::ProbeBw { cycle_index: 1, .. } => Phase::ProbeDown,
            Mode::ProbeBw { .. } => Phase::Cruise,
            Mode::ProbeRtt(_) => Phase::ProbeRtt,
        };
        State { window: Some(self.cwnd / self.packet), rate: Some(self.pacing_rate), phase }
    }
}
