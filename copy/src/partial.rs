//! A file that is not complete yet: under a temporary name beside where it will be, until it is verified.
//!
//! The name follows from the file's own, so that a copy that was broken off finds what is there. That is taken for the
//! beginning of the file if its BLAKE3 is that of the source's beginning, whatever has become of the source since; nothing else
//! is remembered. While a copy writes to it, it holds a lock that dies with the process.

use crate::message::Attributes;
use crate::root::{open_here, path_or_dot};
use cap_std::fs::{Dir, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The temporary name of a file.
pub(crate) fn name(of: &OsStr) -> OsString {
    let bytes = of.as_bytes();
    // Names end at 255 bytes.
    let known = &bytes[..bytes.len().min(200)];
    let hash = blake3::hash(bytes).to_hex();
    OsString::from_vec([b".", known, b".thalweg-", &hash.as_bytes()[..8]].concat())
}

/// The file.
pub(crate) struct Partial {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

/// How long another copy's lock is waited for: that of a connection whose end has not been noticed.
const PATIENCE: Duration = Duration::from_secs(40);

impl Partial {
    /// Opens the one that will become `target`, if it is there, or makes it if `create`. `over` says that there is no more time.
    pub(crate) fn open(dir: &Dir, target: &Path, create: bool, over: &dyn Fn() -> bool) -> io::Result<Option<Partial>> {
        let Some(own) = target.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
        let path = target.with_file_name(name(own));
        let begin = Instant::now();
        loop {
            let options = &mut OpenOptions::new();
            let file = match open_here(dir, &path, options.read(true).write(true).create(create).mode(0o600)) {
                Err(e) if e.kind() == io::ErrorKind::NotFound && !create => return Ok(None),
                opened => opened?,
            };
            let found = file.metadata()?;
            if !found.is_file() || found.nlink() > 1 || found.uid() != geteuid().as_raw() {
                return Err(io::Error::other(format!(
                    "{} is in the way, and not of an earlier copy; remove it",
                    crate::shown_path(&path)
                )));
            }
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) if over() => return Err(io::ErrorKind::Interrupted.into()),
                Err(Errno::WOULDBLOCK) if begin.elapsed() > PATIENCE => {
                    return Err(io::Error::other("another copy is writing it; try again when it is over"));
                }
                Err(Errno::WOULDBLOCK) => {
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                }
                // Some file systems have no locks.
                Ok(()) | Err(_) => {}
            }
            // Whoever had the lock may have completed or removed it.
            if dir.symlink_metadata(&path).is_ok_and(|now| (now.dev(), now.ino()) == (found.dev(), found.ino())) {
                return Ok(Some(Partial { file, path, target: target.into() }));
            }
        }
    }

    /// The file, to be read.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Forgets what is behind `offset`.
    pub(crate) fn begin_at(&self, offset: u64) -> io::Result<()> {
        self.file.set_len(offset)
    }

    /// Puts `bytes` at `position`.
    pub(crate) fn write(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, position)
    }

    /// It is complete and verified, `size` bytes long: gives it its attributes and its name.
    pub(crate) fn finish(&self, dir: &Dir, size: u64, attributes: &Attributes, preserve: bool) -> io::Result<()> {
        self.file.set_len(size)?; // a hole at the end
        if dir.symlink_metadata(&self.target).is_ok_and(|there| there.is_dir()) {
            return Err(io::Error::other("there is a folder of this name; remove it, or copy to another name"));
        }
        adorn(&self.file, attributes, preserve)?;
        dir.rename(&self.path, dir, &self.target).inspect_err(|_| {
            // So that the next copy can write to it.
            let _ = self.file.set_permissions(Permissions::from_mode(0o600));
        })
    }

    /// It is wrong.
    pub(crate) fn remove(&self, dir: &Dir) {
        // If that fails, its hash will tell.
        let _ = dir.remove_file(&self.path);
    }
}

/// Bits that are copied. Those that lend somebody's identity or protect others' files mean something else on another host.
const PERMISSIONS: u32 = 0o777;

/// Sets permissions, those that the user's mask leaves unless they are to be preserved, and then times as well.
pub(crate) fn adorn(file: &File, attributes: &Attributes, preserve: bool) -> io::Result<()> {
    let mask = if preserve { 0 } else { crate::umask() };
    file.set_permissions(Permissions::from_mode(attributes.mode & PERMISSIONS & !mask))?;
    if preserve {
        let times = FileTimes::new().set_modified(time(attributes.modified)?).set_accessed(time(attributes.accessed)?);
        file.set_times(times)?;
    }
    Ok(())
}

/// A folder, to have its attributes set.
pub(crate) fn open_folder(dir: &Dir, path: &Path) -> io::Result<File> {
    open_here(dir, path_or_dot(path), OpenOptions::new().read(true))
}

fn time((seconds, nanoseconds): (i64, u32)) -> io::Result<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time.and_then(|time| time.checked_add(Duration::from_nanos(nanoseconds.into())))
        .ok_or_else(|| io::Error::other("it is of a time that cannot be represented; copy it without -p"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_names() {
        for length in [1, 100, 255] {
            let name = name(OsStr::new(&"x".repeat(length)));
            assert!(name.len() <= 255 && name.as_bytes().starts_with(b".x"));
        }
        let long = |last: &str| name(OsStr::new(&("x".repeat(250) + last)));
        assert_ne!(long("1"), long("2"));
    }

    #[test]
    fn strange_times_are_no_panic() {
        for seconds in [i64::MIN, i64::MAX, -1, 0] {
            for nanoseconds in [0, 999_999_999, u32::MAX] {
                let _ = time((seconds, nanoseconds));
            }
        }
        assert_eq!(time((-1, 500_000_000)).unwrap(), UNIX_EPOCH - Duration::from_millis(500));
    }
}
