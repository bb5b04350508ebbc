//! A server on a host that the user can reach over ssh.
//!
//! The client runs `thalweg cp --server` there and writes one line to its standard input: its certificate and what it
//! wants. The server answers with one line on its standard output: its certificate and port. Files then go over QUIC,
//! and the server ends when its standard input does.

pub(crate) mod host;
mod line;
mod serve;

pub use host::Host;
pub use serve::serve;

/// Reads `bytes` as either side's line, for the fuzz targets.
#[cfg(feature = "fuzzing")]
pub(crate) fn fuzzing_lines(bytes: &[u8]) {
    let _ = line::read_line::<line::Setup>(&mut &bytes[..]);
    let _ = line::read_line::<line::Started>(&mut &bytes[..]);
}
