//! The part of the file system that a sender may read, and how it opens files there.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

/// Where files may be read.
pub enum Root {
    /// Wherever the user of this process may read.
    Anywhere,
    /// In this folder and below it. Links are followed as long as they stay there. Where the kernel can enforce that
    /// (`openat2`), it does, so that a path cannot be exchanged between the check and the use.
    Within(Dir),
}

impl Root {
    /// The metadata of what is at `path`, links followed.
    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        match self {
            Root::Anywhere => std::fs::metadata(path).map(Metadata::from_just_metadata),
            Root::Within(dir) => dir.metadata(path_or_dot(path)),
        }
    }

    /// Opens the file at `path`, links followed. Fails if it is anything but a regular file, without waiting for a
    /// pipe's other end or touching a device.
    pub(crate) fn open(&self, path: &Path) -> io::Result<(File, Metadata)> {
        check_is_file(&self.metadata(path)?)?;
        // The path may have become a pipe or a device since the check.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        let file = match self {
            Root::Anywhere => {
                use std::os::unix::fs::OpenOptionsExt;
                std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?
            }
            Root::Within(dir) => {
                let options = &mut OpenOptions::new();
                dir.open_with(path, options.read(true).custom_flags(flags))?.into_std()
            }
        };
        let metadata = Metadata::from_file(&file)?;
        check_is_file(&metadata)?;
        Ok((file, metadata))
    }

    /// The names in the folder at `path`, in the file system's order.
    pub(crate) fn list(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<OsString>>>> {
        Ok(match self {
            Root::Anywhere => Box::new(std::fs::read_dir(path_or_dot(path))?.map(|entry| Ok(entry?.file_name()))),
            Root::Within(dir) => Box::new(dir.read_dir(path_or_dot(path))?.map(|entry| Ok(entry?.file_name()))),
        })
    }
}

/// Opens the file at `path` below `dir`. A link in the file's place is an error and is not followed.
pub(crate) fn open_no_follow(dir: &Dir, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    Ok(dir.open_with(path, options.follow(FollowSymlinks::No).custom_flags(flags))?.into_std())
}

/// `path`, or `.` for the empty path, which here means the folder itself.
pub(crate) fn path_or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn check_is_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(io::Error::other("it is a folder; -r copies folders"))
    } else {
        Err(io::Error::other("it is neither a file nor a folder (a device, pipe or socket), and is not copied"))
    }
}
