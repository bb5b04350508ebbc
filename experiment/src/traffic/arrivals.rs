//! Connections that come and go: the messages of each, and the order in which connections arrive.

use super::video::{Player, Request};
use control::{Bytes, Duration, Time};
use std::fmt;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// The side that opens the connection.
    #[default]
    Initiator,
    /// The other side.
    Acceptor,
}

impl Side {
    /// Index of this side in arrays with an element per side.
    #[inline]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// What an application hands to its host at once (an application data unit in Tmix).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The side that sends it.
    pub from: Side,
    /// How long the side waits before it sends: from the arrival of the previous message if that was the other side's,
    /// from its handing over if it was its own, and from the opening of the connection for the first message.
    pub wait: Duration,
    /// Number of bytes.
    pub size: Bytes,
}

/// A connection from its beginning to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// When it begins.
    pub start: Time,
    /// Round-trip propagation delay. If that of the route's links is more, that one is used.
    pub rtt: Duration,
    /// The receive window of either side, if it is limited.
    pub window: [Option<Bytes>; 2],
    /// Probability that a packet of either side is lost on its access link.
    pub loss: [f64; 2],
    /// Whether the two sides send without waiting for each other (a concurrent connection in Tmix). Otherwise messages
    /// are sent in their order, one after the other.
    pub concurrent: bool,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Decides of further messages, as soon as the connection is open and each time that all messages have arrived:
    /// requests of the initiator, which the acceptor answers.
    pub player: Option<Box<Player>>,
}

impl Connection {
    /// Adds the messages that its player decides on now. Returns false if there are none: it has no player, or its
    /// player is at the end of the video.
    pub fn extend(&mut self, now: Time) -> bool {
        let Some(Request { wait, size, segment }) = self.player.as_mut().and_then(|player| player.next(now)) else {
            return false;
        };
        self.messages.push(Message { from: Side::Initiator, wait, size });
        self.messages.push(Message { from: Side::Acceptor, wait: Duration::ZERO, size: segment });
        true
    }

    /// Empties the connection, but keeps the memory of its messages.
    pub fn clear(&mut self) {
        let mut messages = std::mem::take(&mut self.messages);
        messages.clear();
        *self = Connection { messages, ..Connection::default() };
    }
}

/// Connections, in the order of their starts.
pub trait Arrivals: Send {
    /// Replaces `connection` by the next one. Returns false if there is none.
    ///
    /// # Errors
    /// Why the next connection cannot be read, in a line.
    fn next(&mut self, connection: &mut Connection) -> Result<bool, String>;
}

/// The source of a workload's connections. Connections are not kept: a run reads them one after the other as time
/// passes.
pub trait Population: fmt::Debug + Send + Sync {
    /// All connections from the first one on, the same ones at each call.
    ///
    /// # Errors
    /// Why the connections cannot be read, in a line.
    fn arrivals(&self) -> Result<Box<dyn Arrivals>, String>;
}
