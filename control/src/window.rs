//! What all window protocols share (RFC 5681): slow start, transmission clocked by acknowledgments, one reduction per
//! loss event.
//!
//! A protocol adds only its [`WindowRule`]: by how much the window grows per acknowledged packet, and what a loss
//! leaves of it. Rules that measure delays or rates see every acknowledgment. What they decide once per round trip is
//! spread over the acknowledgments of the next round trip, so that no window jumps.
//!
//! ```text
//!   +-----------+  window reaches ssthresh,   +---------------------+
//!   | SlowStart | --------------------------> | CongestionAvoidance |
//!   +-----------+  or the rule ends it        +---------------------+
//!              ^                               ^
//!    repaired, |                               | repaired,
//! window below |                               | window not below
//!     ssthresh |                               | ssthresh
//!              |  +-------------------------+  |
//!   loss event +--|                         |--+
//!   ------------->|         Recovery        |
//!   in any state  +-------------------------+
//!                              ^ first acknowledgment (*)
//!   timeout       +-------------------------+
//!   ------------->|         Backoff         |
//!   in any state  +-------------------------+
//! ```
//! (*) If the host has nothing left to repair, this acknowledgment ends the recovery at once.
//!
//! A sender may have [`Extensions`]: a slow start that ends before the queue overflows, a reduction in proportion to
//! what arrives, and reductions that are undone if nothing was lost.

use crate::extensions::{Extended, Extensions, Repair};
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Sender, Stamp, State as Shown};
use crate::units::{Bytes, Time};
use alloc::boxed::Box;

/// A window growth rule: how one window protocol differs from the others. Windows are in packets.
pub trait WindowRule: Send {
    /// By how much a window of `w` grows for one acknowledged packet in congestion avoidance. If negative, it shrinks.
    fn increase(&mut self, now: Time, w: f64, ack: &Ack) -> f64;

    /// The window after a loss event at a window of `w`.
    fn decrease(&mut self, now: Time, w: f64) -> f64;

    /// The window after a reaction to marks at a window of `w`: as after a loss (RFC 3168, section 6.1.2; RFC 9438,
    /// section 4.6), unless the protocol tells them apart (RFC 8511).
    fn mark(&mut self, now: Time, w: f64) -> f64 {
        self.decrease(now, w)
    }

    /// Marks are frequent, and their share is the signal (RFC 8257, RFC 9331). So the window goes on growing after a
    /// reaction to marks, and a loss in the same window of data takes what a loss takes. Otherwise a mark stands for a
    /// loss, and the window is reduced once for all losses and marks in a window of data.
    const SCALABLE: bool = false;

    /// The slow start threshold after a timeout at a window of `w`.
    fn timeout(&mut self, now: Time, w: f64) -> f64 {
        self.decrease(now, w)
    }

    /// By how much a window of `w` grows for one acknowledged packet in slow start, 0 to 1. None ends slow start.
    fn slow_start(&mut self, _w: f64) -> Option<f64> {
        Some(1.0) // RFC 5681, equation 2
    }

    /// What the protocol does at a window of `w` in congestion avoidance, for traces and plots.
    fn phase(&self, _w: f64) -> Phase {
        Phase::CongestionAvoidance
    }

    /// The window begins again after an idle period (RFC 5681, section 4.1).
    fn on_idle(&mut self) {}

    /// Sees each acknowledgment before it changes the window `w`, also while losses are repaired.
    fn observe(&mut self, _now: Time, _w: f64, _ack: &Ack) {}

    /// A loss event or a timeout follows that may prove spurious: the rule remembers what [`WindowRule::decrease`] or
    /// [`WindowRule::timeout`] will change.
    fn remember(&mut self) {}

    /// The loss event or timeout was spurious: the rule is again as it was at the last [`WindowRule::remember`].
    fn restore(&mut self) {}
}

/// The sender of a window protocol.
pub struct Window<R> {
    rule: R,
    /// Size of a full packet.
    packet: Bytes,
    /// Congestion window, packets.
    cwnd: f64,
    /// The window at the start, packets (RFC 5681's IW).
    initial: f64,
    state: State,
    /// When marks last reduced the window, until a packet that was sent since then is acknowledged (RFC 3168's CWR);
    /// [`Time::MAX`] otherwise.
    reduced: Time,
    extended: Option<Box<Extended>>,
}

/// Where in RFC 5681's state machine the sender is. ssthresh is in packets.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The window is below ssthresh and grows towards it. ssthresh is infinite before the first loss ("arbitrarily
    /// high").
    SlowStart { ssthresh: f64 },
    /// The window has reached ssthresh, and grows by the protocol's rule. ssthresh matters again after an idle period.
    CongestionAvoidance { ssthresh: f64 },
    /// Losses are being repaired, and the window does not grow.
    Recovery { ssthresh: f64 },
    /// The retransmission timeout has expired, and nothing has been acknowledged since.
    Backoff { ssthresh: f64 },
}

/// The least that a loss leaves of ssthresh, packets (RFC 5681, equation 4).
const LEAST_SSTHRESH: f64 = 2.0;

impl<R: WindowRule> Window<R> {
    /// A sender of packets of this size whose first window is `initial` packets.
    pub fn new(rule: R, initial: f64, packet: Bytes) -> Window<R> {
        let state = State::SlowStart { ssthresh: f64::INFINITY };
        Window { rule, packet, cwnd: initial, initial, state, reduced: Time::MAX, extended: None }
    }

    /// The same sender, with extensions.
    pub fn extended(self, extensions: Extensions) -> Window<R> {
        Window { extended: Extended::new(extensions).map(Box::new), ..self }
    }

    /// Goes on with a window of `cwnd` packets, in slow start up to no more than `ssthresh`, while no loss is being
    /// repaired. The time since the last loss does not count for the rule, as after an idle period.
    pub fn resume(&mut self, cwnd: f64, ssthresh: f64) {
        if let Some(extended) = &mut self.extended {
            extended.begin_again(ssthresh);
        }
        (self.cwnd, self.state) = (cwnd, growing(cwnd, ssthresh));
        self.reduced = Time::MAX;
        self.rule.on_idle();
    }

    /// Whether the window is below its slow-start threshold, and no loss is being repaired.
    pub fn is_in_slow_start(&self) -> bool {
        matches!(self.state, State::SlowStart { .. })
    }

    /// Whether this is slow start without a threshold, and nothing has slowed it down.
    pub fn is_unstopped(&self) -> bool {
        matches!(self.state, State::SlowStart { ssthresh: f64::INFINITY })
            && !self.extended.as_ref().is_some_and(|extended| extended.has_seen_queue())
    }

    /// The window at which slow start ends; in congestion avoidance the present one, at which it has ended.
    fn ssthresh(&self) -> f64 {
        match self.state {
            State::SlowStart { ssthresh } | State::Recovery { ssthresh } | State::Backoff { ssthresh } => ssthresh,
            State::CongestionAvoidance { .. } => self.cwnd,
        }
    }

    /// Packets are newly reported as marked, or the window was reduced for marks and still is for the same window of
    /// data.
    #[cold]
    fn on_marks(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt
            && now - rtt >= self.reduced
        {
            self.reduced = Time::MAX;
        }
        // While losses are repaired, the window is reduced already.
        if ack.marked.0 != 0 && self.reduced == Time::MAX && !ack.recovery {
            let ssthresh = self.rule.mark(now, self.cwnd).max(LEAST_SSTHRESH);
            self.cwnd = self.cwnd.min(ssthresh);
            self.state = growing(self.cwnd, ssthresh);
            self.reduced = now;
        }
        if !ack.recovery && !ack.app_limited && (R::SCALABLE || self.reduced == Time::MAX) {
            self.grow(now, ack);
        }
    }

    /// What the extensions do at an acknowledgment, before anything else.
    fn extend(&mut self, now: Time, ack: &Ack) {
        let Some(extended) = &mut self.extended else { return };
        if ack.spurious_timeout
            && let Some((cwnd, ssthresh)) = extended.undo_timeout()
        {
            self.rule.restore();
            self.cwnd = self.cwnd.max(cwnd);
            self.state = growing(self.cwnd, ssthresh);
            // This acknowledgment grows the window, too: in slow start, by what its watch allows below.
        }
        match self.state {
            State::SlowStart { .. } => {
                if extended.ends_slow_start(now, ack, self.cwnd, self.packet) {
                    self.state = State::CongestionAvoidance { ssthresh: self.cwnd };
                }
            }
            State::Recovery { ssthresh } => match extended.on_ack_in_recovery(now, ack, ssthresh, self.packet) {
                Repair::Keep => {}
                Repair::Window(cwnd) => self.cwnd = cwnd,
                Repair::Undo { cwnd, ssthresh } => {
                    self.rule.restore();
                    self.cwnd = self.cwnd.max(cwnd);
                    self.state = growing(self.cwnd, ssthresh);
                }
                Repair::Lose => {
                    self.on_loss(now, &Loss::Event);
                    self.extend(now, ack);
                }
            },
            State::CongestionAvoidance { .. } | State::Backoff { .. } => {}
        }
    }

    /// Reacts to an acknowledgment, with extensions.
    #[cold]
    fn react_extended(&mut self, now: Time, ack: &Ack) {
        self.extend(now, ack);
        self.react(now, ack);
    }

    /// Reacts to an acknowledgment.
    #[inline(always)]
    fn react(&mut self, now: Time, ack: &Ack) {
        self.state = match self.state {
            _ if ack.recovery => State::Recovery { ssthresh: self.ssthresh() },
            State::CongestionAvoidance { .. } => self.state, // a window that shrinks does not return to slow start
            _ => growing(self.cwnd, self.ssthresh()),
        };
        self.rule.observe(now, self.cwnd, ack);
        if (ack.marked.0 != 0) | (self.reduced != Time::MAX) {
            return self.on_marks(now, ack);
        }
        if !ack.recovery && !ack.app_limited {
            self.grow(now, ack);
        }
    }

    /// The window grows by an acknowledgment of new data.
    #[inline(always)]
    fn grow(&mut self, now: Time, ack: &Ack) {
        // An acknowledgment that covers more than the window, as when it fills the hole that a timeout left, does not
        // mean that so much was delivered at once: the window no more than doubles.
        let acked = ack.packets(self.packet).min(self.cwnd);
        let mut avoiding = acked;
        if let State::SlowStart { ssthresh } = self.state {
            // Slow start goes up to ssthresh and not past it.
            let slow = acked.min(ssthresh - self.cwnd);
            if slow > 0.0 {
                match self.rule.slow_start(self.cwnd) {
                    Some(growth) => {
                        let share = self.extended.as_ref().map_or(1.0, |extended| extended.slow_growth);
                        self.cwnd += slow * growth * share;
                        self.state = growing(self.cwnd, ssthresh);
                        avoiding = acked - slow;
                    }
                    None => self.state = State::CongestionAvoidance { ssthresh: self.cwnd },
                }
            }
        }
        if avoiding > 0.0 {
            self.cwnd = (self.cwnd + avoiding * self.rule.increase(now, self.cwnd, ack)).max(1.0);
            if let State::SlowStart { ssthresh } = self.state {
                self.state = State::CongestionAvoidance { ssthresh };
            }
        }
    }
}

/// The state in which a window of `cwnd` grows.
fn growing(cwnd: f64, ssthresh: f64) -> State {
    if cwnd < ssthresh { State::SlowStart { ssthresh } } else { State::CongestionAvoidance { ssthresh } }
}

impl<R: WindowRule> Sender for Window<R> {
    fn next(&mut self, _: Time, pipe: &Pipe) -> Next {
        if (pipe.in_flight + self.packet).0 as i64 as f64 <= self.cwnd * self.packet.0 as i64 as f64 {
            Next::Now
        } else {
            Next::AfterAck
        }
    }

    fn window(&self) -> Option<Bytes> {
        Some(Bytes((self.cwnd * self.packet.0 as f64) as u64))
    }

    fn frto(&self) -> bool {
        self.extended.as_ref().is_some_and(|extended| extended.has_frto())
    }

    fn on_send(&mut self, _: Time, size: Bytes, _: &Pipe) -> Stamp {
        if let Some(extended) = &mut self.extended {
            extended.on_send(size, self.packet);
        }
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if self.extended.is_some() {
            return self.react_extended(now, ack);
        }
        self.react(now, ack);
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        let before = self.ssthresh();
        let again = matches!(self.state, State::Backoff { .. });
        if let Some(extended) = &mut self.extended
            && extended.before_loss(loss, again, self.cwnd, before)
        {
            self.rule.remember();
        }
        let ssthresh = match (self.state, loss) {
            // RFC 5681, section 3.1: a retransmission that times out again does not lower ssthresh again.
            (State::Backoff { ssthresh }, _) => ssthresh,
            // RFC 3168, section 6.1.2: one reduction for the losses and the marks of a window of data.
            (_, Loss::Event) if self.reduced != Time::MAX && !R::SCALABLE => self.ssthresh().max(LEAST_SSTHRESH),
            (_, Loss::Event) => self.rule.decrease(now, self.cwnd).max(LEAST_SSTHRESH),
            (_, Loss::Timeout) => self.rule.timeout(now, self.cwnd).max(LEAST_SSTHRESH),
        };
        if *loss == Loss::Timeout {
            self.reduced = Time::MAX;
        } else if let Some(extended) = &mut self.extended
            && ssthresh < self.cwnd
        {
            extended.after_loss_event(now, ssthresh);
        }
        (self.state, self.cwnd) = match loss {
            Loss::Event => (State::Recovery { ssthresh }, self.cwnd.min(ssthresh)),
            Loss::Timeout => (State::Backoff { ssthresh }, 1.0),
        };
    }

    /// RFC 5681, section 4.1: the restart window is RW = min(IW, cwnd), and ssthresh stays as it is.
    fn on_idle(&mut self, _: Time) {
        let ssthresh = match self.state {
            // **Decided**: slow start does not go past the window before, which protocols that react to delay may have
            // reduced below ssthresh.
            State::CongestionAvoidance { ssthresh } => ssthresh.min(self.cwnd),
            _ => self.ssthresh(),
        };
        self.cwnd = self.cwnd.min(self.initial);
        self.state = growing(self.cwnd, ssthresh);
        if let Some(extended) = &mut self.extended {
            extended.begin_again(ssthresh);
        }
        self.rule.on_idle();
    }

    fn state(&self) -> Shown {
        let phase = match self.state {
            State::SlowStart { .. } => Phase::SlowStart,
            State::CongestionAvoidance { .. } => self.rule.phase(self.cwnd),
            State::Recovery { .. } | State::Backoff { .. } => Phase::Recovery,
        };
        Shown { window: Some(self.cwnd), rate: None, phase }
    }

    fn slow_start_threshold(&self) -> Option<f64> {
        let (State::SlowStart { ssthresh }
        | State::CongestionAvoidance { ssthresh }
        | State::Recovery { ssthresh }
        | State::Backoff { ssthresh }) = self.state;
        Some(ssthresh)
    }
}

#[cfg(test)]
pub(crate) mod tests;
