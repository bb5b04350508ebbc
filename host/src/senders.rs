//! Which sender decides. A connection may begin with one that needs no stamps, and change to another when the peer has
//! agreed to them: at once, or after the routers on the path have been asked.

use alloc::boxed::Box;
use control::{Bytes, Duration, Report, Sender, Stamp, Time};

/// How much longer than an acknowledgment the routers' answer may take: reports travel by themselves.
const REPORT_DELAY: Duration = Duration::from_millis(50);

/// The senders of a connection.
pub(crate) struct Senders {
    current: Box<dyn Sender>,
    /// The sender that decided before packets were stamped.
    before: Option<Box<dyn Sender>>,
    stamps: Stamps,
}

enum Stamps {
    /// Packets carry none.
    Off,
    /// Packets carry `question` until the routers on the path have answered it. Then `sender` decides.
    Asking {
        sender: Box<dyn Sender>,
        question: Stamp,
        /// When it is clear that no router answers.
        until: Time,
    },
    /// Packets carry the current sender's.
    On {
        /// Whether that sender asked the routers and none answered.
        unanswered: bool,
    },
}

impl Senders {
    pub(crate) fn new(first: Box<dyn Sender>) -> Senders {
        Senders { current: first, before: None, stamps: Stamps::Off }
    }

    pub(crate) fn current(&mut self) -> &mut dyn Sender {
        &mut *self.current
    }

    pub(crate) fn shown(&self) -> &dyn Sender {
        &*self.current
    }

    pub(crate) fn is_stamped(&self) -> bool {
        !matches!(self.stamps, Stamps::Off)
    }

    /// The window, in bytes, while it alone decides when packets leave and these carry no stamp, not even a question to
    /// the routers.
    pub(crate) fn window(&self) -> Option<Bytes> {
        if matches!(self.stamps, Stamps::Asking { .. }) { None } else { self.current.window() }
    }

    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(self.stamps, Stamps::On { unanswered: true })
    }

    /// The peer has agreed to stamps: `sender` decides, once it has asked the routers if it does.
    pub(crate) fn stamp(&mut self, now: Time, mut sender: Box<dyn Sender>) {
        match sender.open(now) {
            Stamp::None => self.take_over(sender, false),
            question => self.stamps = Stamps::Asking { sender, question, until: Time::MAX },
        }
    }

    /// A packet leaves for which the current sender wrote `stamp`. Returns what it is to carry.
    pub(crate) fn on_sent(&mut self, now: Time, stamp: Stamp, answer_time: Duration) -> Stamp {
        match &mut self.stamps {
            Stamps::Asking { question, until, .. } => {
                *until = (*until).min(now + answer_time + REPORT_DELAY);
                *question
            }
            Stamps::Off | Stamps::On { .. } => stamp,
        }
    }

    /// Whether the routers were asked and can no longer be expected to answer.
    pub(crate) fn has_waited_enough(&self, now: Time) -> bool {
        matches!(self.stamps, Stamps::Asking { until, .. } if now > until)
    }

    /// If the routers were asked: this is their answer, or there will be none.
    pub(crate) fn on_answer(&mut self, now: Time, rtt: Duration, answer: Option<Report>) {
        match core::mem::replace(&mut self.stamps, Stamps::Off) {
            Stamps::Asking { mut sender, .. } => {
                sender.on_open(now, rtt, answer);
                self.take_over(sender, answer.is_none());
            }
            other => self.stamps = other,
        }
    }

    /// Stamped packets do not get through: the sender from before they were agreed on decides again.
    pub(crate) fn give_stamps_up(&mut self) {
        self.stamps = Stamps::Off;
        if let Some(before) = self.before.take() {
            self.current = before;
        }
    }

    fn take_over(&mut self, sender: Box<dyn Sender>, unanswered: bool) {
        self.before = Some(core::mem::replace(&mut self.current, sender));
        self.stamps = Stamps::On { unanswered };
    }
}
