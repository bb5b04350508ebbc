//! Files that are there as a whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes the file `path` with what `fill` writes. Whoever reads it meanwhile, or after a crash, finds the file that
/// was there before.
///
/// # Errors
/// If the file cannot be written, or `fill` fails.
pub fn write(path: &Path, fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> io::Result<()> {
    let pending = Pending::begin(path.into())?;
    let mut file = BufWriter::new(pending.file.as_file());
    fill(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?;
    pending.keep()
}

/// A file that is being written. It is there when it is [kept](Pending::keep); if it is dropped, nothing is left of it.
pub struct Pending {
    file: NamedTempFile,
    path: PathBuf,
}

impl Pending {
    /// Begins the file `path`.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn begin(path: PathBuf) -> io::Result<Pending> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666); // less the umask, as for any new file
        #[cfg(unix)]
        builder.permissions(permissions);
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = builder.prefix(".thalweg-").tempfile_in(folder)?;
        Ok(Pending { file, path })
    }

    /// What is to be written into it. It begins where others that this returned have got to.
    ///
    /// # Errors
    /// If the system has no further descriptor.
    pub fn writer(&self) -> io::Result<File> {
        self.file.as_file().try_clone()
    }

    /// Makes the file visible, in place of one that was there before.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn keep(self) -> io::Result<()> {
        self.file.persist(&self.path)?;
        Ok(())
    }

    /// Where it will be.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
