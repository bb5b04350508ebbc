//! The two lines that a client and its server exchange over ssh: a name, a space, and JSON.

use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Read, Write};
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

/// What a line begins with, so that it is found among the lines that a shell may print. It is the same in all versions
/// since the second: both ends find the other's line, and learn from the TLS handshake that their versions differ.
const NAME: &[u8] = b"thalweg-cp/2";
/// The longest line, in bytes.
const MAX_LINE: u64 = 64 << 10;
/// The largest number of lines before ours, which a shell may print when it starts.
const MAX_LINES: usize = 1000;

/// The client's line.
#[derive(Serialize, Deserialize)]
pub(super) struct Setup {
    /// The fingerprint of the client's certificate.
    pub(super) client: String,
    /// The name and the parameters of the server's congestion controller.
    pub(super) controller: String,
    pub(super) parameters: serde_json::Map<String, serde_json::Value>,
    /// Whether the server's packets are ECN-capable. A server of an earlier version does not read this.
    #[serde(default)]
    pub(super) ecn: bool,
    /// UDP ports at which the server may listen.
    pub(super) ports: RangeInclusive<u16>,
    /// After this time without a packet the connection is lost.
    #[serde(rename = "silence")]
    pub(super) idle_timeout: Duration,
}

/// The server's line.
#[derive(Serialize, Deserialize)]
pub(super) enum Started {
    /// The server is listening.
    Ready {
        /// The fingerprint of the server's certificate.
        server: String,
        /// Its UDP port.
        port: u16,
        /// The server's address in ssh's connection.
        address: Option<IpAddr>,
    },
    /// The server cannot listen, for this reason.
    Failed(String),
}

/// Writes a line.
pub(super) fn write_line(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&[NAME, b" ", &serde_json::to_vec(message)?, b"\n"].concat())?;
    to.flush()
}

/// Reads lines until one begins with the name; `None` if none does or if it holds something else.
pub(super) fn read_line<T: for<'a> Deserialize<'a>>(from: &mut impl BufRead) -> Option<T> {
    for _ in 0..MAX_LINES {
        let mut line = Vec::new();
        from.take(MAX_LINE).read_until(b'\n', &mut line).ok().filter(|read| *read > 0)?;
        if let Some(json) = line.strip_prefix(NAME).and_then(|rest| rest.strip_prefix(b" ")) {
            return serde_json::from_slice(json).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_behind_what_the_shell_prints() {
        let mut said = b"Welcome\n\nthalweg-cp\n".to_vec();
        write_line(&mut said, &Started::Failed("no port".into())).unwrap();
        let line = read_line::<Started>(&mut &said[..]);
        assert!(matches!(line, Some(Started::Failed(why)) if why == "no port"));
    }

    #[test]
    fn endless_output_is_not_read_to_its_end() {
        let endless = b"x\n".repeat(MAX_LINES + 1);
        let mut rest = &endless[..];
        assert!(read_line::<Started>(&mut rest).is_none());
        assert!(!rest.is_empty());
    }
}
