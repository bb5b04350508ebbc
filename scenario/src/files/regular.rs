//! Opening files that users name.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// Opens a regular file. Anything else is refused: a pipe cannot be read twice, and a device may never end.
///
/// # Errors
/// Why the file cannot be opened.
pub(crate) fn open(file: &Path) -> io::Result<BufReader<File>> {
    // This comes before the file is opened, because opening a pipe waits for a process that writes to it.
    if !std::fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(BufReader::with_capacity(1 << 16, File::open(file)?))
}
