//! A file that is being received, until it has its name.

use super::existing::Existing;
use crate::files::attributes::set_attributes;
use crate::files::hash::hash_zeros;
use crate::files::partial::Partial;
use crate::files::root::open_no_follow;
use crate::frame::violation;
use crate::message::{Attributes, Options};
use crate::thread::Stop;
use blake3::Hasher;
use cap_std::fs::{Dir, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// What the sender says about a file before its contents.
#[derive(Clone, Copy)]
pub(super) struct Header {
    /// The file's number.
    pub(super) id: u64,
    /// The first byte that is sent.
    pub(super) offset: u64,
    /// The file's size in bytes.
    pub(super) size: u64,
    pub(super) attributes: Attributes,
}

/// Where the contents of a file go.
enum Output {
    /// To a partial file, which gets the final name at the end.
    Partial(Partial),
    /// Nowhere: the file is at the destination already, complete and under its final name.
    Unchanged,
}

/// A file that is being received.
pub(super) struct IncomingFile {
    pub(super) header: Header,
    /// Its path below the destination's folder.
    pub(super) target: PathBuf,
    /// Bytes that the receiver has.
    pub(super) position: u64,
    /// Has read these bytes.
    hasher: Hasher,
    output: Output,
}

impl IncomingFile {
    /// Begins to receive a file. What the destination has of it is used from byte zero up to the header's offset. Fails
    /// if the partial file cannot be opened or written, or if the file has grown since it was compared.
    pub(super) fn begin(
        header: Header,
        dir: &Dir,
        target: &Path,
        existing: Existing,
        stop: &Stop,
    ) -> io::Result<IncomingFile> {
        let Header { offset, size, .. } = header;
        let (output, hasher) = match existing {
            Existing::Complete(_) if offset > 0 && size != offset => {
                return Err(io::Error::other("it grew while it was copied; copy it again"));
            }
            Existing::Complete(hasher) if offset > 0 => (Output::Unchanged, *hasher),
            Existing::Partial(partial, hasher, _) if offset > 0 => (Output::Partial(partial), *hasher),
            Existing::Partial(partial, ..) => (Output::Partial(partial), Hasher::new()),
            Existing::Complete(_) | Existing::Nothing => {
                (Output::Partial(Partial::create(dir, target, stop)?), Hasher::new())
            }
        };
        if let Output::Partial(partial) = &output {
            partial.truncate(offset)?;
        }
        Ok(IncomingFile { header, target: target.into(), position: offset, hasher, output })
    }

    /// Whether the file is at the destination already, so that no contents may come.
    pub(super) fn is_unchanged(&self) -> bool {
        matches!(self.output, Output::Unchanged)
    }

    /// Writes the next bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Output::Partial(partial) = &self.output {
            partial.write(bytes, self.position)?;
        }
        self.hasher.update(bytes);
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Leaves a hole of `length` bytes. Fails with `InvalidData` if the hole ends behind the file's size.
    pub(super) fn skip(&mut self, length: u64, stop: &Stop) -> io::Result<()> {
        let end = self.position.checked_add(length).filter(|end| *end <= self.header.size);
        let end = end.ok_or_else(|| violation("a file is longer than its announced size"))?;
        hash_zeros(&mut self.hasher, length, stop)?;
        self.position = end;
        Ok(())
    }

    /// Verifies the file against its hash. Fails with the reason, and removes what was received.
    pub(super) fn verify(self, dir: &Dir, hash: [u8; 32], changed: bool) -> Result<VerifiedFile, String> {
        let IncomingFile { header, target, position, hasher, output } = self;
        // blake3 compares in constant time, which is not needed here.
        if hasher.finalize() != hash || position != header.size {
            if let Output::Partial(partial) = output {
                partial.remove(dir);
            }
            return Err("it was damaged on the way or on a disk; copy it again".into());
        }
        Ok(VerifiedFile { header, target, changed, output })
    }
}

/// A file that was received as it was sent.
pub(super) struct VerifiedFile {
    pub(super) header: Header,
    /// Its path below the destination's folder.
    pub(super) target: PathBuf,
    /// Whether the source was changed while it was read.
    pub(super) changed: bool,
    output: Output,
}

impl VerifiedFile {
    /// Flushes the file to the disk, unless `options` say otherwise, and gives it its attributes and its name.
    pub(super) fn complete(&self, dir: &Dir, options: Options) -> io::Result<()> {
        let Header { size, attributes, .. } = &self.header;
        match &self.output {
            Output::Partial(partial) => partial.finish(dir, *size, attributes, options),
            Output::Unchanged => complete_unchanged(dir, &self.target, attributes, options),
        }
    }
}

/// Gives a file that is at the destination already its attributes, and flushes it: nobody may have done so before.
fn complete_unchanged(dir: &Dir, target: &Path, attributes: &Attributes, options: Options) -> io::Result<()> {
    if !options.preserve && !options.sync {
        return Ok(());
    }
    let file = open_no_follow(dir, target, OpenOptions::new().read(true))?;
    if options.preserve {
        set_attributes(&file, attributes, true)?;
    }
    if options.sync { file.sync_all() } else { Ok(()) }
}
