//! Connections that come and go: what each of them says, and in which order they arrive.

use control::{Bytes, Duration, Time};
use std::fmt;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// It opens the connection.
    #[default]
    Initiator,
    /// It is there already.
    Acceptor,
}

impl Side {
    /// 0 or 1, for what there is of both.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What an application hands to its TCP at once (Tmix: an application data unit).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who sends it.
    pub from: Side,
    /// How long it waits before it does: since the message before has arrived, if that was the other side's, and since
    /// that was handed over, if it was its own. The first one: since the connection was opened.
    pub wait: Duration,
    /// How much.
    pub size: Bytes,
}

/// A connection from its beginning to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// When it begins.
    pub start: Time,
    /// Its round-trip propagation delay; raised to that of its route's links where those have more.
    pub rtt: Duration,
    /// The receive window of either side, if it has one.
    pub window: [Option<Bytes>; 2],
    /// Probability that a packet of either side is lost in its own access link.
    pub loss: [f64; 2],
    /// Whether the two sides talk without waiting for each other (Tmix: a concurrent connection). Otherwise messages are
    /// sent in their order, one after the other.
    pub concurrent: bool,
    /// What is said, in order.
    pub messages: Vec<Message>,
}

impl Connection {
    /// Makes it one that says nothing yet, with the room that it has.
    pub fn clear(&mut self) {
        let mut messages = std::mem::take(&mut self.messages);
        messages.clear();
        *self = Connection { messages, ..Connection::default() };
    }
}

/// Connections, in the order of their starts.
pub trait Arrivals: Send {
    /// Puts the next one into `connection`, in place of what it was; says false if there is none.
    ///
    /// # Errors
    /// In a line, why what comes next cannot be read.
    fn next(&mut self, connection: &mut Connection) -> Result<bool, String>;
}

/// Where the connections of a workload come from. They are not kept: a run goes through them as time passes.
pub trait Population: fmt::Debug + Send + Sync {
    /// All of them from the first one, the same each time.
    ///
    /// # Errors
    /// In a line, why they cannot be read.
    fn arrivals(&self) -> Result<Box<dyn Arrivals>, String>;
}
