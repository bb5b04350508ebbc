//! The stream of the offers, which two threads write to: one offers files, the other tells hashes.

use crate::frame::write;
use crate::message::Offer;
use crate::pipe::Writer;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The writer of the offers. All clones write to the same stream, which ends with the last of them.
#[derive(Clone)]
pub(super) struct SharedWriter(Arc<Mutex<Writer>>);

impl SharedWriter {
    pub(super) fn new(writer: Writer) -> SharedWriter {
        SharedWriter(Arc::new(Mutex::new(writer)))
    }

    /// Writes an offer, which is sent with the next flush at the latest.
    pub(super) fn write(&self, offer: &Offer) -> io::Result<()> {
        write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), offer)
    }

    /// Sends the offers that were written.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}
