//! The folder for results. They are written into a temporary folder beside it, which is renamed when they are complete.

use crate::failure::Failure;
use scenario::reason;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// The files that `report::write` writes. A folder that holds any other file is not replaced.
const FILES: [&str; 6] =
    ["summary.json", "flows.parquet", "links.parquet", "transfers.parquet", "completion.parquet", "report.html"];

/// A folder for results. If it is dropped before [`Folder::publish`], it leaves nothing behind.
pub struct Folder {
    /// The name that the user gave.
    name: PathBuf,
    /// The absolute path of that name.
    goal: PathBuf,
    /// Where results are written. It is declared before `made`, because it lies in those folders and must be removed
    /// before them.
    temporary: TempDir,
    made: Made,
}

/// Folders that had to be made above the results. When they are dropped, those that are empty are removed.
struct Made(Vec<PathBuf>);

impl Drop for Made {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            // A folder that is not empty is not removed.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Folder {
    /// Prepares to write results to `name`, which must not be there, or hold earlier results and nothing else.
    pub fn prepare(name: &Path) -> Result<Folder, Failure> {
        let wrong = |why: String| Failure::Wrong(vec![format!("--out {}: {why}", name.display())]);
        let unwritable = |e: io::Error| wrong(format!("cannot be written ({}); name another folder", reason(&e)));
        let goal = match name.canonicalize() {
            Ok(existing) => {
                if let Some(why) = not_ours(&existing).map_err(unwritable)? {
                    return Err(wrong(why));
                }
                existing
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => std::path::absolute(name).map_err(unwritable)?,
            Err(e) => return Err(unwritable(e)),
        };
        let parent = goal.parent().ok_or_else(|| wrong("is no place for results; name another folder".into()))?;
        let made = make(parent).map_err(unwritable)?;
        let temporary = temporary_in(parent).map_err(unwritable)?;
        Ok(Folder { name: name.to_path_buf(), goal, temporary, made })
    }

    /// The folder into which to write results.
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Gives the folder its name, in place of earlier results.
    pub fn publish(mut self) -> Result<(), Failure> {
        let done = self.swap();
        done.map_err(|e| {
            Failure::Failed(format!("--out {}: cannot be written ({})", self.name.display(), reason(&e)))
        })?;
        self.temporary.disable_cleanup(true);
        self.made.0.clear();
        Ok(())
    }

    fn swap(&self) -> io::Result<()> {
        if !self.goal.exists() {
            return fs::rename(self.temporary.path(), &self.goal);
        }
        // A folder cannot be renamed to that of a folder that is not empty, so earlier results are moved away first.
        let aside = temporary_in(self.goal.parent().unwrap_or(&self.goal))?;
        let earlier = aside.path().join("earlier");
        fs::rename(&self.goal, &earlier)?;
        fs::rename(self.temporary.path(), &self.goal).inspect_err(|_| {
            let _ = fs::rename(&earlier, &self.goal);
        })
    }
}

/// The reason why `folder` must not be replaced, if there is one.
fn not_ours(folder: &Path) -> io::Result<Option<String>> {
    if !folder.is_dir() {
        return Ok(Some("is a file; name a folder".into()));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name());
    }
    if !names.is_empty() && !names.iter().any(|name| name == "summary.json") {
        return Ok(Some("is there and holds no earlier results; name another folder, or remove it".into()));
    }
    let other = names.iter().find(|name| !FILES.iter().any(|ours| ours == name));
    Ok(other.map(|name| {
        format!("holds `{}`, which would be lost; move it away, or name another folder", name.to_string_lossy())
    }))
}

/// Makes `folder` and the folders above it that are missing.
fn make(folder: &Path) -> io::Result<Made> {
    let mut made = Made(Vec::new());
    let missing: Vec<&Path> = folder.ancestors().take_while(|above| !above.exists()).collect();
    for above in missing.into_iter().rev() {
        fs::create_dir(above)?;
        made.0.push(above.to_path_buf());
    }
    Ok(made)
}

/// A temporary folder in `parent`, which is on the same file system as the results, so that renaming copies no data.
fn temporary_in(parent: &Path) -> io::Result<TempDir> {
    let mut builder = Builder::new();
    // The umask is applied to it, as for any new folder.
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    #[cfg(unix)]
    builder.permissions(permissions);
    builder.prefix(".thalweg-").tempdir_in(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(path: &Path) -> String {
        match Folder::prepare(path) {
            Err(Failure::Wrong(lines)) => lines.concat(),
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("{} was accepted", path.display()),
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn complete_results_replace_earlier_ones_and_leave_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let goal = home.path().join("a/b");
        for text in ["first", "second"] {
            let folder = Folder::prepare(&goal).unwrap();
            fs::write(folder.path().join("summary.json"), text).unwrap();
            folder.publish().unwrap();
            assert_eq!(fs::read_to_string(goal.join("summary.json")).unwrap(), text);
        }
        assert_eq!(names(&home.path().join("a")), ["b"]);
    }

    #[test]
    fn incomplete_results_leave_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::prepare(&home.path().join("a/b/c")).unwrap();
        fs::write(folder.path().join("summary.json"), "half").unwrap();
        drop(folder);
        assert!(names(home.path()).is_empty());
    }

    #[test]
    fn folders_with_other_files_are_not_replaced() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("thesis.tex"), "").unwrap();
        assert!(wrong(home.path()).contains("holds no earlier results"));
        fs::write(home.path().join("summary.json"), "").unwrap();
        assert!(wrong(home.path()).contains("`thesis.tex`, which would be lost"));
        assert!(wrong(&home.path().join("thesis.tex")).contains("is a file"));
        assert!(wrong(&home.path().join("thesis.tex/results")).contains("cannot be written"));
        assert_eq!(names(home.path()), ["summary.json", "thesis.tex"]);
    }
}
