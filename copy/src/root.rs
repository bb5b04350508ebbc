//! Where a sender may read, and how it opens what it sends.

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

/// Where files may be read.
pub enum Root {
    /// Wherever the user may.
    Anywhere,
    /// In this folder and below. Links are followed as long as they stay there; where the kernel can enforce that (`openat2`),
    /// it does, so that nobody can change a path after it was checked.
    Within(Dir),
}

impl Root {
    /// What is at `path`, behind all links.
    pub(crate) fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        match self {
            Root::Anywhere => std::fs::metadata(path).map(Metadata::from_just_metadata),
            Root::Within(dir) => dir.metadata(path_or_dot(path)),
        }
    }

    /// The file at `path`. Fails if it is anything but a regular file, without waiting for pipes or waking devices.
    pub(crate) fn open(&self, path: &Path) -> io::Result<(File, Metadata)> {
        only_file(&self.metadata(path)?)?;
        // It may have become a pipe since.
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
        only_file(&metadata)?;
        Ok((file, metadata))
    }

    /// What a folder holds.
    pub(crate) fn list(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<OsString>>>> {
        Ok(match self {
            Root::Anywhere => Box::new(std::fs::read_dir(path_or_dot(path))?.map(|entry| Ok(entry?.file_name()))),
            Root::Within(dir) => Box::new(dir.read_dir(path_or_dot(path))?.map(|entry| Ok(entry?.file_name()))),
        })
    }
}

/// Opens a file in a folder without following a link in its place.
pub(crate) fn open_here(dir: &Dir, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    Ok(dir.open_with(path, options.follow(FollowSymlinks::No).custom_flags(flags))?.into_std())
}

/// The folder itself is `.` to the system.
pub(crate) fn path_or_dot(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn only_file(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        Ok(())
    } else if metadata.is_dir() {
        Err(io::Error::other("it is a folder; -r copies folders"))
    } else {
        Err(io::Error::other("it is neither file nor folder (a device, pipe or socket), and is not copied"))
    }
}
