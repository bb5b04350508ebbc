//! The thread that reads the receiver's answers.

use super::open_files::{OpenFile, OpenFiles};
use super::sources::{Asked, Sources};
use crate::event::{Event, Observer};
use crate::frame::read;
use crate::message::{Answer, truncated};
use crate::name::{printable, printable_path};
use crate::pipe::Reader;
use std::io;
use std::sync::{Arc, mpsc};

/// The answers as they are read.
pub(super) struct Answers {
    sources: Arc<Sources>,
    open: Arc<OpenFiles>,
    answers: Reader,
    asked: mpsc::Sender<Asked>,
    observer: Observer,
    /// Bytes that the receiver has received, as it last reported.
    received: u64,
}

impl Answers {
    pub(super) fn new(
        sources: Arc<Sources>,
        open: Arc<OpenFiles>,
        answers: Reader,
        asked: mpsc::Sender<Asked>,
        observer: Observer,
    ) -> Answers {
        Answers { sources, open, answers, asked, observer, received: 0 }
    }

    /// Reads answers until the receiver has finished.
    pub(super) fn read_all(mut self) -> io::Result<()> {
        loop {
            match read(&mut self.answers)? {
                // If the contents' thread has ended, it reports why.
                Answer::Compare { id, length } => {
                    self.open.compare(id, length)?;
                    let _ = self.asked.send(Asked::Hash(id, length));
                }
                Answer::Want { id, offset } => {
                    self.open.want(id, offset)?;
                    let _ = self.asked.send(Asked::Contents(id));
                }
                Answer::Progress { id, position, received } => {
                    self.on_received(received);
                    let OpenFile { path, size, .. } = self.open.begun(id)?;
                    (self.observer)(Event::Progress { path, size, position: position.min(size) });
                }
                Answer::Done(id) => {
                    self.open.begun(id)?;
                    let OpenFile { path, size, .. } = self.open.remove(id)?;
                    (self.observer)(Event::Done { path, size });
                }
                Answer::Failed(id, reason) => {
                    let path = printable_path(&self.open.remove(id)?.path);
                    (self.observer)(Event::Problem { path, reason: printable(&truncated(reason)) });
                }
                Answer::Problem(path, reason) => {
                    self.open.fail_folder()?;
                    let path = self.sources.display(&path);
                    (self.observer)(Event::Problem { path, reason: printable(&truncated(reason)) });
                }
                Answer::Unflushed(path, reason) => {
                    self.open.fail_flush()?;
                    let path = printable(&String::from_utf8_lossy(&path));
                    (self.observer)(Event::Problem { path, reason: printable(&truncated(reason)) });
                }
                Answer::Finished { received } => {
                    self.open.finish()?;
                    self.on_received(received);
                    return Ok(());
                }
            }
        }
    }

    fn on_received(&mut self, received: u64) {
        (self.observer)(Event::Received { bytes: received.saturating_sub(self.received) });
        self.received = self.received.max(received);
    }
}
