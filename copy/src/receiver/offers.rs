//! The thread that reads the sender's offers, creates folders, and answers which files it wants.

use super::existing::{Candidate, Existing};
use super::transfer::{Compared, Transfer, Wanted};
use crate::event::Event;
use crate::files::hash::Hashed;
use crate::frame::{read, violation};
use crate::message::{Answer, Attributes, MAX_OPEN_PATHS, MAX_SIZE, Offer, SourcePath, Summary, truncated};
use crate::pipe::Reader;
use crate::reason::reason;
use cap_std::fs::{DirBuilder, DirBuilderExt};
use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The permission bits of a folder while files are written into it: its owner must be able to do that.
const OWNER: u32 = 0o700;
/// How many bytes may be read in vain, for comparisons with files that turn out to be others, beyond the bytes of files
/// received. After that, files are received without a comparison: a sender must not have the same large file read again
/// and again.
const IN_VAIN: u64 = 16 << 30;
/// Why the second of two sources that go to the same place fails.
const SAME_TARGET: &str = "another source has a file of this name and is being copied; copy them one after the other";
/// Before the first answer, the list is read for this long, and up to this number of offers, so that users are told how
/// many existing files may be replaced.
const COUNT_TIME: Duration = Duration::from_secs(1);
/// The time between two looks whether more of the list has come.
const COUNT_POLL: Duration = Duration::from_millis(2);
const COUNTED: usize = 10_000;

/// The offers as they are read.
pub(super) struct Offers {
    transfer: Arc<Transfer>,
    offers: Reader,
    /// Offers that were read to count the files that may be replaced.
    counted: VecDeque<Offer>,
    /// Bytes that were compared with other files.
    in_vain: u64,
    hashed: Hashed,
    summary: Arc<Mutex<Summary>>,
}

impl Offers {
    pub(super) fn new(transfer: Arc<Transfer>, offers: Reader, summary: Arc<Mutex<Summary>>) -> Offers {
        Offers { transfer, offers, counted: VecDeque::new(), in_vain: 0, hashed: Hashed::default(), summary }
    }

    /// Reads and answers offers until the sender's last message. If `counts`, users are told before how many existing
    /// files may be replaced.
    pub(super) fn read_all(mut self, counts: bool) -> io::Result<()> {
        if counts {
            self.count_existing()?;
        }
        loop {
            let offer = match self.counted.pop_front() {
                Some(offer) => offer,
                None => match self.read() {
                    Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && self.transfer.is_finished() => return Ok(()),
                    offer => offer?,
                },
            };
            match offer {
                Offer::Folder(path, attributes) => self.on_folder(&path, attributes)?,
                Offer::File { id, path, size } => self.on_file(id, &path, size)?,
                Offer::Hash { id, hash } => self.on_hash(id, hash)?,
                Offer::Problem(path, reason) => {
                    self.transfer.ledger().check_growing()?;
                    self.transfer.report_problem(&self.transfer.target(&path).unwrap_or_default(), &reason);
                }
                Offer::End => {
                    self.transfer.ledger().complete_list()?;
                    self.transfer.finish()?;
                }
                Offer::Goodbye(_) if !self.transfer.is_finished() => {
                    return Err(violation("it ends before everything is done"));
                }
                Offer::Goodbye(summary) => {
                    *self.summary.lock().unwrap_or_else(PoisonError::into_inner) = summary;
                    return Ok(());
                }
            }
        }
    }

    fn read(&mut self) -> io::Result<Offer> {
        if self.offers.is_idle() {
            self.transfer.flush()?;
        }
        read(&mut self.offers)
    }

    /// Reads the list, or as much of it as comes in a short time, and tells users how many of its files exist here.
    fn count_existing(&mut self) -> io::Result<()> {
        let (end, mut complete, mut texts, mut existing) = (Instant::now() + COUNT_TIME, false, 0, 0u64);
        // The sender waits for answers when it has offered MAX_OPEN_PATHS.
        while !complete && self.counted.len() < COUNTED && texts < MAX_OPEN_PATHS / 2 && self.comes_until(end) {
            let offer = self.read()?;
            match &offer {
                Offer::File { path, .. } => {
                    texts += path.path.len();
                    let target = self.transfer.target(path);
                    let there = target.and_then(|target| self.transfer.destination.dir.symlink_metadata(target).ok());
                    existing += u64::from(there.is_some_and(|there| !there.is_dir()));
                }
                Offer::Folder(path, _) => texts += path.path.len(),
                Offer::Problem(path, reason) => texts += path.path.len() + reason.len(),
                _ => complete = true,
            }
            self.counted.push_back(offer);
        }
        if existing > 0 {
            let least = if complete { "" } else { "at least " };
            let (files, exist) = if existing == 1 { ("file", "exists") } else { ("files", "exist") };
            (self.transfer.observer)(Event::Note(format!(
                "{least}{existing} {files} of these names {exist} here, and will be replaced unless unchanged"
            )));
        }
        Ok(())
    }

    /// Waits until more of the list has come, but not longer than until `end`. Returns whether more has come in time.
    fn comes_until(&self, end: Instant) -> bool {
        while Instant::now() < end {
            if !self.offers.is_idle() {
                return true;
            }
            std::thread::sleep(COUNT_POLL);
        }
        false
    }

    fn on_folder(&mut self, path: &SourcePath, attributes: Attributes) -> io::Result<()> {
        self.transfer.ledger().check_growing()?;
        let options = self.transfer.options;
        let target = self.transfer.target(path).filter(|_| options.recursive);
        let target = target.ok_or_else(|| violation("it offers a folder that was not asked for"))?;
        // A folder that is to get its source's permissions at the end is its owner's alone until then.
        let mode = OWNER | if options.preserve { 0 } else { attributes.mode & 0o777 };
        if !target.as_os_str().is_empty()
            && let Err(why) = self.create_folder(&target, mode)
        {
            self.transfer.report_problem(&target, &why);
            return self.transfer.answer(&Answer::Problem(path.clone(), truncated(why)));
        }
        self.transfer.on_changed(&target)?;
        if options.preserve {
            self.transfer.ledger().add_folder(target, attributes)?;
        }
        Ok(())
    }

    /// Creates a folder unless it is there already. Fails with the reason.
    fn create_folder(&self, target: &Path, mode: u32) -> Result<(), String> {
        let dir = &self.transfer.destination.dir;
        match dir.create_dir_with(target, DirBuilder::new().mode(mode)) {
            Err(_) if dir.metadata(target).is_ok_and(|there| there.is_dir()) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                Err("a file of this name is in the folder's place; remove it".into())
            }
            created => created.map_err(|e| reason(&e)),
        }
    }

    fn on_file(&mut self, id: u64, path: &SourcePath, size: u64) -> io::Result<()> {
        let target = self.transfer.target(path);
        let target = target.ok_or_else(|| violation("it offers a file that was not asked for"))?;
        if size > MAX_SIZE {
            return Err(violation("it offers a file that is too large"));
        }
        let free = self.transfer.ledger().offer(id, path.path.len(), &target)?;
        (self.transfer.observer)(Event::Listed { size });
        if !free {
            return self.transfer.fail(id, &target, SAME_TARGET);
        }
        let mut found = None;
        if self.in_vain <= self.transfer.received().saturating_add(IN_VAIN) {
            // Waiting for another copy's lock can take long. The sender meanwhile gets the earlier answers, and sends.
            let Transfer { destination, slots, stop, .. } = &*self.transfer;
            let search =
                self.transfer.flush().and_then(|()| Candidate::find(&destination.dir, &target, size, slots, stop));
            found = match search {
                Ok(found) => found,
                Err(e) if self.transfer.stop.is_set() => return Err(e),
                Err(e) => return self.transfer.fail(id, &target, &reason(&e)),
            };
        }
        match found {
            Some((candidate, length)) => {
                self.transfer.ledger().compare(id, Compared { target, candidate, length });
                self.transfer.answer(&Answer::Compare { id, length })
            }
            None => self.want(id, Wanted { target, offset: 0, existing: Existing::Nothing }),
        }
    }

    fn want(&self, id: u64, wanted: Wanted) -> io::Result<()> {
        let offset = wanted.offset;
        self.transfer.ledger().want(id, wanted);
        self.transfer.answer(&Answer::Want { id, offset })
    }

    fn on_hash(&mut self, id: u64, hash: Option<[u8; 32]>) -> io::Result<()> {
        let Compared { target, candidate, length } = self.transfer.ledger().compared(id)?;
        let Some(hash) = hash else {
            drop(candidate);
            return self.want(id, Wanted { target, offset: 0, existing: Existing::Nothing });
        };
        // Hashing what is here can take long. The sender meanwhile gets the earlier answers, and sends.
        self.transfer.flush()?;
        let Transfer { destination, stop, .. } = &*self.transfer;
        let existing = candidate.compare(&destination.dir, &target, length, hash, &mut self.hashed, stop)?;
        let offset = if matches!(existing, Existing::Nothing) { 0 } else { length };
        if offset == 0 {
            self.in_vain = self.in_vain.saturating_add(length);
        }
        self.want(id, Wanted { target, offset, existing })
    }
}
