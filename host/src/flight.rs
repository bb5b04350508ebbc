//! What is in flight: sent, and neither acknowledged, declared lost nor given up after a timeout.

use control::{Bytes, Time};

/// Bytes in flight. Packets are named by the time at which the stack counts them as sent.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Sent, and neither acknowledged nor declared lost by the stack.
    outstanding: Bytes,
    /// Of these, what was given up after a timeout: most of it is probably lost, but the stack waits for it still.
    given_up: Bytes,
    /// When the last packet that was given up was sent.
    given_up_until: Option<Time>,
    /// When the last packet was sent.
    last_sent: Option<Time>,
}

impl Flight {
    pub(crate) fn in_flight(&self) -> Bytes {
        self.outstanding - self.given_up
    }

    /// Bytes that were given up and that the stack still counts as in flight.
    pub(crate) fn given_up(&self) -> Bytes {
        self.given_up
    }

    /// Whether a packet that was sent then was given up.
    pub(crate) fn was_given_up(&self, sent: Time) -> bool {
        self.given_up_until.is_some_and(|until| sent <= until)
    }

    pub(crate) fn on_sent(&mut self, sent: Option<Time>, size: Bytes) {
        self.outstanding += size;
        self.last_sent = sent.or(self.last_sent);
    }

    /// A packet is acknowledged. What is outstanding after the acknowledgment, [`Flight::set_outstanding`] says.
    pub(crate) fn on_acked(&mut self, sent: Time, size: Bytes) {
        if self.was_given_up(sent) {
            self.given_up -= size;
        }
    }

    /// Packets of `size` bytes together are declared lost, the last of them sent at `sent`. Returns how many of these
    /// bytes had not been given up.
    pub(crate) fn on_lost(&mut self, sent: Time, size: Bytes) -> Bytes {
        self.outstanding -= size;
        if self.was_given_up(sent) {
            self.given_up -= size;
            return Bytes(0);
        }
        // When a later packet is lost, all before it are acknowledged or lost: what was still given up is among these.
        size - core::mem::take(&mut self.given_up)
    }

    /// The stack says how much is outstanding.
    pub(crate) fn set_outstanding(&mut self, outstanding: Bytes) {
        self.outstanding = outstanding;
        self.given_up = self.given_up.min(outstanding);
    }

    /// Everything in flight is given up.
    pub(crate) fn give_up(&mut self) {
        self.given_up = self.outstanding;
        self.given_up_until = self.last_sent;
    }
}
