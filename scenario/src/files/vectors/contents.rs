//! What a file of connection vectors holds, for those who plan a run with it.

use super::LineError;
use super::reader::Reader;
use control::{Duration, Time};
use experiment::traffic::Connection;
use std::io::BufRead;

/// The connections that start before some time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contents {
    /// Number of connections.
    pub connections: u64,
    /// Number of their messages.
    pub messages: u64,
    /// Bytes that initiators and that acceptors send.
    pub bytes: [u64; 2],
    /// The least round-trip time of a connection.
    pub least_rtt: Option<Duration>,
}

impl Contents {
    /// Counts `connection`.
    pub(super) fn add(&mut self, connection: &Connection) {
        self.connections += 1;
        self.messages += connection.messages.len() as u64;
        for message in &connection.messages {
            let bytes = &mut self.bytes[message.from.index()];
            *bytes = bytes.saturating_add(message.size.0);
        }
        self.least_rtt = Some(self.least_rtt.map_or(connection.rtt, |least| least.min(connection.rtt)));
    }
}

/// Reads the connections of `input` that start before `until`.
///
/// # Errors
/// The first line that is wrong, or that there is no connection.
pub fn scan(input: impl BufRead, until: Time) -> Result<Contents, LineError> {
    let (mut reader, mut connection) = (Reader::new(input), Connection::default());
    let mut contents = Contents::default();
    while reader.next(&mut connection)? && connection.start < until {
        contents.add(&connection);
    }
    if contents.connections == 0 && connection.messages.is_empty() {
        let message = "the file has no connection; name a file of connection vectors";
        return Err(LineError { line: reader.line(), message: message.to_string() });
    }
    Ok(contents)
}
