//! Standard output, whose reader may close it, and standard error.

use crate::failure::Failure;
use scenario::reason;
use std::io::{self, Write};

/// Prints `bytes` as they are.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Unread),
        Err(e) => Err(Failure::Failed(format!("cannot print: {}", reason(&e)))),
        Ok(()) => Ok(()),
    }
}

/// Prints `text` and ends its last line.
pub fn text(text: &str) -> Result<(), Failure> {
    bytes(format!("{}\n", text.trim_end_matches('\n')).as_bytes())
}

/// Writes `line` to standard error. A standard error that is closed is ignored.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints `value` as JSON.
#[cfg(feature = "lab")]
pub fn json<T: serde::Serialize>(value: &T) -> Result<(), Failure> {
    match serde_json::to_string_pretty(value) {
        Ok(json) => text(&json),
        Err(e) => Err(Failure::Failed(format!("cannot write JSON: {e}"))),
    }
}
