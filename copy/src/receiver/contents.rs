//! The thread that reads the contents of the wanted files and writes them.

use super::file::{Header, IncomingFile, VerifiedFile};
use super::transfer::{Transfer, Wanted};
use crate::event::Event;
use crate::frame::{read, violation};
use crate::message::{Answer, MAX_DATA, MAX_HOLE, MAX_SIZE, Piece};
use crate::pipe::Reader;
use crate::reason::reason;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

/// The time between two reports of progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The contents as they are written.
pub(super) struct Contents {
    transfer: Arc<Transfer>,
    pieces: Reader,
    /// Goes to the threads that complete files.
    verified: SyncSender<VerifiedFile>,
    /// When progress was last reported, and how many bytes had been received then.
    reported_at: Instant,
    reported: u64,
}

impl Contents {
    pub(super) fn new(transfer: Arc<Transfer>, pieces: Reader, verified: SyncSender<VerifiedFile>) -> Contents {
        Contents { transfer, pieces, verified, reported_at: Instant::now(), reported: 0 }
    }

    /// Writes the wanted files until the sender has sent all of them.
    pub(super) fn write_all(mut self) -> io::Result<()> {
        let written = self.write_files();
        (self.transfer.observer)(Event::Received { bytes: self.transfer.received() - self.reported });
        written
    }

    fn write_files(&mut self) -> io::Result<()> {
        loop {
            match self.next() {
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && self.transfer.is_finished() => return Ok(()),
                piece => match piece? {
                    Piece::Begin { id, offset, size, attributes } => {
                        self.on_file(Header { id, offset, size, attributes })?;
                    }
                    Piece::Over => return Ok(()),
                    _ => return Err(violation("it sends contents of no file")),
                },
            }
        }
    }

    fn next(&mut self) -> io::Result<Piece> {
        if self.pieces.is_idle() {
            self.transfer.flush()?;
        }
        read(&mut self.pieces)
    }

    fn on_file(&mut self, header: Header) -> io::Result<()> {
        let Header { id, offset, size, .. } = header;
        let Wanted { target, offset: available, existing } = self.transfer.ledger().begin(id)?;
        if size > MAX_SIZE {
            return Err(violation("it sends a file that is too large"));
        }
        if offset != 0 && offset != available || offset > size {
            return Err(violation("it continues a file where it was not asked to"));
        }
        // The first piece is read before anything is created, so that a file that the sender cannot read leaves nothing
        // here.
        let first = self.next()?;
        if let Piece::Abandoned(reason) = &first {
            return self.on_abandoned(id, &target, reason);
        }
        let Transfer { destination, stop, .. } = &*self.transfer;
        let begun = IncomingFile::begin(header, &destination.dir, &target, existing, stop);
        match begun {
            Ok(file) => self.on_pieces(file, first),
            Err(e) if self.transfer.stop.is_set() => Err(e),
            Err(e) => {
                self.transfer.fail(id, &target, &reason(&e))?;
                self.skip_file(Some(first))
            }
        }
    }

    fn on_abandoned(&self, id: u64, target: &Path, reason: &str) -> io::Result<()> {
        let reason = if reason.is_empty() { "the sender has given up this file" } else { reason };
        self.transfer.fail(id, target, reason)
    }

    /// Writes a file to its end. An error of the file system fails this file, and the rest of it is skipped.
    fn on_pieces(&mut self, mut file: IncomingFile, first: Piece) -> io::Result<()> {
        let mut piece = first;
        loop {
            match piece {
                Piece::Data(length @ 1..=MAX_DATA) if !file.is_unchanged() => {
                    let mut rest = length as usize;
                    while rest > 0 {
                        let bytes = self.pieces.take(rest)?;
                        rest -= bytes.len();
                        if let Err(e) = file.write(&bytes) {
                            self.transfer.fail(file.header.id, &file.target, &reason(&e))?;
                            self.skip_bytes(rest)?;
                            return self.skip_file(None);
                        }
                        self.transfer.add_received(bytes.len() as u64);
                        self.report_progress(&file)?;
                    }
                }
                Piece::Hole(length @ 1..=MAX_HOLE) if !file.is_unchanged() => file.skip(length, &self.transfer.stop)?,
                Piece::End { hash, changed } => return self.on_end(file, hash, changed),
                Piece::Abandoned(reason) => return self.on_abandoned(file.header.id, &file.target, &reason),
                _ => return Err(violation("it sends pieces of a file in a wrong order")),
            }
            if file.position > file.header.size {
                return Err(violation("a file is longer than its announced size"));
            }
            piece = self.next()?;
        }
    }

    fn on_end(&self, file: IncomingFile, hash: [u8; 32], changed: bool) -> io::Result<()> {
        let (id, target) = (file.header.id, file.target.clone());
        match file.verify(&self.transfer.destination.dir, hash, changed) {
            // It fails if the threads have ended, because the connection has.
            Ok(verified) => self.verified.send(verified).map_err(|_| io::ErrorKind::BrokenPipe.into()),
            Err(reason) => self.transfer.fail(id, &target, &reason),
        }
    }

    /// Reads the rest of a file that has failed, without writing it. `first` is a piece that was read already.
    fn skip_file(&mut self, first: Option<Piece>) -> io::Result<()> {
        self.transfer.flush()?;
        let mut next = first;
        loop {
            let piece = match next.take() {
                Some(piece) => piece,
                None => self.next()?,
            };
            match piece {
                Piece::Data(length @ 1..=MAX_DATA) => self.skip_bytes(length as usize)?,
                Piece::Hole(1..=MAX_HOLE) => {}
                Piece::End { .. } | Piece::Abandoned(_) => return Ok(()),
                _ => return Err(violation("it sends pieces of a file in a wrong order")),
            }
        }
    }

    fn skip_bytes(&mut self, mut rest: usize) -> io::Result<()> {
        while rest > 0 {
            rest -= self.pieces.take(rest)?.len();
        }
        Ok(())
    }

    /// Reports progress at both ends, unless it was reported a moment ago.
    fn report_progress(&mut self, file: &IncomingFile) -> io::Result<()> {
        if self.reported_at.elapsed() < PROGRESS_INTERVAL {
            return Ok(());
        }
        self.reported_at = Instant::now();
        let Header { id, size, .. } = file.header;
        let position = file.position;
        (self.transfer.observer)(Event::Progress { path: file.target.clone(), size, position });
        let received = self.transfer.received();
        (self.transfer.observer)(Event::Received { bytes: received - self.reported });
        self.reported = received;
        self.transfer.answer(&Answer::Progress { id, position, received })?;
        self.transfer.flush()
    }
}
