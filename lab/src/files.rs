//! Files that are there as a whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the file `path` with what `fill` writes. Whoever reads it meanwhile, or after a crash, finds the file that
/// was there before.
///
/// # Errors
/// If the file cannot be written, or `fill` fails.
pub fn write(path: &Path, fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666); // less the umask, as for any new file
    #[cfg(unix)]
    builder.permissions(permissions);
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = BufWriter::new(builder.prefix(".thalweg-").tempfile_in(folder)?);
    fill(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path)?;
    Ok(())
}
