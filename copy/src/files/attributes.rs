//! Permissions and times of files: how they are read at the sender and set at the receiver.

use crate::files::root::{open_no_follow, path_or_dot};
use crate::message::Attributes;
use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions};
use rustix::fs::Mode;
use std::fs::{File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The permission bits that are copied. The bits above them (set-user-ID, set-group-ID, sticky) lend a user's identity
/// or protect other users' files, which means something else on another host.
const PERMISSIONS: u32 = 0o777;

/// The process's mask of permission bits that new files do not get (`umask`). The system can only return it by setting
/// it: call this first before the process starts threads that create files.
pub fn umask() -> u32 {
    static MASK: OnceLock<u32> = OnceLock::new();
    *MASK.get_or_init(|| {
        let mask = rustix::process::umask(Mode::empty());
        rustix::process::umask(mask);
        mask.bits()
    })
}

/// The permissions and times in `metadata`.
pub(crate) fn attributes(metadata: &Metadata) -> Attributes {
    let time = |seconds: i64, nanoseconds: i64| (seconds, u32::try_from(nanoseconds).unwrap_or(0));
    Attributes {
        mode: metadata.mode(),
        modified: time(metadata.mtime(), metadata.mtime_nsec()),
        accessed: time(metadata.atime(), metadata.atime_nsec()),
    }
}

/// Sets the permissions of a file or folder: all nine bits and also the times if `preserve`, otherwise only the bits
/// that the umask allows.
pub(crate) fn set_attributes(file: &File, attributes: &Attributes, preserve: bool) -> io::Result<()> {
    let mask = if preserve { 0 } else { umask() };
    file.set_permissions(Permissions::from_mode(attributes.mode & PERMISSIONS & !mask))?;
    if preserve {
        let times = FileTimes::new().set_modified(time(attributes.modified)?).set_accessed(time(attributes.accessed)?);
        file.set_times(times)?;
    }
    Ok(())
}

/// Sets the permissions and times of the folder at `path` below `dir`.
pub(crate) fn preserve_folder(dir: &Dir, path: &Path, attributes: &Attributes) -> io::Result<()> {
    let folder = open_no_follow(dir, path_or_dot(path), OpenOptions::new().read(true))?;
    set_attributes(&folder, attributes, true)
}

fn time((seconds, nanoseconds): (i64, u32)) -> io::Result<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time.and_then(|time| time.checked_add(Duration::from_nanos(nanoseconds.into())))
        .ok_or_else(|| io::Error::other("its time of change or access cannot be set on this host; copy it without -p"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_times_do_not_panic() {
        for seconds in [i64::MIN, i64::MAX, -1, 0] {
            for nanoseconds in [0, 999_999_999, u32::MAX] {
                let _ = time((seconds, nanoseconds));
            }
        }
        assert_eq!(time((-1, 500_000_000)).unwrap(), UNIX_EPOCH - Duration::from_millis(500));
    }
}
