//! What the destination already has of a file, so that an interrupted copy is resumed and an unchanged file is not sent
//! again.

use crate::files::hash::hash_prefix;
use crate::files::partial::Partial;
use crate::files::root::open_no_follow;
use crate::thread::Stop;
use blake3::Hasher;
use cap_std::fs::{Dir, OpenOptions};
use std::io;
use std::path::Path;

/// What the destination has of a file that may be the file's beginning. The hashers have read these bytes.
pub(super) enum Existing {
    Nothing,
    /// The partial file of an interrupted copy.
    Partial(Partial, Box<Hasher>),
    /// A file with the same name and the same size, which is the whole file if the hashes match.
    Complete(Box<Hasher>),
}

impl Existing {
    /// Looks for what `dir` has of the file `target` of `size` bytes. Returns it with its length in bytes.
    pub(super) fn find(dir: &Dir, target: &Path, size: u64, stop: &Stop) -> io::Result<(Existing, u64)> {
        if let Some(partial) = Partial::find(dir, target, stop)? {
            let length = partial.file().metadata()?.len();
            if (1..=size).contains(&length)
                && let Some(hasher) = hash_prefix(partial.file(), length, stop)?
            {
                return Ok((Existing::Partial(partial, Box::new(hasher)), length));
            }
        } else if size > 0
            && dir.symlink_metadata(target).is_ok_and(|there| there.is_file() && there.len() == size)
            // A file that cannot be read is replaced.
            && let Ok(file) = open_no_follow(dir, target, OpenOptions::new().read(true))
            && file.metadata()?.is_file()
            && let Some(hasher) = hash_prefix(&file, size, stop)?
        {
            return Ok((Existing::Complete(Box::new(hasher)), size));
        }
        Ok((Existing::Nothing, 0))
    }

    /// The BLAKE3 of the bytes; zeros if there are none.
    pub(super) fn hash(&self) -> [u8; 32] {
        match self {
            Existing::Nothing => [0; 32],
            Existing::Partial(_, hasher) | Existing::Complete(hasher) => *hasher.finalize().as_bytes(),
        }
    }
}
