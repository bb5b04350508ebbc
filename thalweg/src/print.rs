//! Standard output, whose reader may close it, and standard error.

use crate::failure::Failure;
use scenario::reason;
use std::io::{self, BufWriter, Write};

/// Prints `bytes` as they are.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    printing(|out| out.write_all(bytes))
}

/// Prints what `write` writes.
fn printing(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
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

/// Prints `value` as JSON, piece by piece: the text of 100,000 flows takes 40 MB.
#[cfg(feature = "lab")]
pub fn json<T: serde::Serialize>(value: &T) -> Result<(), Failure> {
    printing(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)
    })
}
