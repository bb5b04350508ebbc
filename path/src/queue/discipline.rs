//! What every queue discipline consists of: the queue, and its parameters.

use super::buffer::Buffer;
use crate::{Ecn, Packet};
use control::{Bytes, Duration, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A queue in front of a link's transmitter. It is told the time, which never decreases from call to call.
pub trait Queue<P>: Debug + Send {
    /// `packet` arrives. It waits or is given to `drops`, and packets that already wait may be dropped for it. Each
    /// packet that is dropped is given to `drops` once. The transmitter has been idle for `idle`, which is zero
    /// whenever packets wait.
    fn enqueue(&mut self, now: Time, packet: &P, idle: Duration, drops: &mut Drops<P>);

    /// The transmitter takes the next packet; none if the queue is empty or all its packets went to `drops` instead.
    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P>;

    /// Number of packets that wait.
    fn len(&self) -> u64;

    /// Bytes that wait.
    fn bytes(&self) -> Bytes;

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The packets that a queue has dropped, and the number of those that it has marked instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drops<P> {
    /// Packets dropped because the buffer was full.
    pub full: u64,
    /// Packets that the discipline dropped although the buffer was not full.
    pub early: u64,
    /// Packets that the discipline marked in place of dropping them.
    pub marked: u64,
    /// The dropped packets themselves, for callers that take them out; none if they are not kept.
    pub kept: Option<Vec<P>>,
}

impl<P> Default for Drops<P> {
    fn default() -> Drops<P> {
        Drops { full: 0, early: 0, marked: 0, kept: None }
    }
}

impl<P: Copy> Drops<P> {
    /// Drops `packet` because the buffer is full. It is the packet that arrives, or one that waits and makes room.
    pub fn drop_full(&mut self, packet: &P) {
        self.full += 1;
        self.keep(packet);
    }

    /// Drops `packet` because the discipline decided so, although the buffer has room.
    pub fn drop_early(&mut self, packet: &P) {
        self.early += 1;
        self.keep(packet);
    }

    /// Signals congestion with `packet`, although the buffer has room: marks it if it is ECN-capable, or else drops it.
    /// Returns whether the packet is marked and goes on.
    #[must_use]
    pub fn mark_or_drop(&mut self, packet: &mut P) -> bool
    where
        P: Packet,
    {
        let capable = packet.ecn().is_capable();
        if capable {
            self.mark(packet);
        } else {
            self.drop_early(packet);
        }
        capable
    }

    /// Marks `packet`, which is ECN-capable. One that another queue has marked before does not count again.
    pub fn mark(&mut self, packet: &mut P)
    where
        P: Packet,
    {
        self.marked += u64::from(packet.ecn() != Ecn::Ce);
        packet.mark();
    }

    fn keep(&mut self, packet: &P) {
        if let Some(kept) = &mut self.kept {
            kept.push(*packet);
        }
    }
}

/// The parameters of a queue discipline: a plain struct whose `Default` is the paper's choice. A parameter that is
/// `None` by default follows from the link.
pub trait Queueing: Default + Serialize + for<'de> Deserialize<'de> + JsonSchema {
    /// What is wrong with the parameters of a queue at `site`; empty if they make sense.
    fn check(&self, site: &Site) -> Vec<Mistake>;

    /// An empty queue at `site`. Everything random in it follows from `seed`.
    fn queue<P: Packet>(&self, site: &Site, seed: u64) -> Box<dyn Queue<P>>;
}

/// The link that a queue is at. Parameters that are not given can follow from it. A queue is not told when the link's
/// capacity changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Site {
    /// The link's capacity.
    pub rate: Rate,
    /// How much the queue holds, without the packet in transmission.
    pub buffer: Buffer,
    /// Size of a full packet on the link.
    pub packet: Bytes,
}

/// What is wrong with a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The parameter's name.
    pub key: String,
    /// What is wrong, and what to write instead.
    pub problem: String,
}

impl Mistake {
    /// The mistakes among `checks`. Each check is a parameter's name as scenarios write it, a condition that holds when
    /// the value is right, and the text for when it is not. The text follows the name in the error message. So it
    /// begins with a verb, or with the value and a verb, and says after a semicolon what to write: "is zero; write one
    /// like \"100 ms\"".
    pub fn unless<const N: usize>(checks: [(&str, bool, String); N]) -> Vec<Mistake> {
        let wrong = checks.into_iter().filter(|(_, right, _)| !right);
        wrong.map(|(key, _, problem)| Mistake { key: key.into(), problem }).collect()
    }
}
