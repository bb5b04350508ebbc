//! The list of files to send: the sources and, for a recursive copy, everything below them. Links are followed.

use crate::files::attributes::attributes;
use crate::files::root::Root;
use crate::message::{Attributes, MAX_PATH, SourcePath};
use crate::reason::reason;
use cap_std::fs::MetadataExt;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// An entry of the list.
pub(crate) enum Entry {
    Folder(SourcePath, Attributes),
    /// A file, the path at which the sender opens it, and its size in bytes.
    File(SourcePath, PathBuf, u64),
    /// Something that cannot be sent, and why.
    Problem(SourcePath, String),
}

/// A folder and its ancestors, by device and inode. A folder that is found again below itself is a loop of links.
struct Ancestors {
    id: (u64, u64),
    parent: Option<Rc<Ancestors>>,
}

impl Ancestors {
    fn has(&self, id: (u64, u64)) -> bool {
        self.id == id || self.parent.as_ref().is_some_and(|parent| parent.has(id))
    }
}

/// Calls `each` for every entry of the list; a folder comes before its contents. Ends early with the first error of
/// `each`.
pub(crate) fn walk(
    root: &Root,
    sources: &[PathBuf],
    recursive: bool,
    each: &mut dyn FnMut(Entry) -> io::Result<()>,
) -> io::Result<()> {
    for (index, top) in (0..).zip(sources) {
        let source = Source { root, top, index, recursive };
        // Folders whose contents are not listed yet.
        let mut folders = Vec::new();
        let (entry, folder) = source.examine(PathBuf::new(), None);
        folders.extend(folder);
        each(entry)?;
        while let Some(Folder { path: folder, ancestors }) = folders.pop() {
            let names = match root.list(&joined(top, &folder)) {
                Ok(names) => names,
                Err(e) => {
                    each(Entry::Problem(source.path(&folder), reason(&e)))?;
                    continue;
                }
            };
            for name in names {
                match name {
                    Ok(name) => {
                        let (entry, subfolder) = source.examine(folder.join(name), Some(ancestors.clone()));
                        folders.extend(subfolder);
                        each(entry)?;
                    }
                    Err(e) => each(Entry::Problem(source.path(&folder), reason(&e)))?,
                }
            }
        }
    }
    Ok(())
}

/// A folder whose contents are to be listed: its path below the source.
struct Folder {
    path: PathBuf,
    ancestors: Rc<Ancestors>,
}

/// One of the sources.
struct Source<'a> {
    root: &'a Root,
    top: &'a Path,
    index: u32,
    recursive: bool,
}

impl Source<'_> {
    /// The entry for what is at `below`, and the same as a folder to list if it is one.
    fn examine(&self, below: PathBuf, parent: Option<Rc<Ancestors>>) -> (Entry, Option<Folder>) {
        let (path, name) = (joined(self.top, &below), self.path(&below));
        let problem = |name, reason: &str| (Entry::Problem(name, reason.into()), None);
        if name.path.len() > MAX_PATH {
            return problem(SourcePath { path: vec![], ..name }, "it contains a path of more than 8192 bytes");
        }
        let metadata = match self.root.metadata(&path) {
            Ok(metadata) => metadata,
            Err(e) => return problem(name, &reason(&e)),
        };
        if metadata.is_file() {
            return (Entry::File(name, path, metadata.len()), None);
        }
        if !metadata.is_dir() {
            return problem(name, "it is neither a file nor a folder (a device, pipe or socket), and is not copied");
        }
        if !self.recursive {
            return problem(name, "it is a folder; -r copies folders");
        }
        let id = (metadata.dev(), metadata.ino());
        if parent.as_ref().is_some_and(|parent| parent.has(id)) {
            return problem(name, "it is a link to a folder that it is in, and is not followed");
        }
        let folder = Folder { path: below, ancestors: Rc::new(Ancestors { id, parent }) };
        (Entry::Folder(name, attributes(&metadata)), Some(folder))
    }

    fn path(&self, below: &Path) -> SourcePath {
        SourcePath { source: self.index, path: below.as_os_str().as_bytes().to_vec() }
    }
}

fn joined(top: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { top.into() } else { top.join(below) }
}
