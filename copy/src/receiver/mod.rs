//! The receiver of a copy: the side that gets the files.
//!
//! One thread decides which of the offered files it wants and from which byte on ([`offers`]), and one writes what the
//! sender sends ([`contents`]). Several more give files their names once these are on the disk ([`completion`]).
//! Whatever the sender says, the receiver touches nothing outside of the destination's folder and writes nothing that
//! was not asked for.

mod completion;
mod contents;
mod existing;
mod file;
mod ledger;
mod offers;
mod transfer;

use crate::event::Observer;
use crate::files::destination::Destination;
use crate::message::{Options, Summary};
use crate::pipe::{Reader, Writer};
use crate::thread::{Body, Stop};
use contents::Contents;
use offers::Offers;
use std::sync::{Arc, Mutex};
use transfer::Transfer;

/// Where received files go, and how.
pub(crate) struct Reception {
    pub(crate) destination: Destination,
    pub(crate) options: Options,
    /// Whether users are told before the copy begins how many existing files may be replaced.
    pub(crate) counts: bool,
}

/// The receiver's threads. Messages come from `offers` and go to `answers`; the files' contents come from `contents`.
/// The sender's last message is stored in `summary`.
pub(crate) fn threads(
    Reception { destination, options, counts }: Reception,
    offers: Reader,
    answers: Writer,
    contents: Reader,
    summary: Arc<Mutex<Summary>>,
    observer: Observer,
    stop: Stop,
) -> Vec<Body> {
    let transfer = Arc::new(Transfer::new(destination, options, answers, observer, stop));
    let offers = Offers::new(transfer.clone(), offers, summary);
    let (verified, mut threads) = completion::threads(&transfer);
    let contents = Contents::new(transfer, contents, verified);
    threads.push(Box::new(move || offers.read_all(counts)));
    threads.push(Box::new(move || contents.write_all()));
    threads
}
