//! What happened on a link.

use control::{Duration, Time};

/// What happened on a link since its beginning. The difference of two copies is what happened between them, except for
/// `max_queue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The time up to which these are counted.
    pub at: Time,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets among those that the queue dropped before its buffer was full.
    pub early: u64,
    /// Packets that the queue marked in place of dropping them.
    pub marked: u64,
    /// Packets lost to transmission errors.
    pub lost: u64,
    /// Packets in which a bit was flipped.
    pub corrupted: u64,
    /// Packets that took a detour, on which later packets overtook them.
    pub reordered: u64,
    /// Packets that arrived twice.
    pub duplicated: u64,
    /// How long the transmitter was busy.
    pub busy: Duration,
    /// Integral over time of the number of packets waiting, in packet-picoseconds.
    pub waiting: u128,
    /// The most packets that waited since [`Link::observe`](super::Link::observe) last returned a copy.
    pub max_queue: u64,
}
