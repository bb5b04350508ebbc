//! F-RTO (RFC 5682, section 3.1, with selective acknowledgments): whether a retransmission timeout was spurious,
//! because packets or acknowledgments were late and not lost. What the timeout gave up is in flight again then, and the
//! controller is told ([`control::Ack::spurious_timeout`]).
//!
//! ```text
//!   +-----+  timeout, and no loss   +---------+  first segment arrives  +---------+  segment arrives that   +----------+
//!   | Off | ----------------------> | Expired | ----------------------> | Probing | ----------------------> | Spurious |
//!   +-----+  is being repaired      +---------+                         +---------+  was not sent again     +----------+
//! ```
//! From `Expired`, too, the arrival of a segment that was not sent again leads to `Spurious`, as in Linux. Any other
//! acknowledgment leads to `Off`, and so does a timeout in `Probing`. What was given up is repaired then.

/// What a source knows of its last retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frto {
    /// The controller does not want to know whether timeouts are spurious, or acknowledgments are not selective.
    Unused,
    /// There was no timeout, or it counts.
    Off,
    /// The timer has expired, once or more, and nothing has been acknowledged since (step 1).
    Expired,
    /// The first segment has arrived, sent again or not: new data is sent in place of repairs (step 2b).
    Probing,
    /// The timeout was spurious, and the controller is to be told with the present acknowledgment (step 3b).
    Spurious,
}
