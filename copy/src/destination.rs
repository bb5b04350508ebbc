//! Where copies go: into a folder that is there or, for a single source, to a name.

use crate::list::reason;
use crate::name::shown_path;
use crate::root::{Root, path_or_dot};
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What a destination means.
pub(crate) struct Destination {
    /// The folder that sources go into.
    pub(crate) dir: Dir,
    /// What they are called there.
    pub(crate) names: Vec<PathBuf>,
    /// That is the destination's own last component, and not what the source is called.
    pub(crate) named: bool,
}

/// What the destination `path` means for sources of these `names`; `named` if an earlier attempt found that it names the source, and
/// may have made a folder of that name since. Fails, with a line, if there is no such folder.
pub(crate) fn resolve(root: &Root, path: &Path, names: Vec<PathBuf>, named: bool) -> Result<Destination, String> {
    let error = |e: io::Error| format!("{}: {}", shown_path(path), reason(&e));
    match root.metadata(path) {
        Ok(found) if found.is_dir() && !named => {
            return Ok(Destination { dir: open(root, path).map_err(error)?, names, named });
        }
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(error(e)),
        Ok(_) | Err(_) => {}
    }
    let name = path.file_name().filter(|_| names.len() == 1 && !path.as_os_str().as_bytes().ends_with(b"/"));
    let name = name.ok_or_else(|| format!("{}: there is no such folder; make it first", shown_path(path)))?;
    let parent = open(root, path.parent().unwrap_or(Path::new(""))).map_err(error)?;
    Ok(Destination { dir: parent, names: vec![name.into()], named: true })
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

    #[test]
    fn one_source_may_be_renamed_and_several_need_a_folder() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("file"), "").unwrap();
        let dir = Dir::open_ambient_dir(home.path(), ambient_authority()).unwrap();
        let root = Root::Within(dir);
        let resolve = |path: &str, names: &[&str]| {
            resolve(&root, Path::new(path), names.iter().map(PathBuf::from).collect(), false).map(|found| found.names)
        };
        assert_eq!(resolve("", &["a", "b"]), Ok(vec!["a".into(), "b".into()]));
        assert_eq!(resolve("new", &["a"]), Ok(vec!["new".into()]));
        assert_eq!(resolve("file", &["a"]), Ok(vec!["file".into()]));
        std::fs::create_dir(home.path().join("made")).unwrap();
        assert_eq!(resolve("made", &["a"]), Ok(vec!["a".into()]));
        let again = super::resolve(&root, Path::new("made"), vec!["a".into()], true).unwrap();
        assert_eq!(again.names, [PathBuf::from("made")], "an attempt that was broken off has made it");
        for (path, names) in [("new", &["a", "b"][..]), ("new/", &["a"]), ("file", &["a", "b"]), ("no/such", &["a"])] {
            assert!(resolve(path, names).is_err(), "{path}");
        }
        for path in ["..", "../x", "/tmp", "a/../..", "/"] {
            assert!(resolve(path, &["a"]).is_err(), "{path}");
        }
    }
}
