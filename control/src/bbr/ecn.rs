//! The response to marks of BBR version 3 as Linux has it (`net/ipv4/tcp_bbr.c` of the branch `v3` of
//! github.com/google/bbr, functions named here); the draft leaves it out. Like DCTCP's, it counts on queues that mark
//! early, as in data centres: each round trip with marks lowers the volume in flight by a third of the smoothed share
//! of marked packets, and half of the packets marked mean that a probe went too high.
//!
//! It is off where the round-trip time is above `ecn-max-rtt`.

use super::sender::BbrSender;
use super::state::ShortTerm;
use crate::roles::Ack;
use crate::units::{Bytes, Rate};

/// `bbr_ecn_alpha_gain`: the weight of a round trip's share of marked data in the smoothed share.
const ALPHA_GAIN: f64 = 1.0 / 16.0;
/// `bbr_ecn_factor`: by which part of the smoothed share the volume in flight is lowered.
const FACTOR: f64 = 1.0 / 3.0;
/// `bbr_ecn_thresh`: the share of marked data that is too high.
const THRESHOLD: f64 = 0.5;
/// `bbr_ecn_reprobe_gain`: by which part of the long-term limit the first round trip of a probe raises that limit, if
/// marks have ceased.
const REPROBE_GAIN: f64 = 0.5;
/// `bbr_full_ecn_cnt`: how many round trips in a row with too high a share of marks end Startup.
const FULL_ROUNDS: u32 = 2;

/// What marks have told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    /// The round-trip time was short enough at some time (`ecn_eligible`).
    eligible: bool,
    /// The smoothed share of marked data, from 1 on (`ecn_alpha`).
    alpha: f64,
    /// All data delivered, and all that was marked, when `alpha` was last updated, bytes.
    updated: (u64, u64),
    /// Data that arrived in this round trip was marked (`ecn_in_round`).
    in_round: bool,
    /// The same in this cycle of probing (`ecn_in_cycle`).
    in_cycle: bool,
    /// Packets were lost in this cycle (`loss_in_cycle`).
    loss_in_cycle: bool,
    /// The number of the last round trip with marked data.
    last_round: u64,
    /// Round trips in a row in Startup with too high a share of marks (`startup_ecn_rounds`).
    startup_rounds: u32,
}

impl Marks {
    /// Before any acknowledgment.
    pub(super) fn new() -> Marks {
        Marks {
            eligible: false,
            alpha: 1.0,
            updated: (0, 0),
            in_round: false,
            in_cycle: false,
            loss_in_cycle: false,
            last_round: 0,
            startup_rounds: 0,
        }
    }

    /// The part of `bbr_reset_congestion_signals` for marks.
    pub(super) fn reset(&mut self) {
        (self.in_round, self.in_cycle, self.loss_in_cycle) = (false, false, false);
    }
}

impl BbrSender {
    /// The parts of `bbr_main` for marks that come before the model's: `bbr_update_ecn_alpha` once per round trip, and
    /// the flags.
    pub(super) fn update_marks(&mut self, ack: &Ack) {
        let Some(mut marks) = self.marks else { return };
        if self.round_start {
            marks.eligible |= self.min_rtt.is_some_and(|rtt| rtt <= self.parameters.ecn_max_rtt);
            let (delivered, marked) = (self.sampler.delivered, self.sampler.marked);
            if marks.eligible && delivered > marks.updated.0 {
                let share = (marked - marks.updated.1) as f64 / (delivered - marks.updated.0) as f64;
                marks.alpha += ALPHA_GAIN * (share.min(1.0) - marks.alpha);
                marks.updated = (delivered, marked);
                self.check_startup_high_marks(&mut marks, share);
            }
        }
        if ack.marked > Bytes(0) {
            (marks.in_round, marks.last_round) = (true, self.round_count);
        }
        marks.in_cycle |= self.rs.marked > 0;
        marks.loss_in_cycle |= self.rs.lost > 0;
        self.marks = Some(marks);
    }

    /// `bbr_check_ecn_too_high_in_startup`.
    fn check_startup_high_marks(&mut self, marks: &mut Marks, share: f64) {
        if self.full_bw_reached {
            return;
        }
        marks.startup_rounds = if share >= THRESHOLD { marks.startup_rounds + 1 } else { 0 };
        if marks.startup_rounds >= FULL_ROUNDS {
            self.full_bw_reached = true;
            self.inflight_longterm = self.inflight(self.max_bw, 1.0).max(self.inflight_latest);
        }
    }

    /// `bbr_ecn_lower_bounds`: the short-term limit after a round trip with marks, in which there may be losses, too.
    /// Marks limit the volume in flight and not the rate.
    pub(super) fn bound_by_marks(&mut self, before: Option<ShortTerm>) {
        let Some(marks) = self.marks.filter(|marks| marks.eligible && marks.in_round) else { return };
        let inflight = before.map_or(self.cwnd, |before| before.inflight) * (1.0 - marks.alpha * FACTOR);
        let now = self.shortterm.unwrap_or(ShortTerm { bw: Rate::from_bps(f64::INFINITY), inflight: f64::INFINITY });
        self.shortterm = Some(ShortTerm { inflight: now.inflight.min(inflight), ..now });
    }

    /// The end of a round trip for the short-term model.
    pub(super) fn end_round_of_marks(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.in_round = false;
        }
    }

    /// The part of `bbr_is_inflight_too_high` for marks: more than half of what was delivered while the newest
    /// acknowledged packet was on its way was marked.
    pub(super) fn are_marks_too_high(&self) -> bool {
        self.marks.is_some_and(|marks| marks.eligible)
            && self.rs.marked > 0
            && self.rs.marked as f64 > THRESHOLD * self.rs.delivered as f64
    }

    /// The part of `bbr_check_time_to_probe_bw` for marks: a cycle had marks and no losses, and the marks have ceased.
    /// In Linux, that is when the window may grow again, one round trip after the last mark. Returns with how many
    /// doublings of its step the probe begins.
    pub(super) fn rounds_of_reprobe(&self) -> Option<u32> {
        let marks = self.marks.filter(|marks| marks.eligible && marks.in_cycle && !marks.loss_in_cycle)?;
        if self.in_recovery || self.round_count <= marks.last_round + 1 {
            return None;
        }
        let packets = (self.inflight_longterm / self.packet * REPROBE_GAIN).min((1u64 << 30) as f64);
        Some((packets.max(1.0) as u64).ilog2())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr;
    use super::*;
    use crate::units::Duration;

    fn sender() -> BbrSender {
        let parameters = Bbr { ecn: true, ..Bbr::default() };
        let mut sender = BbrSender::new(parameters, Bytes(1000));
        sender.min_rtt = Some(Duration::from_millis(1));
        sender
    }

    /// A round trip of 100 kB, of which `marked` were marked.
    fn round(sender: &mut BbrSender, marked: u64) {
        sender.round_count += 1;
        sender.round_start = true;
        sender.sampler.delivered += 100_000;
        sender.sampler.marked += marked;
        sender.update_marks(&Ack { marked: Bytes(marked), ..Ack::default() });
    }

    #[test]
    fn the_volume_in_flight_falls_by_a_third_of_the_smoothed_share_per_round_trip() {
        let mut sender = sender();
        sender.full_bw_reached = true;
        sender.cwnd = 300_000.0;
        round(&mut sender, 100_000);
        sender.bound_by_marks(None);
        let first = sender.shortterm.unwrap();
        assert!((first.inflight - 200_000.0).abs() < 1e-6 && first.bw.as_bps() == f64::INFINITY, "alpha begins with 1");
        sender.end_round_of_marks();
        round(&mut sender, 0);
        sender.bound_by_marks(Some(first));
        assert_eq!(sender.shortterm, Some(first), "no marks in this round trip");
        round(&mut sender, 50_000);
        sender.bound_by_marks(Some(first));
        // alpha: 1, then 15/16, then 15/16 of that and a 16th of a half.
        let alpha = 15.0 / 16.0 * 15.0 / 16.0 + 0.5 / 16.0;
        assert!((sender.shortterm.unwrap().inflight - 200_000.0 * (1.0 - alpha / 3.0)).abs() < 1e-6);
    }

    #[test]
    fn two_round_trips_with_half_of_the_packets_marked_end_startup() {
        let mut sender = sender();
        for (marked, full) in [(60_000, false), (40_000, false), (50_000, false), (50_000, true)] {
            round(&mut sender, marked);
            assert_eq!(sender.full_bw_reached, full, "{marked}");
        }
        assert!(sender.inflight_longterm.is_finite());
    }

    #[test]
    fn marks_mean_nothing_on_long_paths_or_without_the_parameter() {
        for (rtt, ecn) in [(6, true), (1, false)] {
            let mut sender = BbrSender::new(Bbr { ecn, ..Bbr::default() }, Bytes(1000));
            sender.min_rtt = Some(Duration::from_millis(rtt));
            for _ in 0..4 {
                round(&mut sender, 100_000);
                sender.bound_by_marks(None);
            }
            assert!(!sender.full_bw_reached && sender.shortterm.is_none() && !sender.are_marks_too_high());
        }
    }

    #[test]
    fn when_marks_cease_the_next_probe_begins_at_once_and_with_a_large_step() {
        let mut sender = sender();
        sender.full_bw_reached = true;
        sender.inflight_longterm = 256_000.0;
        sender.rs.marked = 1000;
        round(&mut sender, 1000);
        assert_eq!(sender.rounds_of_reprobe(), None);
        sender.rs.marked = 0;
        round(&mut sender, 0);
        assert_eq!(sender.rounds_of_reprobe(), None, "one round trip after the mark");
        round(&mut sender, 0);
        assert_eq!(sender.rounds_of_reprobe(), Some(7), "half of 256 packets is 2^7");
    }
}
