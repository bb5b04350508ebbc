//! The destination of a copy: an existing folder that the sources go into or, for a single source, the name of its
//! copy.

use crate::error::Error;
use crate::files::root::{Root, path_or_dot};
use crate::message::SourcePath;
use crate::name::path_below;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where received files go.
pub(crate) struct Destination {
    /// The folder in which all of them stay.
    pub(crate) dir: Dir,
    /// The path below `dir` of each source's copy. Empty for a source whose contents go right into the folder.
    pub(crate) names: Vec<PathBuf>,
    /// Whether the destination's last component is the name of the copy of the one source, and not a folder that the
    /// source goes into.
    pub(crate) renames: bool,
}

impl Destination {
    /// Resolves the destination `path` for sources called `names`. `renames` is true if an earlier attempt of the same
    /// copy found that the destination renames the source: a folder that has the new name now was made by that attempt.
    /// Fails if there is no such folder.
    pub(crate) fn resolve(root: &Root, path: &Path, names: Vec<PathBuf>, renames: bool) -> Result<Destination, Error> {
        let error = |source: io::Error| Error::File { path: path.into(), source };
        match root.metadata(path) {
            Ok(found) if found.is_dir() && !renames => {
                return Ok(Destination { dir: open(root, path).map_err(error)?, names, renames });
            }
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(error(e)),
            Ok(_) | Err(_) => {}
        }
        let name = path.file_name().filter(|_| names.len() == 1 && !path.as_os_str().as_bytes().ends_with(b"/"));
        let name = name.ok_or_else(|| Error::NoFolder(path.into()))?;
        let parent = open(root, path.parent().unwrap_or(Path::new(""))).map_err(error)?;
        Ok(Destination { dir: parent, names: vec![name.into()], renames: true })
    }

    /// Names the copy of the source with this index; if the destination's last component names it, that counts.
    pub(crate) fn name(&mut self, source: usize, name: PathBuf) {
        if !self.renames
            && let Some(there) = self.names.get_mut(source)
        {
            *there = name;
        }
    }

    /// The path below `dir` of what the sender calls `path`; `None` if the copy does not ask for such a path.
    pub(crate) fn target(&self, path: &SourcePath, recursive: bool) -> Option<PathBuf> {
        let (top, below) = (self.names.get(path.source as usize)?, path_below(&path.path)?);
        if !recursive && !below.as_os_str().is_empty() {
            return None;
        }
        Some(match (top.as_os_str().is_empty(), below.as_os_str().is_empty()) {
            (true, _) => below,
            (false, true) => top.clone(),
            (false, false) => top.join(below),
        })
    }
}

fn open(root: &Root, path: &Path) -> io::Result<Dir> {
    match root {
        Root::Anywhere => Dir::open_ambient_dir(path_or_dot(path), ambient_authority()),
        Root::Within(dir) => dir.open_dir(path_or_dot(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(home: &Path) -> Root {
        Root::Within(Dir::open_ambient_dir(home, ambient_authority()).unwrap())
    }

    fn resolve(root: &Root, path: &str, names: &[&str], renames: bool) -> Option<Vec<PathBuf>> {
        let names = names.iter().map(PathBuf::from).collect();
        Destination::resolve(root, Path::new(path), names, renames).ok().map(|found| found.names)
    }

    #[test]
    fn one_source_can_be_renamed_and_several_need_a_folder() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let root = root(home.path());
        assert_eq!(resolve(&root, "", &["a", "b"], false), Some(vec!["a".into(), "b".into()]));
        assert_eq!(resolve(&root, "new", &["a"], false), Some(vec!["new".into()]));
        assert_eq!(resolve(&root, "file", &["a"], false), Some(vec!["file".into()]));
        std::fs::create_dir(home.path().join("made")).unwrap();
        assert_eq!(resolve(&root, "made", &["a"], false), Some(vec!["a".into()]));
        for (path, names) in [("new", &["a", "b"][..]), ("new/", &["a"]), ("file", &["a", "b"]), ("no/such", &["a"])] {
            assert_eq!(resolve(&root, path, names, false), None, "{path}");
        }
    }

    #[test]
    fn a_repeated_attempt_continues_in_the_folder_that_the_first_one_made() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("made")).unwrap();
        assert_eq!(resolve(&root(home.path()), "made", &["a"], true), Some(vec!["made".into()]));
    }

    #[test]
    fn a_destination_outside_of_the_root_is_refused() {
        let home = tempfile::tempdir().unwrap();
        for path in ["..", "../x", "/tmp", "a/../..", "/"] {
            assert_eq!(resolve(&root(home.path()), path, &["a"], false), None, "{path}");
        }
    }
}
