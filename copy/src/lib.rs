//! Files over QUIC with Thalweg's controllers: what `thalweg cp` and `thalweg serve` do.
//!
//! What lives here: the protocol between the two ends, what they may read and write, and how a copy that was broken off goes
//! on. What does not: QUIC and pacing, which are `wire`'s; arguments, progress bars and exit codes, which are the command
//! line's. docs/cp.md says what holds for users.
//!
//! The side that sends offers files; the side that receives says which it wants, and from where on; contents follow on a stream
//! of their own. Threads read and write files and speak the protocol with plain [`std::io::Read`] and [`std::io::Write`];
//! tasks carry bytes between them and QUIC.
//!
//! Rules of the room: a peer is believed nothing; what it says has a length, a range and an order, or the copy ends. Files are
//! opened relative to a folder that was opened before (`cap-std`), never by an absolute path that a peer had a hand in.

#![cfg(unix)]

mod client;
mod contents;
mod destination;
mod event;
mod extents;
mod key;
mod list;
pub mod message;
mod name;
mod partial;
mod pipe;
mod receiver;
mod root;
mod sender;
mod server;
mod session;
pub mod ssh;
mod stop;

pub use client::{Copy, Job, Peer};
pub use event::{Event, Watch};
pub use key::{Address, Key, Pass};
pub use name::{shown, shown_path};
pub use root::Root;
pub use server::Server;

use rustix::fs::Mode;
use std::sync::OnceLock;

/// The user's mask for permissions. It can only be read by setting it: the first call should be made before there are threads.
pub fn umask() -> u32 {
    static MASK: OnceLock<u32> = OnceLock::new();
    *MASK.get_or_init(|| {
        let mask = rustix::process::umask(Mode::empty());
        rustix::process::umask(mask);
        mask.bits()
    })
}
