//! The threads that complete files: they flush them to the disk and give them their names. Flushing waits for the disk,
//! and several files at a time wait no longer than one.

use super::file::VerifiedFile;
use super::transfer::Transfer;
use crate::files::sync::AT_ONCE;
use crate::thread::Body;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Files that wait for a thread, at most. Each of them is open.
const WAITING: usize = 64;

/// The threads, and the channel through which they get files. They end when its other end is dropped.
pub(super) fn threads(transfer: &Arc<Transfer>) -> (SyncSender<VerifiedFile>, Vec<Body>) {
    let (verified, files) = sync_channel(WAITING);
    let files = Arc::new(Mutex::new(files));
    // Without flushing there is nothing to wait for.
    let count = if transfer.options.sync { AT_ONCE } else { 1 };
    let body = || -> Body {
        let (transfer, files) = (transfer.clone(), files.clone());
        Box::new(move || complete_all(&transfer, &files))
    };
    (verified, std::iter::repeat_with(body).take(count).collect())
}

fn complete_all(transfer: &Transfer, files: &Mutex<Receiver<VerifiedFile>>) -> io::Result<()> {
    let next = || files.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(file) = next() {
        transfer.complete(&file)?;
        transfer.flush()?;
    }
    Ok(())
}
