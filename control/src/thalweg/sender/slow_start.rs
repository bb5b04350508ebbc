//! Slow start, at the beginning and after timeouts.

use super::{Mode, SHORTEST_STREAM, ThalwegSender, at_least};
use crate::pstream::SlowStart;
use crate::units::{Bytes, Duration, Rate, Time};

/// Slow start as in PACKET-SCALE-2017, but its first stream has as many packets as TCP's initial window (RFC 6928):
/// flows that begin at the same time on a slow path send their first streams before they hear of each other.
pub(in crate::thalweg) const SLOW_START: SlowStart = SlowStart { first: 10, ..SlowStart::PACKET_SCALE_2017 };

/// Slow start ends at this share of the estimate of a single stream, or at this share of its rate if packets are lost.
/// The rates of its streams double from packet to packet, so that an estimate is right within a factor of two. And
/// others that begin at the same time may have found the same.
pub(super) const AFTER_SLOW_START: f64 = 0.5;

/// After a timeout, slow start ends at most at this share of the rate before.
const CEILING: f64 = 0.5;

/// The longest stream with which slow start begins after timeouts: three packets.
const LONGEST_STREAM: Duration = Duration::from_millis(20_000);

impl ThalwegSender {
    /// Begins slow start afresh. Each timeout since the last estimate halves the rate, so that already the first
    /// timeout begins at half the initial rate. A stream with higher rates than twice the ceiling would find nothing
    /// that counts, but its packets would be many round trips' share of a slow flow.
    pub(super) fn restart(&mut self) {
        self.estimate = None;
        self.parts.rule.search(true);
        let first = self.below_ceiling(self.parts.initial_rate) * libm::scalbn(1.0, -self.timeouts);
        // A stream whose rates double takes as long as two packets at its first rate.
        let first = at_least(first, Bytes(2 * self.packet.0).over(LONGEST_STREAM));
        // So many flows may share a slow path that even the first streams are more than it carries.
        let most = (SLOW_START.first >> self.timeouts.min(15)).max(SHORTEST_STREAM);
        let len = self.ceiling.map_or(most, |ceiling| SLOW_START.len_up_to(first, ceiling * 2.0).min(most));
        self.begin_slow_start(len, first, None);
    }

    /// A rate, or the ceiling if that is lower.
    pub(super) fn below_ceiling(&self, rate: Rate) -> Rate {
        self.ceiling.filter(|&ceiling| rate > ceiling).unwrap_or(rate)
    }

    /// Sends a stream of slow start: up to `len` bursts whose rates start at `first`. If it repeats one, `doubted` is
    /// the estimate of that.
    pub(super) fn begin_slow_start(&mut self, len: u16, first: Rate, doubted: Option<Rate>) {
        let stream = SLOW_START.stream(self.outgoing.next_id(), len, first, self.outgoing.bursts());
        self.average = stream.average();
        let top = SLOW_START.highest_estimate(&stream, self.outgoing.bursts());
        self.mode = Mode::SlowStart { len, first, top, doubted };
        self.outgoing.begin(stream);
    }

    /// A retransmission or feedback timeout.
    pub(super) fn time_out(&mut self, now: Time) {
        self.feedback.restart(now);
        self.outgoing.wait_from(now);
        // As TCP's slow-start threshold. If nothing of a stream of slow start came back, the buffer is full, and all
        // flows that begin again once it has drained would find the whole path. A second timeout in a row does not
        // lower the ceiling.
        let is_second = matches!(self.mode, Mode::SlowStart { .. }) && self.ceiling.is_some();
        if self.timeouts == 0 && !is_second {
            self.ceiling = Some(self.at_least(self.average * CEILING));
        }
        self.timeouts += 1;
        // The path may have been away, as a cellular one sometimes is, and all that was found before is out of date.
        self.parts.rule.forget_collapses();
        self.restart();
    }

    /// Slow start ends with an estimate below the highest rate of its stream, and goes on otherwise. If a stream lost
    /// its last packets, its estimate arrives only after the timeout, when slow start has restarted. The sender uses
    /// it; otherwise it would repeat the same lossy burst for ever.
    pub(super) fn on_estimate_in_slow_start(&mut self, estimate: Rate) {
        let Mode::SlowStart { len, first, top, doubted } = self.mode else { return };
        let allowed = self.below_ceiling(estimate);
        let is_low = SlowStart::ends_with(estimate, top);
        if allowed == estimate && is_low && doubted.is_none() && !self.outgoing.bursts().are_packets() {
            // One interruption of the host within the stream reads as congestion at a rate far below the path's,
            // and probing takes seconds to climb from there. So on hosts that send bursts, slow start ends after
            // two such streams in a row.
            self.begin_slow_start(len, first, Some(estimate));
        } else if allowed < estimate || is_low {
            let found = doubted.map_or(allowed, |before| of_two(self.below_ceiling(before), allowed));
            self.estimate = Some(found);
            // Two streams that found about the same leave less doubt, and after a timeout the ceiling bounds what is
            // found.
            let is_sure = doubted.is_some() || self.ceiling.is_some();
            self.ceiling = None;
            self.ramp_up_to(if is_sure { found } else { found * AFTER_SLOW_START });
        } else {
            self.begin_slow_start(SLOW_START.len_after(len), estimate, None);
        }
        // The sender has usually been idle for a round trip, so that the first packet of the next stream needs no
        // gap. (A late estimate, after a timeout, may end a stream that is being sent: one packet then leaves
        // early.)
        self.outgoing.wait_for_nothing();
    }
}

/// Which of two estimates of slow start counts. The rates of its streams double from burst to burst, so two estimates
/// of the same available bandwidth may differ by a factor of four. If they do not differ by more, the lower one is
/// safe. If they do, the lower one comes from an interruption.
fn of_two(a: Rate, b: Rate) -> Rate {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high > low * 4.0 { high } else { low }
}
