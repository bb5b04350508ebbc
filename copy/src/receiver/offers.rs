//! The thread that reads the sender's offers, creates folders, and answers which files it wants.

use super::existing::Existing;
use super::transfer::{Transfer, Wanted};
use crate::event::Event;
use crate::frame::{read, violation};
use crate::message::{Answer, Attributes, Offer, SourcePath, Summary, truncated};
use crate::pipe::Reader;
use crate::reason::reason;
use cap_std::fs::{DirBuilder, DirBuilderExt};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The permission bits of a folder while files are written into it: its owner must be able to do that.
const OWNER: u32 = 0o700;

/// The offers as they are read.
pub(super) struct Offers {
    transfer: Arc<Transfer>,
    offers: Reader,
    summary: Arc<Mutex<Summary>>,
}

impl Offers {
    pub(super) fn new(transfer: Arc<Transfer>, offers: Reader, summary: Arc<Mutex<Summary>>) -> Offers {
        Offers { transfer, offers, summary }
    }

    /// Reads and answers offers until the sender's last message.
    pub(super) fn read_all(mut self) -> io::Result<()> {
        loop {
            if self.offers.is_idle() {
                self.transfer.flush()?;
            }
            let offer = match read(&mut self.offers) {
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && self.transfer.is_finished() => return Ok(()),
                offer => offer?,
            };
            match offer {
                Offer::Folder(path, attributes) => self.on_folder(&path, attributes)?,
                Offer::File { id, path, size } => self.on_file(id, &path, size)?,
                Offer::Problem(path, reason) => {
                    self.transfer.report_problem(&self.transfer.target(&path).unwrap_or_default(), &reason);
                }
                Offer::End => {
                    self.transfer.ledger().complete_list();
                    self.transfer.finish()?;
                }
                Offer::Goodbye(summary) => {
                    *self.summary.lock().unwrap_or_else(PoisonError::into_inner) = summary;
                    return Ok(());
                }
            }
        }
    }

    fn on_folder(&mut self, path: &SourcePath, attributes: Attributes) -> io::Result<()> {
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
        self.transfer.ledger().offer(id)?;
        (self.transfer.observer)(Event::Listed { size });
        // Hashing what is there can take long, and so can waiting for another copy's lock. The sender meanwhile gets
        // the earlier answers, and sends.
        let found = self
            .transfer
            .flush()
            .and_then(|()| Existing::find(&self.transfer.destination.dir, &target, size, &self.transfer.stop));
        let (existing, offset) = match found {
            Ok(found) => found,
            Err(e) if self.transfer.stop.is_set() => return Err(e),
            Err(e) => return self.transfer.fail(id, &target, &reason(&e)),
        };
        let hash = existing.hash();
        self.transfer.ledger().want(id, Wanted { target, offset, existing });
        self.transfer.answer(&Answer::Want { id, offset, hash })
    }
}
