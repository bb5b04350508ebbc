//! The thread that reads the wanted files and sends their contents, and hashes those that the receiver compares.

use super::open_files::{OpenFiles, Prefix, PrefixHash};
use super::shared::SharedWriter;
use super::sources::{Asked, Sources};
use crate::blocks::Blocks;
use crate::files::attributes::attributes;
use crate::files::extents::{self, Extent};
use crate::files::hash::{Hashed, hash_prefix, hash_zeros};
use crate::frame::write;
use crate::message::{Attributes, MAX_HOLE, MAX_SIZE, Offer, Piece, truncated};
use crate::pipe::{BLOCK, Writer};
use crate::reason::reason;
use crate::thread::Stop;
use blake3::Hasher;
use cap_std::fs::{Metadata, MetadataExt};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::{self, TryRecvError};
use std::time::SystemTime;

/// The contents as they are sent.
pub(super) struct Contents {
    sources: Arc<Sources>,
    open: Arc<OpenFiles>,
    offers: SharedWriter,
    pieces: Writer,
    blocks: Blocks,
    hashed: Hashed,
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
    pub(super) fn new(
        sources: Arc<Sources>,
        open: Arc<OpenFiles>,
        offers: SharedWriter,
        pieces: Writer,
        stop: Stop,
    ) -> Contents {
        Contents { sources, open, offers, pieces, blocks: Blocks::default(), hashed: Hashed::default(), stop }
    }

    /// Sends what the receiver asks for until it asks for no more.
    pub(super) fn answer_all(mut self, asked: &mpsc::Receiver<Asked>) -> io::Result<()> {
        loop {
            let next = match asked.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.offers.flush()?;
                    self.pieces.flush()?;
                    asked.recv().ok()
                }
                next => next.ok(),
            };
            match next {
                Some(Asked::Hash(id, length)) => self.hash(id, length)?,
                Some(Asked::Contents(id)) => {
                    self.offers.flush()?;
                    self.send_wanted(id)?;
                }
                None => break,
            }
        }
        write(&mut self.pieces, &Piece::Over)?;
        self.pieces.flush()
    }

    /// Tells the receiver the hash of the first `length` bytes of a file.
    fn hash(&mut self, id: u64, length: u64) -> io::Result<()> {
        let Some((path, size)) = self.open.compared(id) else { return Ok(()) };
        if length > BLOCK as u64 {
            // Hashing takes a while.
            self.offers.flush()?;
            self.pieces.flush()?;
        }
        let hashed = match self.sources.root.open(&path) {
            // The receiver may have the whole of a file that has another size by now: it then gets all of it. So does
            // one that asks about the same file again.
            Ok((file, metadata)) if (length < size || metadata.len() == length) && self.hashed.may_hash(&metadata) => {
                let modified = modified(&metadata);
                match hash_prefix(&file, length, &self.stop) {
                    Err(e) if self.stop.is_set() => return Err(e),
                    // A file that cannot be read fails again when it is sent.
                    read => read.ok().flatten().map(|hasher| (hasher, modified)),
                }
            }
            Ok(_) | Err(_) => None,
        };
        let hash = hashed.as_ref().map(|(hasher, _)| *hasher.finalize().as_bytes());
        let prefix = hashed.zip(hash).map(|((hasher, modified), hash)| {
            let hash = if length == size { PrefixHash::Whole(hash) } else { PrefixHash::Part(Box::new(hasher)) };
            Prefix { length, modified, hash }
        });
        self.open.hashed(id, prefix);
        self.offers.write(&Offer::Hash { id, hash })
    }

    fn send_wanted(&mut self, id: u64) -> io::Result<()> {
        // A file that the receiver has reported as failed is not expected any more.
        let Some((path, prefix)) = self.open.begin(id) else { return Ok(()) };
        match self.sources.root.open(&path) {
            Ok((file, metadata)) if metadata.len() <= MAX_SIZE => self.send(id, prefix, &file, &metadata),
            opened => {
                let why = opened.map_or_else(|e| reason(&e), |_| "it is larger than a pebibyte".into());
                let attributes = Attributes::default();
                write(&mut self.pieces, &Piece::Begin { id, offset: 0, size: 0, attributes })?;
                self.abandon(&why)
            }
        }
    }

    /// Gives up the file that is being sent. Users of both ends learn the reason when the receiver reports the file as
    /// failed.
    fn abandon(&mut self, reason: &str) -> io::Result<()> {
        write(&mut self.pieces, &Piece::Abandoned(truncated(reason.into())))
    }

    /// Sends a file, after the prefix that the receiver has. A file that has changed since it was compared is sent from
    /// its beginning on.
    fn send(&mut self, id: u64, prefix: Option<Prefix>, file: &File, metadata: &Metadata) -> io::Result<()> {
        let size = metadata.len();
        let attributes = attributes(metadata);
        let modified = modified(metadata);
        let (mut hasher, offset) = match prefix.filter(|prefix| prefix.modified == modified && prefix.length <= size) {
            Some(Prefix { length, hash: PrefixHash::Whole(hash), .. }) if length == size => {
                write(&mut self.pieces, &Piece::Begin { id, offset: length, size, attributes })?;
                return write(&mut self.pieces, &Piece::End { hash, changed: false });
            }
            Some(Prefix { length, hash: PrefixHash::Part(hasher), .. }) => (*hasher, length),
            Some(_) | None => (Hasher::new(), 0),
        };
        write(&mut self.pieces, &Piece::Begin { id, offset, size, attributes })?;
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
                    let length = length.min(MAX_HOLE);
                    hash_zeros(&mut hasher, length, &self.stop)?;
                    write(&mut self.pieces, &Piece::Hole(length))?;
                    position += length;
                }
                Extent::Data(length) => {
                    let end = position + length;
                    while position < end {
                        self.stop.check()?;
                        if !self.open.contains(id) {
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

    /// Reads a block from `position`, at most up to `end`, adds it to the hash and sends it.
    fn send_block(&mut self, file: &File, position: u64, end: u64, hasher: &mut Hasher) -> io::Result<Sent> {
        let room = usize::try_from(end - position).unwrap_or(BLOCK).min(BLOCK);
        let mut block = self.blocks.take(room);
        block.resize(room, 0);
        let read = match file.read_at(&mut block, position) {
            Ok(read) => read,
            Err(e) => return Ok(Sent::Unreadable(e)),
        };
        if read > 0 {
            block.truncate(read);
            hasher.update(&block);
            write(&mut self.pieces, &Piece::Data(read as u32))?;
            self.pieces.write_block(self.blocks.give(block))?;
        }
        Ok(Sent::Bytes(read as u64))
    }
}

/// When a file was last changed.
fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok().map(cap_std::time::SystemTime::into_std)
}
