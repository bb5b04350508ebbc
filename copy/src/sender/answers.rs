//! The thread that reads the receiver's answers.

use super::open_files::{OpenFile, OpenFiles};
use super::sources::Wanted;
use crate::event::{Event, Observer};
use crate::frame::{read, violation};
use crate::message::Answer;
use crate::name::{printable, printable_path};
use crate::pipe::Reader;
use std::io;
use std::sync::{Arc, mpsc};

/// The answers as they are read.
pub(super) struct Answers {
    open: Arc<OpenFiles>,
    answers: Reader,
    want: mpsc::Sender<Wanted>,
    observer: Observer,
    /// Bytes that the receiver has received, as it last reported.
    received: u64,
}

impl Answers {
    pub(super) fn new(
        open: Arc<OpenFiles>,
        answers: Reader,
        want: mpsc::Sender<Wanted>,
        observer: Observer,
    ) -> Answers {
        Answers { open, answers, want, observer, received: 0 }
    }

    /// Reads answers until the receiver has finished.
    pub(super) fn read_all(mut self) -> io::Result<()> {
        loop {
            match read(&mut self.answers)? {
                Answer::Want { id, offset, hash } => {
                    let file = self.open.get(id);
                    let path = file.ok_or_else(|| violation("it wants a file that was not offered"))?.path;
                    // If the contents' thread has ended, it reports why.
                    let _ = self.want.send(Wanted { id, path, offset, hash });
                }
                Answer::Progress { id, position, received } => {
                    self.on_received(received);
                    if let Some(OpenFile { path, size }) = self.open.get(id) {
                        (self.observer)(Event::Progress { path, size, position });
                    }
                }
                Answer::Done(id) => {
                    let OpenFile { path, size } = self.open.remove(id)?;
                    (self.observer)(Event::Done { path, size });
                }
                Answer::Failed(id, reason) => {
                    let path = printable_path(&self.open.remove(id)?.path);
                    (self.observer)(Event::Problem { path, reason: printable(&reason) });
                }
                Answer::Problem(path, reason) => {
                    let path = printable(&String::from_utf8_lossy(&path.path));
                    (self.observer)(Event::Problem { path, reason: printable(&reason) });
                }
                Answer::Finished { received } => {
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
