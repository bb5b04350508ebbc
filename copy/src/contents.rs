//! A file's bytes and their hash.

use crate::pipe::BLOCK;
use crate::stop::Stop;
use blake3::Hasher;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Hashes the first `length` bytes of a file; none if it has fewer.
pub(crate) fn prefix(file: &File, length: u64, stop: &Stop) -> io::Result<Option<Hasher>> {
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

/// Hashes a hole.
pub(crate) fn zeros(hasher: &mut Hasher, mut length: u64, stop: &Stop) -> io::Result<()> {
    while length > 0 {
        stop.check()?;
        let part = length.min(ZEROS.len() as u64);
        hasher.update(&ZEROS[..part as usize]);
        length -= part;
    }
    Ok(())
}
