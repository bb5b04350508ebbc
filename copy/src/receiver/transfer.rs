//! What the receiver's two threads share: the destination, the record of files, and the way to the sender and to the
//! observer.

use super::existing::Existing;
use super::ledger::Ledger;
use crate::event::{Event, Observer};
use crate::files::attributes::preserve_folder;
use crate::files::destination::Destination;
use crate::frame::write;
use crate::message::{Answer, Options, SourcePath, truncated};
use crate::name::{printable, printable_path};
use crate::pipe::Writer;
use crate::reason::reason;
use crate::thread::Stop;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A file that the receiver wants.
pub(super) struct Wanted {
    /// Its path below the destination's folder.
    pub(super) target: PathBuf,
    /// Bytes that the receiver has.
    pub(super) offset: u64,
    /// Where it has them.
    pub(super) existing: Existing,
}

/// What both threads know.
pub(super) struct Transfer {
    pub(super) destination: Destination,
    pub(super) options: Options,
    pub(super) observer: Observer,
    pub(super) stop: Stop,
    answers: Mutex<Writer>,
    ledger: Mutex<Ledger<Wanted>>,
    /// Bytes of files that have been received over this connection.
    received: AtomicU64,
}

impl Transfer {
    pub(super) fn new(
        destination: Destination,
        options: Options,
        answers: Writer,
        observer: Observer,
        stop: Stop,
    ) -> Transfer {
        let (answers, ledger) = (Mutex::new(answers), Mutex::default());
        Transfer { destination, options, observer, stop, answers, ledger, received: AtomicU64::new(0) }
    }

    /// The record of files.
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger<Wanted>> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path below the destination's folder of what the sender calls `path`; `None` if it was not asked for.
    pub(super) fn target(&self, path: &SourcePath) -> Option<PathBuf> {
        self.destination.target(path, self.options.recursive)
    }

    /// Counts received bytes.
    pub(super) fn add_received(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes of files that have been received over this connection.
    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Writes an answer, which is sent with the next flush at the latest.
    pub(super) fn answer(&self, answer: &Answer) -> io::Result<()> {
        write(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner), answer)
    }

    /// Sends the answers that were written.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }

    /// Reports to this end's observer that something could not be copied.
    pub(super) fn report_problem(&self, target: &Path, reason: &str) {
        (self.observer)(Event::Problem { path: printable_path(target), reason: printable(reason) });
    }

    /// Reports an open file as failed, at both ends.
    pub(super) fn fail(&self, id: u64, target: &Path, reason: &str) -> io::Result<()> {
        self.report_problem(target, reason);
        self.answer(&Answer::Failed(id, truncated(reason.into())))?;
        self.close_file()
    }

    /// Reports an open file as done, at both ends.
    pub(super) fn done(&self, id: u64, path: PathBuf, size: u64) -> io::Result<()> {
        (self.observer)(Event::Done { path, size });
        self.answer(&Answer::Done(id))?;
        self.close_file()
    }

    fn close_file(&self) -> io::Result<()> {
        self.ledger().close();
        self.finish()
    }

    /// Sets the folders' attributes and tells the sender, if nothing is left to do.
    pub(super) fn finish(&self) -> io::Result<()> {
        let Some(folders) = self.ledger().finish() else { return Ok(()) };
        // Innermost first: folders were offered after those that they are in.
        for (path, attributes) in folders.iter().rev() {
            if let Err(e) = preserve_folder(&self.destination.dir, path, attributes) {
                self.report_problem(path, &reason(&e));
            }
        }
        self.answer(&Answer::Finished { received: self.received() })?;
        self.flush()
    }

    /// Whether the copy is finished. The sender closes its streams as soon as it knows that, so that their end is no
    /// error then.
    pub(super) fn is_finished(&self) -> bool {
        self.ledger().is_finished()
    }
}
