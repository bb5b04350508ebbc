//! The files that the sender has offered and that the receiver has not yet reported as done or failed, and the state of
//! each ([`crate::message`]). It does no I/O. A message of the receiver that does not fit the state is an error of the
//! kind `InvalidData`.

use crate::frame::violation;
use crate::message::{MAX_OPEN_FILES, MAX_OPEN_PATHS, MAX_RESUMED};
use blake3::Hasher;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// A file that was offered.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OpenFile {
    /// Where the sender opens it.
    pub(super) path: PathBuf,
    /// Its size in bytes when it was listed.
    pub(super) size: u64,
    /// The length in bytes of the path that was offered.
    pub(super) offered: usize,
}

/// The beginning of a file, as the receiver was told its hash.
pub(super) struct Prefix {
    /// Its length in bytes.
    pub(super) length: u64,
    /// When the file was last changed.
    pub(super) modified: Option<SystemTime>,
    pub(super) hash: PrefixHash,
}

/// The hash of a [`Prefix`].
pub(super) enum PrefixHash {
    /// It is the whole file's.
    Whole([u8; 32]),
    /// The rest of the file may follow.
    Part(Box<Hasher>),
}

/// The state of an open file.
enum State {
    Offered,
    /// `part` says that the receiver has less than the whole.
    Compared {
        part: bool,
    },
    /// `None` if the hash could not be computed.
    Hashed(Option<Prefix>),
    /// With the prefix from whose end on the receiver wants the file.
    Wanted(Option<Prefix>),
    Begun,
}

impl State {
    /// Whether the file counts for [`MAX_RESUMED`].
    fn is_resumed(&self) -> bool {
        match self {
            State::Compared { part } => *part,
            State::Hashed(Some(prefix)) | State::Wanted(Some(prefix)) => matches!(prefix.hash, PrefixHash::Part(_)),
            State::Offered | State::Hashed(None) | State::Wanted(None) | State::Begun => false,
        }
    }
}

/// The open files by their numbers.
#[derive(Default)]
pub(super) struct OpenFiles {
    record: Mutex<Record>,
    removed: Condvar,
}

#[derive(Default)]
struct Record {
    files: HashMap<u64, (OpenFile, State)>,
    /// Bytes of their offered paths.
    paths: usize,
    /// The files of which a part is compared and whose contents have not begun.
    resumed: usize,
    /// Folders that were offered and that the receiver has not reported as failed.
    folders: u64,
    /// How many more folders of the destination the receiver may report as not flushed: each file and folder that was
    /// offered changes one folder.
    changes: u64,
    /// Whether everything was offered.
    complete: bool,
}

impl Record {
    fn is_full(&self) -> bool {
        self.files.len() >= MAX_OPEN_FILES || self.paths >= MAX_OPEN_PATHS
    }

    /// Puts an open file from its state into another one, which `next` returns, or an error if the receiver's message
    /// does not fit the state.
    fn change(
        &mut self,
        id: u64,
        next: impl FnOnce(&OpenFile, State) -> io::Result<State>,
    ) -> io::Result<&mut (OpenFile, State)> {
        let entry = self.files.get_mut(&id).ok_or_else(not_open)?;
        self.resumed -= usize::from(entry.1.is_resumed());
        let state = std::mem::replace(&mut entry.1, State::Begun);
        entry.1 = next(&entry.0, state)?;
        self.resumed += usize::from(entry.1.is_resumed());
        if self.resumed > MAX_RESUMED {
            return Err(violation("it resumes too many files at a time"));
        }
        Ok(entry)
    }
}

fn not_open() -> io::Error {
    violation("it names a file that is not open")
}

fn wrong_state() -> io::Error {
    violation("it sends a message that does not fit the state of the file")
}

impl OpenFiles {
    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no further file may be offered: [`MAX_OPEN_FILES`] are open, or their paths have [`MAX_OPEN_PATHS`].
    pub(super) fn is_full(&self) -> bool {
        self.lock().is_full()
    }

    /// While the record is full, waits until a file is removed, but not longer than `timeout`.
    pub(super) fn wait_while_full(&self, timeout: Duration) {
        let record = self.lock();
        if record.is_full() {
            drop(self.removed.wait_timeout(record, timeout));
        }
    }

    /// Adds a file.
    pub(super) fn add(&self, id: u64, file: OpenFile) {
        let mut record = self.lock();
        record.paths += file.offered;
        record.changes += 1;
        record.files.insert(id, (file, State::Offered));
    }

    /// Counts a folder.
    pub(super) fn add_folder(&self) {
        let mut record = self.lock();
        record.folders += 1;
        record.changes += 1;
    }

    /// Records that everything was offered.
    pub(super) fn complete_list(&self) {
        self.lock().complete = true;
    }

    /// Whether the file of this number is open.
    pub(super) fn contains(&self, id: u64) -> bool {
        self.lock().files.contains_key(&id)
    }

    /// Records that the receiver asks for the hash of the first `length` bytes of a file.
    pub(super) fn compare(&self, id: u64, length: u64) -> io::Result<()> {
        let mut record = self.lock();
        record.change(id, |file, state| match state {
            State::Offered if (1..=file.size).contains(&length) => Ok(State::Compared { part: length < file.size }),
            _ => Err(wrong_state()),
        })?;
        Ok(())
    }

    /// Where a file is that the receiver compares, and its size when it was listed; `None` if the receiver has reported
    /// it as failed.
    pub(super) fn compared(&self, id: u64) -> Option<(PathBuf, u64)> {
        let record = self.lock();
        let (file, state) = record.files.get(&id)?;
        matches!(state, State::Compared { .. }).then(|| (file.path.clone(), file.size))
    }

    /// Records that the hash was computed, before it is sent.
    pub(super) fn hashed(&self, id: u64, prefix: Option<Prefix>) {
        // A file that the receiver has reported as failed is not open any more.
        let _ = self.lock().change(id, |_, _| Ok(State::Hashed(prefix)));
    }

    /// Records that the receiver wants a file from this offset on.
    pub(super) fn want(&self, id: u64, offset: u64) -> io::Result<()> {
        let mut record = self.lock();
        record.change(id, |_, state| match state {
            State::Offered | State::Hashed(_) if offset == 0 => Ok(State::Wanted(None)),
            State::Hashed(Some(prefix)) if offset == prefix.length => Ok(State::Wanted(Some(prefix))),
            _ => Err(wrong_state()),
        })?;
        Ok(())
    }

    /// Records that the contents of a wanted file begin: where it is, and the prefix from whose end on the receiver
    /// wants it; `None` if the receiver has reported it as failed.
    pub(super) fn begin(&self, id: u64) -> Option<(PathBuf, Option<Prefix>)> {
        let mut record = self.lock();
        let mut wanted = None;
        let (file, _) = record
            .change(id, |_, state| {
                if let State::Wanted(prefix) = state {
                    wanted = prefix;
                }
                Ok(State::Begun)
            })
            .ok()?;
        Some((file.path.clone(), wanted))
    }

    /// The file whose progress or end the receiver reports.
    pub(super) fn begun(&self, id: u64) -> io::Result<OpenFile> {
        match self.lock().files.get(&id) {
            Some((file, State::Begun)) => Ok(file.clone()),
            Some(_) => Err(wrong_state()),
            None => Err(not_open()),
        }
    }

    /// Removes a file that is done or has failed.
    pub(super) fn remove(&self, id: u64) -> io::Result<OpenFile> {
        let mut record = self.lock();
        let (file, state) = record.files.remove(&id).ok_or_else(not_open)?;
        record.paths -= file.offered;
        record.resumed -= usize::from(state.is_resumed());
        self.removed.notify_one();
        Ok(file)
    }

    /// Records that the receiver reports a folder as failed.
    pub(super) fn fail_folder(&self) -> io::Result<()> {
        let mut record = self.lock();
        record.folders = record.folders.checked_sub(1).ok_or_else(|| violation("it names no folder"))?;
        Ok(())
    }

    /// Records that the receiver reports a folder of the destination as not flushed.
    pub(super) fn fail_flush(&self) -> io::Result<()> {
        let mut record = self.lock();
        let left = record.changes.checked_sub(1);
        record.changes = left.ok_or_else(|| violation("it names more folders than it can have changed"))?;
        Ok(())
    }

    /// Records that the receiver has finished.
    pub(super) fn finish(&self) -> io::Result<()> {
        let record = self.lock();
        if record.complete && record.files.is_empty() {
            Ok(())
        } else {
            Err(violation("it finishes before everything is done"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_files(count: u64) -> OpenFiles {
        let open = OpenFiles::default();
        (0..count).for_each(|id| open.add(id, OpenFile { path: "x".into(), size: 100, offered: 1 }));
        open
    }

    fn part() -> Option<Prefix> {
        Some(Prefix { length: 60, modified: None, hash: PrefixHash::Part(Box::default()) })
    }

    #[test]
    fn a_file_is_compared_once_and_wanted_once() {
        let open = with_files(3);
        assert!(open.compare(0, 0).is_err());
        open.compare(1, 60).unwrap();
        assert!(open.want(1, 60).is_err(), "before the hash");
        let open = with_files(3);
        open.compare(1, 60).unwrap();
        open.hashed(1, part());
        assert!(open.compare(1, 60).is_err(), "twice");
        let open = with_files(3);
        open.compare(1, 60).unwrap();
        open.hashed(1, part());
        open.want(1, 60).unwrap();
        assert!(open.begin(1).unwrap().1.is_some());
        assert!(open.want(1, 0).is_err(), "twice");
        let open = with_files(3);
        assert!(open.compare(2, 101).is_err());
        let open = with_files(3);
        assert!(open.want(2, 60).is_err(), "not compared");
        assert!(open.begun(0).is_err(), "not begun");
        assert!(open.want(9, 0).is_err(), "not offered");
    }

    #[test]
    fn the_number_of_hashers_that_are_kept_is_bounded() {
        let open = with_files(MAX_RESUMED as u64 + 2);
        for id in 0..MAX_RESUMED as u64 {
            open.compare(id, 60).unwrap();
            open.hashed(id, part());
            open.want(id, 60).unwrap();
        }
        // A whole file needs no hasher, and a file whose contents begin or that has failed needs none any more.
        open.compare(MAX_RESUMED as u64, 100).unwrap();
        open.begin(0).unwrap();
        open.remove(1).unwrap();
        let open = with_files(MAX_RESUMED as u64 + 1);
        (0..MAX_RESUMED as u64).for_each(|id| open.compare(id, 60).unwrap());
        assert!(open.compare(MAX_RESUMED as u64, 60).is_err());
    }

    #[test]
    fn long_paths_fill_the_record_before_many_files_do() {
        let open = OpenFiles::default();
        let mut count = 0;
        while !open.is_full() {
            open.add(count, OpenFile { path: "x".into(), size: 0, offered: 8 << 10 });
            count += 1;
        }
        assert_eq!(count, 1024);
        open.remove(0).unwrap();
        assert!(!open.is_full());
    }

    #[test]
    fn the_receiver_finishes_when_everything_is_done() {
        let open = with_files(1);
        open.complete_list();
        assert!(open.finish().is_err());
        open.remove(0).unwrap();
        open.finish().unwrap();
        assert!(open.fail_folder().is_err());
        open.add_folder();
        open.fail_folder().unwrap();
    }

    #[test]
    fn each_file_and_folder_changes_one_folder_of_the_destination() {
        let open = with_files(1);
        open.remove(0).unwrap();
        open.fail_flush().unwrap();
        assert!(open.fail_flush().is_err());
        open.add_folder();
        open.fail_folder().unwrap();
        open.fail_flush().unwrap();
        assert!(open.fail_flush().is_err());
    }
}
