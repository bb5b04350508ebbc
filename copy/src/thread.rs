//! The threads of a copy, and the flag that tells them that the copy is over.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a thread of a copy runs. The error kind `InvalidData` means that the peer broke the protocol; any other error
/// means that the connection has ended or that the copy was stopped.
pub(crate) type Body = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// A flag that ends threads which would not notice by themselves that the copy is over, for example while they hash a
/// large file. All clones share one flag.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Sets the flag.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails with the kind `Interrupted` if the flag is set.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.is_set() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}
