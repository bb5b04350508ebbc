//! Ends threads that would not notice by themselves that a copy is over.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a copy is over; all clones are one.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// It is.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails if it is.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.is_set() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}
