//! File copy over QUIC with Thalweg's congestion controllers: the library behind `thalweg cp` and `thalweg serve`.
//!
//! [`Client`] copies files from or to a server. [`Server`] serves one folder; [`ssh`] starts a server on another host.
//! docs/cp.md describes what users see. QUIC and pacing are in the crate `wire`; arguments, progress bars and exit
//! codes are in the command line.
//!
//! # The protocol
//!
//! The sender offers a list of files ([`message::Offer`]). The receiver answers which of them it wants, and from which
//! byte on ([`message::Answer`]). The contents follow on streams of their own ([`message::Piece`]).
//!
//! # Modules
//!
//! From the top down; a module uses only those below it.
//!
//! - `client`, `server`: the two ends of a copy. `ssh` is between them: the client starts a server with it.
//! - `session`: one copy over one connection. `handshake` and `close` are the connection's beginning and end.
//! - `sender`, `receiver`: the two sides of the protocol. Each is a few threads, which read and write messages and
//!   files with blocking calls.
//! - `streams`: the tasks that carry bytes between the threads' `pipe`s and QUIC, in `blocks` of memory.
//! - `files`: what may be read, where files are written, partial files, hashes.
//! - [`message`] and [`frame`]: the protocol's messages and their encoding.
//!
//! # Rules
//!
//! - No peer is trusted: its messages have bounded lengths, values within ranges, and an order; otherwise the copy
//!   ends.
//! - Files are opened relative to a folder that was opened before (`cap-std`), and never by an absolute path that a
//!   peer has a part in.

#![cfg(unix)]

mod address;
mod blocks;
mod client;
mod close;
mod error;
mod event;
mod files;
pub mod frame;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handshake;
mod key;
pub mod message;
mod name;
mod pipe;
mod reason;
mod receiver;
mod sender;
mod server;
mod session;
pub mod ssh;
mod streams;
mod thread;

#[cfg(test)]
mod both_sides;

pub use address::{Address, InvalidAddress};
pub use client::{Client, Job, Peer};
pub use error::Error;
pub use event::{Event, Observer};
pub use files::attributes::umask;
pub use files::root::Root;
pub use key::{Credentials, InvalidKey, Key};
pub use message::{Options, Summary};
pub use name::{printable, printable_path};
pub use reason::reason;
pub use server::{Access, Server};
pub use session::THREADS;
