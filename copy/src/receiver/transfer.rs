//! What the receiver's two threads share: the destination, the record of files, and the way to the sender and to the
//! observer.

use super::existing::{Candidate, Existing, Slots};
use super::file::{Header, VerifiedFile};
use super::ledger::Ledger;
use crate::event::{Event, Observer};
use crate::files::attributes::preserve_folder;
use crate::files::destination::Destination;
use crate::files::root::path_or_dot;
use crate::files::sync::{ChangedFolders, Unflushed};
use crate::frame::write;
use crate::message::{Answer, Options, SourcePath, truncated};
use crate::name::{printable, printable_path};
use crate::pipe::Writer;
use crate::reason::reason;
use crate::thread::Stop;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why a file whose source was changed while it was read counts as failed. It has its name nevertheless.
const MIXTURE: &str = "it changed while it was copied: the copy has what was read, which may be a mixture of old and \
                       new contents; copy it again";

/// A file that the receiver wants.
pub(super) struct Wanted {
    /// Its path below the destination's folder.
    pub(super) target: PathBuf,
    /// Bytes that the receiver has.
    pub(super) offset: u64,
    /// Where it has them.
    pub(super) existing: Existing,
}

/// A file that is being compared.
pub(super) struct Compared {
    /// Its path below the destination's folder.
    pub(super) target: PathBuf,
    /// What may be the file or its beginning.
    pub(super) candidate: Candidate,
    /// Bytes of the candidate.
    pub(super) length: u64,
}

/// What both threads know.
pub(super) struct Transfer {
    pub(super) destination: Destination,
    pub(super) options: Options,
    pub(super) observer: Observer,
    pub(super) stop: Stop,
    /// The partial files that are kept open.
    pub(super) slots: Slots,
    answers: Mutex<Writer>,
    ledger: Mutex<Ledger<Compared, Wanted>>,
    changed: ChangedFolders,
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
        let (answers, ledger, changed) = (Mutex::new(answers), Mutex::default(), ChangedFolders::default());
        let (slots, received) = (Slots::default(), AtomicU64::new(0));
        Transfer { destination, options, observer, stop, slots, answers, ledger, changed, received }
    }

    /// The record of files.
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger<Compared, Wanted>> {
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
        // A peer may give a longer reason than this end would.
        let reason = printable(&truncated(reason.into()));
        (self.observer)(Event::Problem { path: printable_path(target), reason });
    }

    /// Completes a file, and reports it as done or failed, at both ends.
    pub(super) fn complete(&self, file: &VerifiedFile) -> io::Result<()> {
        let (Header { id, size, .. }, target) = (file.header, &file.target);
        if let Err(e) = file.complete(&self.destination.dir, self.options) {
            return self.fail(id, target, &reason(&e));
        }
        self.on_changed(target)?;
        if file.changed { self.fail(id, target, MIXTURE) } else { self.done(id, target.clone(), size) }
    }

    /// The name of a file or folder is in its folder now, which is to be flushed before the copy is finished.
    pub(super) fn on_changed(&self, target: &Path) -> io::Result<()> {
        if !self.options.sync {
            return Ok(());
        }
        let folder = target.parent().unwrap_or(Path::new(""));
        self.on_unflushed(self.changed.add(&self.destination.dir, folder))
    }

    /// Reports folders that could not be flushed, at both ends.
    fn on_unflushed(&self, folders: Vec<Unflushed>) -> io::Result<()> {
        folders.into_iter().try_for_each(|(path, e)| {
            let path = path_or_dot(&path);
            let why = format!("the names in this folder of the destination may not be on the disk: {}", reason(&e));
            self.report_problem(path, &why);
            self.answer(&Answer::Unflushed(path.as_os_str().as_bytes().into(), truncated(why)))
        })
    }

    /// Reports an open file as failed, at both ends.
    pub(super) fn fail(&self, id: u64, target: &Path, reason: &str) -> io::Result<()> {
        self.report_problem(target, reason);
        self.answer(&Answer::Failed(id, truncated(reason.into())))?;
        self.close_file(id)
    }

    /// Reports an open file as done, at both ends.
    pub(super) fn done(&self, id: u64, path: PathBuf, size: u64) -> io::Result<()> {
        (self.observer)(Event::Done { path, size });
        self.answer(&Answer::Done(id))?;
        self.close_file(id)
    }

    fn close_file(&self, id: u64) -> io::Result<()> {
        self.ledger().close(id);
        self.finish()
    }

    /// Flushes the folders' names, sets their attributes and tells the sender, if nothing is left to do.
    pub(super) fn finish(&self) -> io::Result<()> {
        let Some(folders) = self.ledger().finish() else { return Ok(()) };
        self.on_unflushed(self.changed.sync(&self.destination.dir))?;
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
