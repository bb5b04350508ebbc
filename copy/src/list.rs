//! What there is to send: the sources, and if wanted all that is in their folders, links followed.

use crate::message::{Attributes, LONGEST_PATH, Place};
use crate::root::Root;
use cap_std::fs::{Metadata, MetadataExt};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Something that was found.
pub(crate) enum Found {
    Folder(Place, Attributes),
    /// A file, where it is opened, and its bytes.
    File(Place, PathBuf, u64),
    /// What cannot be sent, and why.
    Problem(Place, String),
}

/// A folder, and those that it is in: what is met again below itself is a loop.
struct Ancestors {
    id: (u64, u64),
    parent: Option<Rc<Ancestors>>,
}

impl Ancestors {
    fn has(&self, id: (u64, u64)) -> bool {
        self.id == id || self.parent.as_ref().is_some_and(|parent| parent.has(id))
    }
}

/// Tells `each` what is at the sources, a folder before its contents. Ends early with its first error.
pub(crate) fn walk(
    root: &Root,
    sources: &[PathBuf],
    recursive: bool,
    each: &mut dyn FnMut(Found) -> io::Result<()>,
) -> io::Result<()> {
    for (source, top) in (0..).zip(sources) {
        // Folders whose contents are not listed yet.
        let mut folders: Vec<(PathBuf, Rc<Ancestors>)> = Vec::new();
        let mut next = Some((PathBuf::new(), None));
        loop {
            if let Some((below, parent)) = next.take() {
                let (found, folder) = look(root, top, source, below, parent, recursive);
                folders.extend(folder);
                each(found)?;
            }
            let Some((folder, ancestors)) = folders.pop() else { break };
            let names = match root.list(&joined(top, &folder)) {
                Ok(names) => names,
                Err(e) => {
                    each(Found::Problem(place(source, &folder), reason(&e)))?;
                    continue;
                }
            };
            for name in names {
                match name {
                    Ok(name) => {
                        let below = folder.join(name);
                        let (found, folder) = look(root, top, source, below, Some(ancestors.clone()), recursive);
                        folders.extend(folder);
                        each(found)?;
                    }
                    Err(e) => each(Found::Problem(place(source, &folder), reason(&e)))?,
                }
            }
        }
    }
    Ok(())
}

type Folder = Option<(PathBuf, Rc<Ancestors>)>;

fn look(
    root: &Root,
    top: &Path,
    source: u32,
    below: PathBuf,
    parent: Option<Rc<Ancestors>>,
    recursive: bool,
) -> (Found, Folder) {
    let (path, place) = (joined(top, &below), place(source, &below));
    let problem = |place, reason: &str| (Found::Problem(place, reason.into()), None);
    if place.path.len() > LONGEST_PATH {
        return problem(Place { path: vec![], ..place }, "a path in it is too long");
    }
    let metadata = match root.metadata(&path) {
        Ok(metadata) => metadata,
        Err(e) => return problem(place, &reason(&e)),
    };
    if metadata.is_file() {
        return (Found::File(place, path, metadata.len()), None);
    }
    if !metadata.is_dir() {
        return problem(place, "it is neither file nor folder (a device, pipe or socket), and is not copied");
    }
    if !recursive {
        return problem(place, "it is a folder; -r copies folders");
    }
    let id = (metadata.dev(), metadata.ino());
    if parent.as_ref().is_some_and(|parent| parent.has(id)) {
        return problem(place, "it is a link to a folder that it is in, and is not followed");
    }
    let attributes = attributes(&metadata);
    (Found::Folder(place, attributes), Some((below, Rc::new(Ancestors { id, parent }))))
}

fn joined(top: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { top.into() } else { top.join(below) }
}

fn place(source: u32, below: &Path) -> Place {
    Place { source, path: below.as_os_str().as_bytes().to_vec() }
}

/// A file's permissions and times.
pub(crate) fn attributes(of: &Metadata) -> Attributes {
    let time = |seconds: i64, nanoseconds: i64| (seconds, u32::try_from(nanoseconds).unwrap_or(0));
    Attributes {
        mode: of.mode(),
        modified: time(of.mtime(), of.mtime_nsec()),
        accessed: time(of.atime(), of.atime_nsec()),
    }
}

/// An error of the system, as a reason.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder".into(),
        io::ErrorKind::PermissionDenied if text.contains("outside") => {
            "it leads out of the folder that is served, and is not followed".into()
        }
        io::ErrorKind::PermissionDenied => "permission denied; check who may read or write it".into(),
        io::ErrorKind::StorageFull => "no space left; make room and copy again, which continues".into(),
        _ => text.into(),
    }
}
