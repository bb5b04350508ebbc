//! A partial file: a file that is being received, under a temporary name beside its final one, until it is complete and
//! verified.
//!
//! The temporary name follows from the final name, so that a later copy finds what an interrupted one left behind. The
//! later copy resumes from it if its BLAKE3 is that of the source's beginning, even if the source has changed since; no
//! other state is kept. A copy locks the partial file while it writes; the lock ends with the process.

use crate::files::attributes::set_attributes;
use crate::files::root::open_no_follow;
use crate::message::{Attributes, Options};
use crate::name::printable_path;
use crate::thread::Stop;
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest time that a copy waits for the lock of another one. It is longer than the time after which a server
/// notices that the connection of an interrupted copy is lost (30 s).
const LOCK_TIMEOUT: Duration = Duration::from_secs(40);
/// The time between two attempts to take the lock.
const LOCK_RETRY: Duration = Duration::from_millis(100);
/// Bytes of the final name that the temporary name repeats, at most. Together with 17 more bytes they stay below 255,
/// the limit of the file systems.
const NAME_PREFIX: usize = 200;

/// The temporary name of the file that will be called `name`: `.NAME.thalweg-XXXXXXXX`, where the digits are the
/// beginning of the name's BLAKE3.
fn temporary_name(name: &OsStr) -> OsString {
    let bytes = name.as_bytes();
    let prefix = &bytes[..bytes.len().min(NAME_PREFIX)];
    let hash = blake3::hash(bytes).to_hex();
    OsString::from_vec([b".", prefix, b".thalweg-", &hash.as_bytes()[..8]].concat())
}

/// A partial file, open and locked.
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

impl Partial {
    /// Opens the partial file that an earlier copy to `target`, a path below `dir`, has left; `None` if there is none.
    /// Fails if it cannot be opened, if another copy holds its lock for more than 40 s, and with the kind `Interrupted`
    /// if `stop` is set while it waits for the lock.
    pub(crate) fn find(dir: &Dir, target: &Path, stop: &Stop) -> io::Result<Option<Partial>> {
        Partial::open(dir, target, false, stop)
    }

    /// Opens the partial file for `target`, and creates it if there is none. Fails as [`Partial::find`] does.
    pub(crate) fn create(dir: &Dir, target: &Path, stop: &Stop) -> io::Result<Partial> {
        Partial::open(dir, target, true, stop)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn open(dir: &Dir, target: &Path, create: bool, stop: &Stop) -> io::Result<Option<Partial>> {
        let Some(name) = target.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
        let path = target.with_file_name(temporary_name(name));
        let begin = Instant::now();
        loop {
            let options = &mut OpenOptions::new();
            let file = match open_no_follow(dir, &path, options.read(true).write(true).create(create).mode(0o600)) {
                Err(e) if e.kind() == io::ErrorKind::NotFound && !create => return Ok(None),
                opened => opened?,
            };
            let found = file.metadata()?;
            if !found.is_file() || found.nlink() > 1 || found.uid() != geteuid().as_raw() {
                return Err(io::Error::other(format!(
                    "the temporary name {} is taken by something that no earlier copy has left; remove it",
                    printable_path(&path)
                )));
            }
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) if stop.is_set() => return Err(io::ErrorKind::Interrupted.into()),
                Err(Errno::WOULDBLOCK) if begin.elapsed() > LOCK_TIMEOUT => {
                    return Err(io::Error::other("another copy is writing it; copy again when that one is over"));
                }
                Err(Errno::WOULDBLOCK) => {
                    std::thread::sleep(LOCK_RETRY);
                    continue;
                }
                // Some file systems have no locks: without one, the copy goes on.
                Ok(()) | Err(_) => {}
            }
            // The previous owner of the lock may have renamed or removed the file: then it is opened again.
            if dir.symlink_metadata(&path).is_ok_and(|now| (now.dev(), now.ino()) == (found.dev(), found.ino())) {
                return Ok(Some(Partial { file, path, target: target.into() }));
            }
        }
    }

    /// The file, for reading.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Cuts the file to its first `length` bytes.
    pub(crate) fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Writes `bytes` at byte `position`.
    pub(crate) fn write(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, position)
    }

    /// Gives the file, complete and verified, its size in bytes, its attributes and its final name. Before that,
    /// flushes it to the disk if `options` say so. Fails if a folder has that name.
    pub(crate) fn finish(&self, dir: &Dir, size: u64, attributes: &Attributes, options: Options) -> io::Result<()> {
        self.file.set_len(size)?; // A hole at the end is not written otherwise.
        if dir.symlink_metadata(&self.target).is_ok_and(|there| there.is_dir()) {
            return Err(io::Error::other("there is a folder of this name; remove it, or copy to another name"));
        }
        set_attributes(&self.file, attributes, options.preserve)?;
        if options.sync {
            // What the disk has after a failure is not known: nothing is resumed from it.
            self.file.sync_all().inspect_err(|_| self.remove(dir))?;
        }
        dir.rename(&self.path, dir, &self.target).inspect_err(|_| {
            // A later copy must be able to write to it.
            let _ = self.file.set_permissions(Permissions::from_mode(0o600));
        })
    }

    /// Removes the file, whose contents are wrong.
    pub(crate) fn remove(&self, dir: &Dir) {
        // If the removal fails, a later copy sees from the hash that it cannot resume from this file.
        let _ = dir.remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_valid_and_hidden() {
        for length in [1, 100, 255] {
            let name = temporary_name(OsStr::new(&"x".repeat(length)));
            assert!(name.len() <= 255 && name.as_bytes().starts_with(b".x"));
        }
    }

    #[test]
    fn long_names_with_the_same_beginning_have_different_temporary_names() {
        let long = |last: &str| temporary_name(OsStr::new(&("x".repeat(250) + last)));
        assert_ne!(long("1"), long("2"));
    }
}
