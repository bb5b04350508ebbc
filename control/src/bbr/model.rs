//! The model of the path: what it delivers, and what losses say of how much it holds (section 5.5).

use super::sampler::PacketState;
use super::sender::{BbrSender, BbrState, NO_RATE_LIMIT};
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

    pub(super) fn advance_max_bw_filter(&mut self) {
        self.cycle_count += 1;
    }

    /// UpdateACKAggregation (section 5.5.9): more than the bandwidth explains was acknowledged since the interval
    /// began.
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
        self.sampler.lost += lost.0; // of which nothing is known
    }

    pub(super) fn note_loss(&mut self) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.sampler.delivered;
            self.save_cwnd(); // SaveStateUponLoss
        }
        self.is_loss_in_round = true;
    }

    /// A packet sent while probing for bandwidth is lost: was too much in flight?
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

    /// IsInflightTooHigh, of what was `lost` since so much was in flight.
    pub(super) fn is_inflight_too_high(&self, lost: f64, in_flight: f64) -> bool {
        lost > in_flight * self.parameters.loss_threshold
    }

    /// InflightAtLoss: at which volume did the losses pass the threshold, maybe within the packet before which
    /// `lost_prev` was lost and `inflight_prev` in flight?
    fn inflight_at_loss(&self, lost_prev: f64, inflight_prev: f64) -> f64 {
        let threshold = self.parameters.loss_threshold;
        inflight_prev + (threshold * inflight_prev - lost_prev) / (1.0 - threshold)
    }

    fn handle_inflight_too_high(&mut self, now: Time, in_flight: f64, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false; // once per probe
        if !app_limited {
            self.inflight_longterm = in_flight.max(self.target_inflight() * self.parameters.beta);
        }
        if self.state == BbrState::ProbeBwUp {
            self.start_probe_bw_down(now);
        }
    }

    // Section 5.5.10.3: the short-term model.

    pub(super) fn update_latest_delivery_signals(&mut self) {
        self.bw_latest = larger(self.bw_latest, self.rs.rate);
        self.inflight_latest = self.inflight_latest.max(self.rs.delivered as f64);
        self.loss_round_start = self.rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = self.sampler.delivered;
        }
    }

    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.loss_round_start {
            self.bw_latest = self.rs.rate;
            self.inflight_latest = self.rs.delivered as f64;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = Rate::ZERO;
        self.inflight_latest = 0.0;
    }

    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        if self.loss_round_start {
            self.adapt_lower_bounds_from_congestion();
            self.is_loss_in_round = false;
        }
    }

    /// AdaptLowerBoundsFromCongestion, with InitLowerBounds and LossLowerBounds: once per round trip with a loss.
    fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.is_probing_bw() || !self.is_loss_in_round {
            return;
        }
        if self.bw_shortterm == NO_RATE_LIMIT {
            self.bw_shortterm = self.max_bw;
        }
        if self.inflight_shortterm == f64::INFINITY {
            self.inflight_shortterm = self.cwnd;
        }
        let beta = self.parameters.beta;
        self.bw_shortterm = larger(self.bw_latest, self.bw_shortterm * beta);
        self.inflight_shortterm = self.inflight_latest.max(self.inflight_shortterm * beta);
    }

    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = NO_RATE_LIMIT;
        self.inflight_shortterm = f64::INFINITY;
    }

    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = if self.bw_shortterm < self.max_bw { self.bw_shortterm } else { self.max_bw };
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr;
    use super::*;

    fn machine() -> BbrSender {
        BbrSender::new(Bbr::default(), Bytes(1000))
    }

    /// With the volume found, the share lost is 2 % exactly, if all beyond `inflight_prev` is lost.
    #[test]
    fn the_volume_at_a_loss_is_that_at_which_two_percent_were_lost() {
        let machine = machine();
        for (lost_prev, inflight_prev) in [(0.0, 40_000.0), (1000.0, 99_000.0), (2000.0, 100_000.0)] {
            let volume = machine.inflight_at_loss(lost_prev, inflight_prev);
            let lost = lost_prev + volume - inflight_prev;
            assert!((lost / volume - 0.02).abs() < 1e-12, "{lost} of {volume}");
            assert!(
                machine.is_inflight_too_high(lost + 1.0, volume) && !machine.is_inflight_too_high(lost - 1.0, volume)
            );
        }
    }

    /// Per round trip with a loss, down to what was delivered, but by no more than 0.7; not while probing.
    #[test]
    fn the_short_term_model_gives_way_to_what_is_delivered() {
        let mut machine = machine();
        machine.max_bw = Rate::from_mbps(100.0);
        machine.cwnd = 1e6;
        machine.is_loss_in_round = true;
        machine.bw_latest = Rate::from_mbps(95.0);
        machine.state = BbrState::ProbeBwUp;
        machine.adapt_lower_bounds_from_congestion();
        assert_eq!(machine.bw_shortterm, NO_RATE_LIMIT);
        machine.state = BbrState::ProbeBwCruise;
        for (latest, expected) in [(95.0, 95.0), (80.0, 80.0), (10.0, 56.0)] {
            machine.bw_latest = Rate::from_mbps(latest);
            machine.inflight_latest = latest * 1e4;
            machine.adapt_lower_bounds_from_congestion();
            machine.bound_bw_for_model();
            assert!((machine.bw.as_mbps() - expected).abs() < 1e-9, "{}", machine.bw);
            assert!((machine.inflight_shortterm - expected * 1e4).abs() < 1e-3);
        }
        machine.reset_short_term_model();
        machine.bound_bw_for_model();
        assert_eq!(machine.bw, machine.max_bw);
    }
}
