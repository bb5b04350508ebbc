//! Events, and the integers by which they are ordered.

use control::Time;

/// The kind of an event. The order of the kinds decides between events at the same time, so that a run is always the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// The first packet on a link leaves it.
    Exit = 0,
    /// A flow starts or stops, or its controller has asked for this time.
    Wake = 1,
    /// A retransmission timeout may have passed.
    Timeout = 2,
    /// A delayed acknowledgment may be due.
    DelayedAck = 3,
    /// A source of traffic that does not react sends a packet; or a connection begins or goes on.
    Cross = 4,
    /// The measured interval begins or ends.
    Measure = 5,
    /// A sampling interval ends.
    Sample = 6,
    /// A host's interface passes on packets that it has held.
    Interface = 7,
}

/// All kinds, by their numbers.
pub const KINDS: [Kind; 8] = [
    Kind::Exit,
    Kind::Wake,
    Kind::Timeout,
    Kind::DelayedAck,
    Kind::Cross,
    Kind::Measure,
    Kind::Sample,
    Kind::Interface,
];

/// An event: its kind, and the number of the link, flow, source or interface.
pub type Event = (Kind, u32);

/// Time in the upper 64 bits, kind and number below: the order of these integers is the order of events.
pub type Entry = u128;

/// The entry of `event` at `time`.
pub fn entry(time: Time, (kind, index): Event) -> Entry {
    (time.0 as u128) << 64 | (kind as u128) << 32 | index as u128
}

/// When the event of `entry` is due.
pub fn time_of(entry: Entry) -> Time {
    Time((entry >> 64) as u64)
}

/// The event of `entry`.
pub fn event_of(entry: Entry) -> Event {
    (KINDS[(entry >> 32) as usize & 7], entry as u32)
}
