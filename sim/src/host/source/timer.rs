//! The retransmission timer of a source (RFC 6298, section 5).

use crate::host::rto::RetransmissionTimeout;
use control::Time;

/// The timer. The event queue holds it at an earlier time rather than being changed at each acknowledgment.
pub struct RetransmissionTimer {
    /// How long the timer runs.
    pub timeout: RetransmissionTimeout,
    /// When the timer expires; [`Time::MAX`] while it is off.
    expires: Time,
    /// See [`RetransmissionTimer::scheduled`].
    scheduled: Time,
}

/// What the passing of a scheduled time means.
pub enum Passed {
    /// Nothing: the timer was scheduled again since.
    Obsolete,
    /// The timer is off.
    Off,
    /// The timer was restarted, and is to be scheduled for this time.
    Later(Time),
    /// The timer has expired and is off from here on.
    Expired,
}

impl RetransmissionTimer {
    /// A timer that is off.
    pub fn new(timeout: RetransmissionTimeout) -> RetransmissionTimer {
        RetransmissionTimer { timeout, expires: Time::MAX, scheduled: Time::MAX }
    }

    /// Whether the timer is off.
    #[inline(always)]
    pub fn is_off(&self) -> bool {
        self.expires == Time::MAX
    }

    /// When the event queue will next ask for the timer; [`Time::MAX`] if it will not.
    #[inline(always)]
    pub fn scheduled(&self) -> Time {
        self.scheduled
    }

    /// Sections 5.1 to 5.3: the timer is restarted and `expires` at this time, or is off if that is [`Time::MAX`].
    /// Returns when to schedule it, if it is not scheduled for that time or an earlier one.
    #[inline]
    pub fn restart(&mut self, expires: Time) -> Option<Time> {
        self.expires = expires;
        (self.expires < self.scheduled).then(|| {
            self.scheduled = self.expires;
            self.expires
        })
    }

    /// A time has come for which the timer was scheduled.
    pub fn pass(&mut self, now: Time) -> Passed {
        if now != self.scheduled {
            return Passed::Obsolete;
        }
        self.scheduled = Time::MAX;
        if now >= self.expires {
            self.expires = Time::MAX;
            return Passed::Expired;
        }
        if self.is_off() {
            return Passed::Off;
        }
        self.scheduled = self.expires;
        Passed::Later(self.expires)
    }
}
