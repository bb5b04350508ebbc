//! What the destination already has of a file, so that an interrupted copy is resumed and an unchanged file is not sent
//! again.
//!
//! The sender tells its hash first. What is here is only then read, and the sender learns whether the hashes are the
//! same: it cannot ask for the hash of a file.

use crate::files::hash::{Hashed, hash_prefix};
use crate::files::partial::Partial;
use crate::files::root::open_no_follow;
use crate::message::MAX_RESUMED;
use crate::thread::Stop;
use blake3::Hasher;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the partial files that are kept open for their contents, of which there are at most [`MAX_RESUMED`].
#[derive(Default)]
pub(super) struct Slots(Arc<AtomicUsize>);

/// One of the [`Slots`]; free again when this is dropped.
pub(super) struct Slot(Arc<AtomicUsize>);

impl Slots {
    /// A free slot, if there is one.
    fn take(&self) -> Option<Slot> {
        let taken = self.0.fetch_add(1, Ordering::Relaxed);
        let slot = Slot(self.0.clone());
        (taken < MAX_RESUMED).then_some(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the destination has that may be a file or its beginning. It has not been read.
pub(super) enum Candidate {
    /// The partial file of an interrupted copy.
    Partial(Partial, Slot),
    /// A file with the same name and the same size.
    Complete,
}

/// What the destination has of a file. The hashers have read these bytes.
pub(super) enum Existing {
    Nothing,
    /// The partial file of an interrupted copy, which is the beginning of the file.
    Partial(Partial, Box<Hasher>, #[expect(dead_code, reason = "dropping it frees the slot")] Slot),
    /// The whole file, under its name.
    Complete(Box<Hasher>),
}

impl Candidate {
    /// Looks for what `dir` has that may be the file `target` of `size` bytes or its beginning. Returns it with its
    /// length in bytes, from one to `size`.
    pub(super) fn find(
        dir: &Dir,
        target: &Path,
        size: u64,
        slots: &Slots,
        stop: &Stop,
    ) -> io::Result<Option<(Candidate, u64)>> {
        if let Some(partial) = Partial::find(dir, target, stop)? {
            let length = partial.file().metadata()?.len();
            let slot = slots.take().filter(|_| (1..=size).contains(&length));
            return Ok(slot.map(|slot| (Candidate::Partial(partial, slot), length)));
        }
        let there = dir.symlink_metadata(target);
        let same = size > 0 && there.is_ok_and(|there| there.is_file() && there.len() == size);
        Ok(same.then_some((Candidate::Complete, size)))
    }

    /// Compares the `length` bytes that are here with the sender's, which have this hash. A file that cannot be read
    /// counts as another one, and so does one that was `hashed` as often as it has names. Fails with the kind
    /// `Interrupted` once `stop` is set.
    pub(super) fn compare(
        self,
        dir: &Dir,
        target: &Path,
        length: u64,
        hash: [u8; 32],
        hashed: &mut Hashed,
        stop: &Stop,
    ) -> io::Result<Existing> {
        let mut read = |file: &File| {
            let metadata = Metadata::from_file(file)?;
            let is_read = metadata.is_file() && hashed.may_hash(&metadata);
            if is_read { hash_prefix(file, length, stop) } else { Ok(None) }
        };
        let read = match &self {
            Candidate::Partial(partial, _) => read(partial.file()),
            Candidate::Complete => {
                open_no_follow(dir, target, OpenOptions::new().read(true)).and_then(|file| read(&file))
            }
        };
        stop.check()?;
        Ok(match (self, read.ok().flatten().filter(|hasher| hasher.finalize() == hash)) {
            (Candidate::Partial(partial, slot), Some(hasher)) => Existing::Partial(partial, Box::new(hasher), slot),
            (Candidate::Complete, Some(hasher)) => Existing::Complete(Box::new(hasher)),
            (_, None) => Existing::Nothing,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_offered_again_is_not_read_again() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("fine"), "fine").unwrap();
        let dir = Dir::open_ambient_dir(home.path(), cap_std::ambient_authority()).unwrap();
        let (target, hash, mut hashed) = (Path::new("fine"), *blake3::hash(b"fine").as_bytes(), Hashed::default());
        let mut is_same = || {
            let found = Candidate::find(&dir, target, 4, &Slots::default(), &Stop::default()).unwrap().unwrap();
            let compared = found.0.compare(&dir, target, found.1, hash, &mut hashed, &Stop::default());
            matches!(compared.unwrap(), Existing::Complete(_))
        };
        assert!(is_same());
        assert!(!is_same());
    }

    #[test]
    fn slots_are_bounded_and_come_back() {
        let slots = Slots::default();
        let mut taken: Vec<_> = (0..MAX_RESUMED).map(|_| slots.take().unwrap()).collect();
        assert!(slots.take().is_none() && slots.take().is_none());
        taken.pop();
        assert!(slots.take().is_some());
    }
}
