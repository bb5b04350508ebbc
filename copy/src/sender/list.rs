//! The thread that offers the files to the receiver.

use super::open_files::{OpenFile, OpenFiles};
use super::shared::SharedWriter;
use super::sources::Sources;
use crate::event::{Event, Observer};
use crate::files::walk::{Entry, walk};
use crate::message::{MAX_SIZE, Offer, truncated};
use crate::thread::Stop;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Offers that are sent together.
const TOGETHER: u64 = 32;
/// While too many files are open, the thread looks this often whether the copy was stopped.
const POLL: Duration = Duration::from_millis(100);

/// The list of files as it is offered.
pub(super) struct List {
    sources: Arc<Sources>,
    open: Arc<OpenFiles>,
    offers: SharedWriter,
    observer: Observer,
    stop: Stop,
}

impl List {
    pub(super) fn new(
        sources: Arc<Sources>,
        open: Arc<OpenFiles>,
        offers: SharedWriter,
        observer: Observer,
        stop: Stop,
    ) -> List {
        List { sources, open, offers, observer, stop }
    }

    /// Offers everything that is found at the sources.
    pub(super) fn offer_all(mut self) -> io::Result<()> {
        let sources = self.sources.clone();
        let (mut next_id, mut offered) = (0, 0);
        walk(&sources.root, &sources.paths, sources.recursive, &mut |entry| {
            self.stop.check()?;
            let offer = match entry {
                Entry::Folder(path, attributes) => {
                    self.open.add_folder();
                    Offer::Folder(path, attributes)
                }
                Entry::File(path, _, size) if size > MAX_SIZE => {
                    let reason = "it is larger than a pebibyte";
                    (self.observer)(Event::Problem { path: sources.display(&path), reason: reason.into() });
                    Offer::Problem(path, reason.into())
                }
                Entry::File(path, opened_at, size) => {
                    let id = next_id;
                    next_id += 1;
                    (self.observer)(Event::Listed { size });
                    self.add(id, OpenFile { path: opened_at, size, offered: path.path.len() })?;
                    Offer::File { id, path, size }
                }
                Entry::Problem(path, reason) => {
                    (self.observer)(Event::Problem { path: sources.display(&path), reason: reason.clone() });
                    Offer::Problem(path, truncated(reason))
                }
            };
            self.offers.write(&offer)?;
            offered += 1;
            if offered % TOGETHER == 0 { self.offers.flush() } else { Ok(()) }
        })?;
        self.open.complete_list();
        self.offers.write(&Offer::End)?;
        self.offers.flush()
    }

    /// Adds a file to the open ones; waits while there are too many.
    fn add(&mut self, id: u64, file: OpenFile) -> io::Result<()> {
        while self.open.is_full() {
            self.offers.flush()?;
            self.stop.check()?;
            self.open.wait_while_full(POLL);
        }
        self.open.add(id, file);
        Ok(())
    }
}
