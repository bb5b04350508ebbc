//! The thread that reads the wanted files and sends their contents.

use super::open_files::OpenFiles;
use super::sources::{Sources, Wanted};
use crate::files::attributes::attributes;
use crate::files::extents::{self, Extent};
use crate::files::hash::{hash_prefix, hash_zeros};
use crate::frame::write;
use crate::message::{Attributes, Piece, truncated};
use crate::pipe::{BLOCK, Writer};
use crate::reason::reason;
use crate::thread::Stop;
use blake3::Hasher;
use bytes::{Bytes, BytesMut};
use cap_std::fs::{Metadata, MetadataExt};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{self, TryRecvError};

/// The contents as they are sent.
pub(super) struct Contents {
    sources: Arc<Sources>,
    open: Arc<OpenFiles>,
    pieces: Writer,
    stop: Stop,
}

/// What came of reading a block of a file and sending it.
enum Sent {
    /// This number of bytes was sent; zero at the end of the file.
    Bytes(u64),
    /// The file cannot be read.
    Unreadable(io::Error),
}

impl Contents {
    pub(super) fn new(sources: Arc<Sources>, open: Arc<OpenFiles>, pieces: Writer, stop: Stop) -> Contents {
        Contents { sources, open, pieces, stop }
    }

    /// Sends the wanted files until no more are wanted.
    pub(super) fn send_all(mut self, wanted: &mpsc::Receiver<Wanted>) -> io::Result<()> {
        loop {
            let next = match wanted.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.pieces.flush()?;
                    wanted.recv().ok()
                }
                next => next.ok(),
            };
            let Some(next) = next else { break };
            match self.sources.root.open(&next.path) {
                Ok((file, metadata)) => self.send(&next, &file, &metadata)?,
                Err(e) => {
                    let attributes = Attributes::default();
                    write(&mut self.pieces, &Piece::Begin { id: next.id, offset: 0, size: 0, attributes })?;
                    self.abandon(&reason(&e))?;
                }
            }
        }
        write(&mut self.pieces, &Piece::Over)?;
        self.pieces.flush()
    }

    /// Gives up the file that is being sent. Users of both ends learn the reason when the receiver reports the file as
    /// failed.
    fn abandon(&mut self, reason: &str) -> io::Result<()> {
        write(&mut self.pieces, &Piece::Abandoned(truncated(reason.into())))
    }

    fn send(&mut self, wanted: &Wanted, file: &File, metadata: &Metadata) -> io::Result<()> {
        let size = metadata.len();
        let (mut hasher, offset) = self.resume_from(wanted, file, size)?;
        let attributes = attributes(metadata);
        write(&mut self.pieces, &Piece::Begin { id: wanted.id, offset, size, attributes })?;
        let mut position = offset;
        // A file whose blocks (of 512 bytes, whatever the file system's) cover its size has no holes to look for.
        let whole = metadata.blocks() * 512 >= size;
        while let Some(extent) = if whole {
            (position < size).then_some(Extent::Data(size - position))
        } else {
            extents::next(file, position, size)
        } {
            match extent {
                Extent::Hole(length) => {
                    hash_zeros(&mut hasher, length, &self.stop)?;
                    write(&mut self.pieces, &Piece::Hole(length))?;
                    position += length;
                }
                Extent::Data(length) => {
                    let end = position + length;
                    while position < end {
                        self.stop.check()?;
                        if !self.open.contains(wanted.id) {
                            // The receiver has reported the file as failed, with the reason.
                            return self.abandon("");
                        }
                        match self.send_block(file, position, end, &mut hasher)? {
                            Sent::Bytes(0) => {
                                return self.abandon("it became shorter while it was copied; copy it again");
                            }
                            Sent::Bytes(sent) => position += sent,
                            Sent::Unreadable(e) => return self.abandon(&reason(&e)),
                        }
                    }
                }
            }
        }
        let unchanged = Metadata::from_file(file)
            .is_ok_and(|now| now.len() == size && self::attributes(&now).modified == attributes.modified);
        write(&mut self.pieces, &Piece::End { hash: *hasher.finalize().as_bytes(), changed: !unchanged })
    }

    /// Where to begin, and the hash of the bytes before: at the receiver's offset if it has the beginning of this file,
    /// at zero otherwise.
    fn resume_from(&self, wanted: &Wanted, file: &File, size: u64) -> io::Result<(Hasher, u64)> {
        if wanted.offset == 0 {
            return Ok((Hasher::new(), 0));
        }
        match hash_prefix(file, wanted.offset, &self.stop) {
            Ok(Some(hasher)) if wanted.offset <= size && hasher.finalize() == wanted.hash => {
                Ok((hasher, wanted.offset))
            }
            Err(e) if self.stop.is_set() => Err(e),
            // A file that cannot be read fails again when it is sent.
            Ok(_) | Err(_) => Ok((Hasher::new(), 0)),
        }
    }

    /// Reads a block from `position`, at most up to `end`, adds it to the hash and sends it.
    fn send_block(&mut self, file: &File, position: u64, end: u64, hasher: &mut Hasher) -> io::Result<Sent> {
        let room = usize::try_from(end - position).unwrap_or(BLOCK).min(BLOCK);
        let mut block = BytesMut::zeroed(room);
        let read = match file.read_at(&mut block, position) {
            Ok(read) => read,
            Err(e) => return Ok(Sent::Unreadable(e)),
        };
        if read > 0 {
            let block: Bytes = block.freeze().slice(..read);
            hasher.update(&block);
            write(&mut self.pieces, &Piece::Data(read as u32))?;
            self.pieces.write_block(block)?;
        }
        Ok(Sent::Bytes(read as u64))
    }
}
