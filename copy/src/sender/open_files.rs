//! The files that the sender has offered and that the receiver has not yet reported as done or failed.

use crate::frame::violation;
use crate::message::MAX_OPEN_FILES;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A file that was offered.
#[derive(Clone)]
pub(super) struct OpenFile {
    /// Where the sender opens it.
    pub(super) path: PathBuf,
    /// Its size in bytes when it was listed.
    pub(super) size: u64,
}

/// The open files by their numbers.
#[derive(Default)]
pub(super) struct OpenFiles {
    files: Mutex<HashMap<u64, OpenFile>>,
    removed: Condvar,
}

impl OpenFiles {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, OpenFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether [`MAX_OPEN_FILES`] files are open.
    pub(super) fn is_full(&self) -> bool {
        self.lock().len() >= MAX_OPEN_FILES
    }

    /// While the record is full, waits until a file is removed, but not longer than `timeout`.
    pub(super) fn wait_while_full(&self, timeout: Duration) {
        let files = self.lock();
        if files.len() >= MAX_OPEN_FILES {
            drop(self.removed.wait_timeout(files, timeout));
        }
    }

    /// Adds a file.
    pub(super) fn add(&self, id: u64, file: OpenFile) {
        self.lock().insert(id, file);
    }

    /// The open file of this number.
    pub(super) fn get(&self, id: u64) -> Option<OpenFile> {
        self.lock().get(&id).cloned()
    }

    /// Whether the file of this number is open.
    pub(super) fn contains(&self, id: u64) -> bool {
        self.lock().contains_key(&id)
    }

    /// Removes a file that is done or has failed. Fails with `InvalidData` if it is not open.
    pub(super) fn remove(&self, id: u64) -> io::Result<OpenFile> {
        let removed = self.lock().remove(&id).ok_or_else(|| violation("it reports a file that was not offered"));
        self.removed.notify_one();
        removed
    }
}
