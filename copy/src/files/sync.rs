//! Flushing to the disk (`fsync`). A file is flushed before it gets its name. The name itself is part of its folder,
//! which is flushed afterwards: once for all names in it, if the copy is small enough for that.

use crate::files::root::path_or_dot;
use cap_std::fs::Dir;
use rustix::io::Errno;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Files and folders that are flushed at the same time, at most. File systems flush those together that wait at the
/// same time: a journal is written once for all of them.
pub(crate) const AT_ONCE: usize = 16;
/// Changed folders that are remembered. It bounds the receiver's memory.
const MAX_CHANGED: usize = 1024;

/// A folder that could not be flushed, and why.
pub(crate) type Unflushed = (PathBuf, io::Error);

/// The folders in which names have changed since they were flushed.
#[derive(Default)]
pub(crate) struct ChangedFolders(Mutex<HashSet<PathBuf>>);

impl ChangedFolders {
    /// Remembers that a name has changed in the folder at `path` below `dir`. If there are too many folders to
    /// remember, flushes them now.
    pub(crate) fn add(&self, dir: &Dir, path: &Path) -> Vec<Unflushed> {
        let mut changed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !changed.contains(path) {
            changed.insert(path.into());
        }
        if changed.len() < MAX_CHANGED {
            return Vec::new();
        }
        let all = std::mem::take(&mut *changed);
        drop(changed);
        sync_folders(dir, all)
    }

    /// Flushes the folders that are remembered.
    pub(crate) fn sync(&self, dir: &Dir) -> Vec<Unflushed> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        sync_folders(dir, all)
    }
}

fn sync_folders(dir: &Dir, folders: HashSet<PathBuf>) -> Vec<Unflushed> {
    let folders: Vec<PathBuf> = folders.into_iter().collect();
    let sync = |path: &PathBuf| sync_folder(dir, path).err().map(|e| (path.clone(), e));
    std::thread::scope(|scope| {
        let parts = folders.chunks(folders.len().div_ceil(AT_ONCE).max(1));
        let threads: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().filter_map(sync).collect::<Vec<_>>())).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
    })
}

/// Flushes the names in the folder at `path` below `dir`.
fn sync_folder(dir: &Dir, path: &Path) -> io::Result<()> {
    match dir.open(path_or_dot(path))?.into_std().sync_all() {
        // Some file systems flush names by themselves, and have no call for it.
        Err(e) if e.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cap_std::ambient_authority;
    use std::fs;

    #[test]
    fn changed_folders_are_flushed_once_and_their_number_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
        fs::create_dir(home.path().join("folder")).unwrap();
        let changed = ChangedFolders::default();
        for path in ["", "folder", "folder", "gone"] {
            assert!(changed.add(&dir, Path::new(path)).is_empty());
        }
        let unflushed = changed.sync(&dir);
        assert_eq!(unflushed.len(), 1, "{unflushed:?}");
        assert_eq!((unflushed[0].0.as_path(), unflushed[0].1.kind()), (Path::new("gone"), io::ErrorKind::NotFound));
        assert!(changed.sync(&dir).is_empty(), "they are flushed already");
        let early = (0..MAX_CHANGED).map(|i| changed.add(&dir, &PathBuf::from(i.to_string())).len());
        assert_eq!(early.collect::<Vec<_>>()[MAX_CHANGED - 2..], [0, MAX_CHANGED]);
    }
}
