//! The states of the sender, with the variables that only some of them need.

use crate::units::{Rate, Time};

/// BBR.state (section 5.1.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BbrState {
    Startup,
    Drain {
        /// BBR.drain_start_round: the number of the round trip in which Drain began.
        start_round: u64,
    },
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp(ProbeUp),
    ProbeRtt(ProbeRtt),
}

/// BBR.ack_phase: to which part of a bandwidth probe the packets belong that are being acknowledged (section 2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// How fast a bandwidth probe raises BBR.inflight_longterm (section 5.3.3.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ProbeUp {
    /// BBR.bw_probe_up_rounds: round trips of the present probe, at most 30.
    pub(super) rounds: u32,
    /// BBR.bw_probe_up_acked: bytes acknowledged since the last increase.
    pub(super) acked: f64,
    /// BBR.probe_up_acked_per_inc: bytes to be acknowledged for an increase by one packet.
    pub(super) acked_per_inc: f64,
}

impl ProbeUp {
    /// RaiseInflightLongtermSlope: 1, 2, 4, 8 ... packets in successive round trips, for this window and packet size in
    /// bytes.
    pub(super) fn raise_slope(&mut self, cwnd: f64, packet: f64) {
        let growth_this_round = (1u64 << self.rounds) as f64;
        self.rounds = (self.rounds + 1).min(30);
        self.acked_per_inc = (cwnd / growth_this_round).max(packet);
    }
}

/// The two parts of ProbeRTT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ProbeRtt {
    /// More than BBR.ProbeRTTCwnd is still in flight.
    Draining,
    /// No more than BBR.ProbeRTTCwnd is in flight.
    Holding {
        /// BBR.probe_rtt_done_stamp: when this has lasted for ProbeRTTDuration.
        done: Time,
        /// BBR.probe_rtt_round_done: whether this has lasted for a round trip.
        round_done: bool,
    },
}

/// BBR.bw_shortterm and BBR.inflight_shortterm (section 5.5.10.3): limits that losses have set since the last probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ShortTerm {
    pub(super) bw: Rate,
    /// Bytes.
    pub(super) inflight: f64,
}
