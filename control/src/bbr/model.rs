//! The model of the path: its bandwidth, and the volume in flight that it takes without losses (section 5.5).

use super::sender::BbrSender;
use super::state::ShortTerm;
use crate::delivery_rate::PacketState;
use crate::roles::Ack;
use crate::units::{Bytes, Rate, Time};

fn larger(a: Rate, b: Rate) -> Rate {
    if b.as_bps() > a.as_bps() { b } else { a }
}

impl BbrSender {
    /// UpdateRound (section 5.5.1).
    fn update_round(&mut self) {
        self.round_start = self.rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
    }

    /// StartRound.
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.sampler.delivered;
    }

    /// UpdateMaxBw (section 5.5.5).
    fn update_max_bw(&mut self) {
        self.update_round();
        let rate = self.rs.rate;
        if rate > Rate::ZERO && (rate >= self.max_bw || !self.rs.app_limited) {
            self.max_bw = Rate::from_bps(self.max_bw_filter.update(self.cycle_count, rate.as_bps(), 2));
        }
    }

    /// AdvanceMaxBwFilter.
    pub(super) fn advance_max_bw_filter(&mut self) {
        self.cycle_count += 1;
    }

    /// UpdateACKAggregation (section 5.5.9): by how much the data acknowledged since the interval began exceeds what
    /// the bandwidth explains.
    pub(super) fn update_ack_aggregation(&mut self, now: Time) {
        let interval = now.since(self.extra_acked_interval_start).as_secs();
        let mut expected_delivered = self.bw.as_bps() / 8.0 * interval;
        if self.extra_acked_delivered <= expected_delivered {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = now;
            expected_delivered = 0.0;
        }
        self.extra_acked_delivered += self.newly_acked;
        let extra = (self.extra_acked_delivered - expected_delivered).min(self.cwnd);
        let rounds = if self.full_bw_reached { 10 } else { 1 };
        self.extra_acked = self.extra_acked_filter.update(self.round_count, extra, rounds);
    }

    /// HandleLostPacket (section 5.5.10.2) for each packet of `lost` bytes.
    pub(super) fn handle_losses(&mut self, now: Time, mut lost: Bytes) {
        if lost == Bytes(0) {
            return;
        }
        self.note_loss();
        self.loss_ranges_in_round += 1;
        while let Some(packet) = self.sampler.next_lost(&mut lost) {
            if self.is_bw_probe_sample {
                self.handle_lost_probe(now, &packet);
            }
        }
        self.sampler.lost += lost.0; // packets that the sampler has forgotten
    }

    /// NoteLoss.
    pub(super) fn note_loss(&mut self) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.sampler.delivered;
            self.save_cwnd(); // SaveStateUponLoss
        }
        self.is_loss_in_round = true;
    }

    /// The part of HandleLostPacket for a packet that was sent while probing for bandwidth: checks if too much was in
    /// flight.
    fn handle_lost_probe(&mut self, now: Time, packet: &PacketState) {
        let lost = (self.sampler.lost - packet.lost) as f64;
        let (size, in_flight) = (packet.size.0 as f64, packet.in_flight.0 as f64);
        if self.is_inflight_too_high(lost, in_flight) {
            self.handle_inflight_too_high(
                now,
                self.inflight_at_loss(lost - size, in_flight - size),
                packet.app_limited,
            );
        }
    }

    /// IsInflightTooHigh: whether `lost` bytes are too many for a packet that was sent with `in_flight` bytes in
    /// flight.
    pub(super) fn is_inflight_too_high(&self, lost: f64, in_flight: f64) -> bool {
        lost > in_flight * self.parameters.loss_threshold
    }

    /// InflightAtLoss: the volume in flight at which the losses passed the threshold, where `lost_prev` bytes were lost
    /// and `inflight_prev` bytes in flight before the packet.
    fn inflight_at_loss(&self, lost_prev: f64, inflight_prev: f64) -> f64 {
        let threshold = self.parameters.loss_threshold;
        inflight_prev + (threshold * inflight_prev - lost_prev) / (1.0 - threshold)
    }

    /// HandleInflightTooHigh.
    pub(super) fn handle_inflight_too_high(&mut self, now: Time, in_flight: f64, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false; // once per probe
        if !app_limited {
            self.inflight_longterm = in_flight.max(self.target_inflight() * self.parameters.beta);
        }
        if self.is_in_probe_bw_up() {
            self.start_probe_bw_down(now);
        }
    }

    // Section 5.5.10.3: the short-term model.

    /// UpdateLatestDeliverySignals.
    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.bw_latest = larger(self.bw_latest, self.rs.rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered as f64);
        self.loss_round_start = self.rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.sampler.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round_start {
            self.bw_latest = self.rs.rate;
            self.inflight_latest = self.rs.delivered as f64;
        }
    }

    /// ResetCongestionSignals.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = Rate::ZERO;
        self.inflight_latest = 0.0;
        if let Some(marks) = &mut self.marks {
            marks.reset();
        }
    }

    /// UpdateCongestionSignals.
    pub(super) fn update_congestion_signals(&mut self, ack: &Ack) {
        self.update_max_bw();
        self.update_marks(ack);
        if self.loss_round_start {
            self.adapt_lower_bounds_from_congestion();
            self.is_loss_in_round = false;
            self.end_round_of_marks();
        }
    }

    /// AdaptLowerBoundsFromCongestion: once per round trip with a loss, or with marks.
    fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.is_probing_bw() {
            return;
        }
        let before = self.shortterm;
        if self.is_loss_in_round {
            self.bound_by_losses();
        }
        self.bound_by_marks(before);
    }

    /// InitLowerBounds and LossLowerBounds.
    fn bound_by_losses(&mut self) {
        let unlimited = ShortTerm { bw: self.max_bw, inflight: self.cwnd };
        let ShortTerm { bw, inflight } = self.shortterm.unwrap_or(unlimited);
        let beta = self.parameters.beta;
        // Marks leave the rate without a limit.
        let bw = if bw < self.max_bw { bw } else { self.max_bw };
        self.shortterm = Some(ShortTerm {
            bw: larger(self.bw_latest, bw * beta),
            inflight: self.inflight_latest.max(inflight * beta),
        });
    }

    /// ResetShortTermModel.
    pub(super) fn reset_short_term_model(&mut self) {
        self.shortterm = None;
    }

    /// BoundBWForModel.
    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = match self.shortterm {
            Some(ShortTerm { bw, .. }) if bw < self.max_bw => bw,
            _ => self.max_bw,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr;
    use super::super::state::BbrState;
    use super::*;

    fn sender() -> BbrSender {
        BbrSender::new(Bbr::default(), Bytes(1000))
    }

    /// At the volume found, the share lost is exactly 2 % if all beyond `inflight_prev` is lost.
    #[test]
    fn the_volume_at_a_loss_is_that_at_which_two_percent_are_lost() {
        let sender = sender();
        for (lost_prev, inflight_prev) in [(0.0, 40_000.0), (1000.0, 99_000.0), (2000.0, 100_000.0)] {
            let volume = sender.inflight_at_loss(lost_prev, inflight_prev);
            let lost = lost_prev + volume - inflight_prev;
            assert!((lost / volume - 0.02).abs() < 1e-12, "{lost} of {volume}");
            assert!(
                sender.is_inflight_too_high(lost + 1.0, volume) && !sender.is_inflight_too_high(lost - 1.0, volume)
            );
        }
    }

    /// Each round trip with a loss lowers the limits to what was delivered, but by a factor of no less than 0.7. While
    /// probing, they are not lowered.
    #[test]
    fn the_short_term_model_falls_to_what_is_delivered() {
        let mut sender = sender();
        sender.max_bw = Rate::from_mbps(100.0);
        sender.cwnd = 1e6;
        sender.is_loss_in_round = true;
        sender.bw_latest = Rate::from_mbps(95.0);
        sender.state = BbrState::ProbeBwRefill;
        sender.adapt_lower_bounds_from_congestion();
        assert_eq!(sender.shortterm, None);
        sender.state = BbrState::ProbeBwCruise;
        for (latest, expected) in [(95.0, 95.0), (80.0, 80.0), (10.0, 56.0)] {
            sender.bw_latest = Rate::from_mbps(latest);
            sender.inflight_latest = latest * 1e4;
            sender.adapt_lower_bounds_from_congestion();
            sender.bound_bw_for_model();
            assert!((sender.bw.as_mbps() - expected).abs() < 1e-9, "{}", sender.bw);
            assert!((sender.shortterm.unwrap().inflight - expected * 1e4).abs() < 1e-3);
        }
        sender.reset_short_term_model();
        sender.bound_bw_for_model();
        assert_eq!(sender.bw, sender.max_bw);
    }
}
