//! The extents of a sparse file: where it has data and where it has holes.

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use std::fs::File;

/// A run of data or a hole, with its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Data(u64),
    Hole(u64),
}

/// The extent that begins at byte `position` of a file of `size` bytes; `None` at the end of the file. Where the file
/// system does not report holes, the rest of the file counts as data.
pub(crate) fn next(file: &File, position: u64, size: u64) -> Option<Extent> {
    let rest = size.checked_sub(position).filter(|rest| *rest > 0)?;
    Some(match seek(file, SeekFrom::Data(position)) {
        Ok(data) if data > position => Extent::Hole((data - position).min(rest)),
        Ok(_) => {
            let hole = seek(file, SeekFrom::Hole(position)).unwrap_or(size);
            Extent::Data(hole.checked_sub(position).filter(|length| *length > 0).unwrap_or(rest).min(rest))
        }
        // There is no data from `position` on.
        Err(Errno::NXIO) => Extent::Hole(rest),
        Err(_) => Extent::Data(rest),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn extents_cover_the_file() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10 << 20).unwrap();
        file.write_all_at(&[1; 1 << 20], 2 << 20).unwrap();
        let (mut position, mut data) = (0, 0);
        while let Some(extent) = next(&file, position, 10 << 20) {
            position += match extent {
                Extent::Data(length) => {
                    data += length;
                    length
                }
                Extent::Hole(length) => length,
            };
        }
        assert_eq!(position, 10 << 20);
        assert!((1 << 20..=10 << 20).contains(&data), "{data}");
        assert_eq!(next(&file, 10 << 20, 10 << 20), None);
        assert_eq!(next(&file, 11 << 20, 10 << 20), None);
    }
}
