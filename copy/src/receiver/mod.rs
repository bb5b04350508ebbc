//! The receiver of a copy: the side that gets the files.
//!
//! Two threads run here: [`offers`] decides which of the offered files it wants and from which byte on, and
//! [`contents`] writes what the sender sends. Whatever the sender says, the receiver touches nothing outside of the
//! destination's folder and writes nothing that was not asked for.

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

/// The receiver's threads. Messages come from `offers` and go to `answers`; the files' contents come from `contents`.
/// The sender's last message is stored in `summary`.
pub(crate) fn threads(
    (destination, options): (Destination, Options),
    offers: Reader,
    answers: Writer,
    contents: Reader,
    summary: Arc<Mutex<Summary>>,
    observer: Observer,
    stop: Stop,
) -> Vec<Body> {
    let transfer = Arc::new(Transfer::new(destination, options, answers, observer, stop));
    let offers = Offers::new(transfer.clone(), offers, summary);
    let contents = Contents::new(transfer, contents);
    vec![Box::new(move || offers.read_all()), Box::new(move || contents.write_all())]
}
