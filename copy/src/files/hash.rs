//! BLAKE3 hashes of parts of files.

use crate::thread::Stop;
use blake3::Hasher;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that are read and hashed at a time, at most.
const BLOCK: usize = 256 << 10;
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Hashes the first `length` bytes of a file; `None` if the file is shorter. Fails if the file cannot be read, and with
/// the kind `Interrupted` once `stop` is set.
pub(crate) fn hash_prefix(file: &File, length: u64, stop: &Stop) -> io::Result<Option<Hasher>> {
    let (mut hasher, mut position) = (Hasher::new(), 0);
    let mut buffer = vec![0; BLOCK.min(usize::try_from(length).unwrap_or(BLOCK))];
    while position < length {
        stop.check()?;
        let room = buffer.len().min(usize::try_from(length - position).unwrap_or(BLOCK));
        match file.read_at(&mut buffer[..room], position) {
            Ok(0) => return Ok(None),
            Ok(read) => {
                hasher.update(&buffer[..read]);
                position += read as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(Some(hasher))
}

/// Adds `length` zero bytes, as a hole of this length reads, to a hash. Fails with the kind `Interrupted` once `stop`
/// is set.
pub(crate) fn hash_zeros(hasher: &mut Hasher, mut length: u64, stop: &Stop) -> io::Result<()> {
    while length > 0 {
        stop.check()?;
        let part = length.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..part as usize]);
        length -= part;
    }
    Ok(())
}
