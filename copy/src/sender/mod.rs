//! The sender of a copy: the side that has the files.
//!
//! Three threads run here: [`list`] offers the files, [`answers`] reads which of them the receiver wants, and
//! [`contents`] sends these, or the hashes that the receiver asks for. No file waits for the answer to another one, so
//! that many small files take no round trip each.

mod answers;
mod contents;
mod list;
mod open_files;
mod shared;
mod sources;

use crate::event::Observer;
use crate::message::{Offer, Summary};
use crate::pipe::{Reader, Writer};
use crate::thread::{Body, Stop};
use answers::Answers;
use contents::Contents;
use list::List;
use open_files::OpenFiles;
use shared::SharedWriter;
pub(crate) use sources::Sources;
use std::sync::{Arc, mpsc};

/// Returns the summary of the transfer; called when the copy is complete.
pub(crate) type Summarize = Box<dyn FnOnce() -> Summary + Send>;

/// The sender's threads. Messages go to `offers` and come from `answers`; the files' contents go to `contents`.
pub(crate) fn threads(
    sources: Sources,
    offers: Writer,
    answers: Reader,
    contents: Writer,
    summarize: Summarize,
    observer: Observer,
    stop: Stop,
) -> Vec<Body> {
    let (open, sources) = (Arc::new(OpenFiles::default()), Arc::new(sources));
    let offers = SharedWriter::new(offers);
    let (ask, asked) = mpsc::channel();
    let (finished, finish) = mpsc::channel();
    let list = List::new(sources.clone(), open.clone(), offers.clone(), observer.clone(), stop.clone());
    let answers = Answers::new(sources.clone(), open.clone(), answers, ask, observer);
    let contents = Contents::new(sources, open, offers.clone(), contents, stop);
    vec![
        Box::new(move || {
            list.offer_all()?;
            // The channel closes without a message if the answers end early, which the answers' thread reports.
            if finish.recv().is_ok() {
                offers.write(&Offer::Goodbye(summarize()))?;
            }
            offers.flush()
        }),
        Box::new(move || {
            answers.read_all()?;
            let _ = finished.send(());
            Ok(())
        }),
        Box::new(move || contents.answer_all(&asked)),
    ]
}
