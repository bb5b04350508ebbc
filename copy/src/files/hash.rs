//! BLAKE3 hashes of parts of files.

use crate::thread::Stop;
use blake3::Hasher;
use cap_std::fs::{Metadata, MetadataExt};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that are read and hashed at a time, at most.
const BLOCK: usize = 256 << 10;
/// How many files [`Hashed`] remembers.
const REMEMBERED: usize = 1 << 16;
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// How often files were hashed over a connection. A peer must not have the same large file read again and again: a file
/// is hashed as often as it has names (hard links). Of more than [`REMEMBERED`] files, the earlier ones are forgotten.
#[derive(Default)]
pub(crate) struct Hashed(HashMap<(u64, u64), u64>);

impl Hashed {
    /// Counts that the file with this `metadata` is to be hashed. Returns whether it may be.
    pub(crate) fn may_hash(&mut self, metadata: &Metadata) -> bool {
        if self.0.len() >= REMEMBERED {
            self.0.clear();
        }
        let times = self.0.entry((metadata.dev(), metadata.ino())).or_default();
        *times += 1;
        *times <= metadata.nlink()
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_hashed_once_for_each_of_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        std::fs::write(&one, "text").unwrap();
        let metadata = |path| Metadata::from_file(&File::open(path).unwrap()).unwrap();
        let mut hashed = Hashed::default();
        assert!(hashed.may_hash(&metadata(&one)));
        assert!(!hashed.may_hash(&metadata(&one)));
        std::fs::write(&two, "text").unwrap();
        assert!(hashed.may_hash(&metadata(&two)));
        let mut hashed = Hashed::default();
        std::fs::hard_link(&one, dir.path().join("another")).unwrap();
        assert_eq!([(); 3].map(|()| hashed.may_hash(&metadata(&one))), [true, true, false]);
    }
}
