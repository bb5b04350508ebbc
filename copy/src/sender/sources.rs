//! The files that a sender may read, and those that the receiver wants.

use crate::files::root::Root;
use crate::message::SourcePath;
use crate::name::{path_below, printable_path};
use std::path::PathBuf;
use std::sync::Arc;

/// The files to send.
pub(crate) struct Sources {
    /// Where files may be read.
    pub(crate) root: Arc<Root>,
    /// The paths of the files and folders.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether folders are sent, with everything in them.
    pub(crate) recursive: bool,
}

impl Sources {
    /// How users know `path`: with the source's path as they wrote it.
    pub(super) fn display(&self, path: &SourcePath) -> String {
        let below = path_below(&path.path).unwrap_or_default();
        let top = self.paths.get(path.source as usize).cloned().unwrap_or_default();
        printable_path(&if below.as_os_str().is_empty() { top } else { top.join(below) })
    }
}

/// What the receiver asks for, of an open file by its number.
pub(super) enum Asked {
    /// The hash of its first bytes, this many.
    Hash(u64, u64),
    /// Its contents.
    Contents(u64),
}
