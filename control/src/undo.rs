//! Undoing a reduction for a loss event that proves spurious, because packets were late or out of order and not lost
//! (RFC 9438, section 4.9.2; the response is that of RFC 4015).

use crate::roles::Ack;
use crate::units::Bytes;

/// A loss event that may prove spurious, and what it is to be undone to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Undo {
    /// The window before, packets.
    pub cwnd: f64,
    /// ssthresh before, packets.
    pub ssthresh: f64,
    /// Declared lost since.
    lost: Bytes,
    /// Of these, arrived after all.
    spurious: Bytes,
}

impl Undo {
    /// A loss event at a window of `cwnd` packets.
    pub fn new(cwnd: f64, ssthresh: f64) -> Undo {
        Undo { cwnd, ssthresh, lost: Bytes(0), spurious: Bytes(0) }
    }

    /// An acknowledgment arrives, of the loss event or later. Returns whether all that was declared lost has arrived by
    /// now.
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        self.lost += ack.lost;
        self.spurious += ack.spurious;
        self.lost.0 > 0 && self.spurious >= self.lost
    }
}
