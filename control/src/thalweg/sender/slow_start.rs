//! Slow start, at the beginning and after timeouts.
//!
//! **On a host that sends bursts**, a stream whose estimate is below its highest rate is sent again, because one
//! interruption of the host within the stream reads as congestion at a rate far below the path's, and probing takes
//! seconds to climb from there.
//!
//! Interrupt coalescing hides gaps that such a host can still time. It may be what ended slow start if both streams had
//! single packets and found about the same rate, and if a packet takes a few quanta at this rate. So a third stream
//! follows, of four bursts of four packets. Its shortest gap is that between two packets at the rate that was found,
//! which the path has shown. There is a third stream, too, if the receiver has seen batches that are farther apart than
//! a quantum; then its shortest gap is the time between two of them. If the path has no more, the third stream finds
//! the same. If it finds more, slow start goes on with the same quantum, and each further stream reaches four times
//! what the one before it found.

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

/// What two streams of single packets found may be interrupt coalescing if a packet takes no more than so many of the
/// host's quanta at this rate. Network cards hand on packets every 20 to 250 us, and the quantum of a host is 50 us or
/// more.
const HIDING_QUANTA: f64 = 16.0;

/// The number of bursts in the streams of slow start whose quantum is longer than the host's. More of such long bursts
/// overflow short buffers, and three show more than their highest rate at times.
const LONG_BURSTS: u16 = 4;

/// The longest stream with which slow start begins after timeouts: three packets.
const LONGEST_STREAM: Duration = Duration::from_millis(20_000);

impl ThalwegSender {
    /// Begins slow start afresh. Each timeout since the last estimate halves the rate, so that already the first
    /// timeout begins at half the initial rate. A stream with higher rates than twice the ceiling would find nothing
    /// that counts, but its packets would be many round trips' share of a slow flow.
    pub(super) fn restart(&mut self) {
        self.estimate = None;
        self.parts.rule.search(1);
        let first = self.below_ceiling(self.parts.initial_rate) * libm::scalbn(1.0, -self.timeouts);
        let first = at_least(first, self.least_first_rate());
        // So many flows may share a slow path that even the first streams are more than it carries.
        let most = (SLOW_START.first >> self.timeouts.min(15)).max(SHORTEST_STREAM);
        let len = self.ceiling.map_or(most, |ceiling| SLOW_START.len_up_to(first, ceiling * 2.0).min(most));
        self.begin_slow_start(len, first, None, Duration::ZERO);
    }

    /// The least rate at which a stream of slow start begins: as its rates double, it takes as long as two packets at
    /// its first rate.
    fn least_first_rate(&self) -> Rate {
        Bytes(2 * self.packet.0).over(LONGEST_STREAM)
    }

    /// A rate, or the ceiling if that is lower.
    pub(super) fn below_ceiling(&self, rate: Rate) -> Rate {
        self.ceiling.filter(|&ceiling| rate > ceiling).unwrap_or(rate)
    }

    /// Sends a stream of slow start: up to `len` bursts whose rates start at `first`, and whose quantum is at least
    /// `quantum`. If it repeats one, `doubted` is the estimate of that.
    fn begin_slow_start(&mut self, len: u16, first: Rate, doubted: Option<Rate>, quantum: Duration) {
        self.outgoing.lengthen(quantum);
        let stream = SLOW_START.stream(self.outgoing.next_id(), len, first, self.outgoing.bursts());
        self.average = stream.average();
        let top = SLOW_START.highest_estimate(&stream, self.outgoing.bursts());
        self.mode = Mode::SlowStart { len, first, top, doubted, quantum };
        self.outgoing.begin_lengthened(stream);
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
        let Mode::SlowStart { len, first, top, doubted, quantum } = self.mode else { return };
        let allowed = self.below_ceiling(estimate);
        let is_low = SlowStart::ends_with(estimate, top);
        let may_doubt = allowed == estimate && is_low && !self.outgoing.bursts().are_packets();
        if let Some(before) = doubted
            && may_doubt
            && let Some(longer) = self.longer_quantum(before, estimate)
        {
            let found = of_two(before, estimate);
            let first = at_least(found * 0.5, self.least_first_rate());
            self.begin_slow_start(LONG_BURSTS, first, Some(found), longer);
        } else if may_doubt && doubted.is_none() {
            self.begin_slow_start(len, first, Some(estimate), quantum);
        } else if allowed < estimate || is_low {
            let found = doubted.map_or(allowed, |before| of_two(self.below_ceiling(before), allowed));
            self.estimate = Some(found);
            // Two streams that found about the same leave less doubt, and after a timeout the ceiling bounds what is
            // found.
            let is_sure = doubted.is_some() || self.ceiling.is_some();
            self.ceiling = None;
            self.ramp_up_to(if is_sure { found } else { found * AFTER_SLOW_START });
        } else {
            let is_longer = quantum > Duration::ZERO;
            let len = if is_longer { LONG_BURSTS } else { SLOW_START.len_after(len) };
            self.begin_slow_start(len, estimate, None, quantum);
        }
        // The sender has usually been idle for a round trip, so that the first packet of the next stream needs no
        // gap. (A late estimate, after a timeout, may end a stream that is being sent: one packet then leaves
        // early.)
        self.outgoing.wait_for_nothing();
    }

    /// The quantum with which a third stream shows whether two, of which one found `before` and its repetition
    /// `estimate`, found how often packets are handed on together, in place of the available bandwidth; none if there is
    /// no reason to think so. There is one such stream in a slow start.
    fn longer_quantum(&self, before: Rate, estimate: Rate) -> Option<Duration> {
        let bursts = self.outgoing.bursts();
        let is_third = !matches!(self.mode, Mode::SlowStart { quantum: Duration::ZERO, .. });
        if is_third || bursts.host_quantum() == Duration::ZERO {
            return None;
        }
        if bursts.batches() > bursts.host_quantum() {
            return Some(bursts.batches());
        }
        let packet = of_two(before, estimate).time_for(self.packet);
        let is_short = packet <= bursts.quantum().scale(HIDING_QUANTA);
        (self.outgoing.burst() == self.packet && are_about_equal(before, estimate) && is_short).then_some(packet)
    }
}

/// Whether two estimates are of the same available bandwidth: the rates of slow start's streams double from burst to
/// burst.
fn are_about_equal(a: Rate, b: Rate) -> bool {
    a <= b * 2.0 && b <= a * 2.0
}

/// Which of two estimates of slow start counts. The rates of its streams double from burst to burst, so two estimates
/// of the same available bandwidth may differ by a factor of four. If they do not differ by more, the lower one is
/// safe. If they do, the lower one comes from an interruption.
fn of_two(a: Rate, b: Rate) -> Rate {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if high > low * 4.0 { high } else { low }
}
