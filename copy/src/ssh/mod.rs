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
