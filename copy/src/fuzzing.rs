//! What reads bytes from outside, for the fuzz targets. No part of the interface.

use crate::event::Observer;
use crate::files::destination::Destination;
use crate::files::root::Root;
use crate::frame::read;
use crate::message::{Offer, Options};
use crate::pipe::{Reader, Writer};
use crate::receiver::Reception;
use crate::sender::Sources;
use crate::thread::{Body, Stop};
use crate::{Credentials, name, receiver, sender, ssh};
use bytes::Bytes;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;

/// More blocks than one input has messages, so that nobody waits for a full pipe.
const BLOCKS: usize = 1 << 14;

/// Reads `bytes` as each kind of name that a peer may send. Panics if one leads out of its folder.
pub fn names(bytes: &[u8]) {
    let inside = |path: PathBuf| path.components().all(|part| matches!(part, Component::Normal(_)));
    assert!(name::path_below(bytes).is_none_or(inside), "a path that leads out of the folder");
    for name in [name::source_name(bytes), name::folder_name(bytes)].into_iter().flatten() {
        assert!(inside(name.clone()) && name.components().count() <= 1, "a name that leads out of the folder");
    }
    if let name::CopyName::Last(name) = name::copy_name(bytes) {
        assert!(name::source_name(name).is_some(), "a name that the peer refuses");
    }
    assert!(!name::printable(&String::from_utf8_lossy(bytes)).contains(char::is_control), "a control character");
}

/// Reads `bytes` as what the other end says over ssh.
pub fn lines(bytes: &[u8]) {
    ssh::fuzzing_lines(bytes);
}

/// Reads `bytes` as a file with credentials. Returns whether they are any.
pub fn credentials(bytes: &[u8]) -> bool {
    Credentials::from_bytes(bytes).is_some()
}

/// A receiver in the folder `to` gets these `offers` and these `contents`.
pub fn receive(to: &Path, options: Options, offers: &[u8], contents: &[u8]) {
    let names = vec![PathBuf::new(), "source".into()];
    let destination = Destination::resolve(&Root::Anywhere, to, names, false).expect("an existing folder");
    let (answers, _answered) = channel();
    let reception = Reception { destination, options, counts: false };
    let stop = Stop::default();
    let (offers, contents) = (pipe(offers), pipe(contents));
    run(receiver::threads(reception, offers, answers, contents, Arc::default(), silent(), stop.clone()), &stop, || ());
}

/// A sender of what is in the folder `from` gets these `answers`, after it has offered everything.
pub fn send(from: &Path, answers: &[u8]) {
    let sources = Sources { root: Arc::new(Root::Anywhere), paths: vec![from.into()], recursive: true };
    let ((offers, mut offered), (contents, _sent)) = (channel(), channel());
    let (to, answered) = mpsc::channel(1);
    let stop = Stop::default();
    let summarize = Box::new(Default::default);
    let bodies = sender::threads(sources, offers, Reader::new(answered), contents, summarize, silent(), stop.clone());
    run(bodies, &stop, || {
        while read(&mut offered).is_ok_and(|offer: Offer| offer != Offer::End) {}
        to.try_send(Bytes::copy_from_slice(answers)).expect("room for one block");
        drop(to);
    });
}

fn silent() -> Observer {
    Arc::new(drop)
}

fn channel() -> (Writer, Reader) {
    let (to, from) = mpsc::channel(BLOCKS);
    (Writer::new(to), Reader::new(from))
}

/// A pipe that holds `bytes` and ends behind them.
fn pipe(bytes: &[u8]) -> Reader {
    let (to, from) = mpsc::channel(1);
    to.try_send(Bytes::copy_from_slice(bytes)).expect("room for one block");
    Reader::new(from)
}

/// Runs threads, and `beside` here. When one fails, the connection ends, and the others are told to stop.
fn run(bodies: Vec<Body>, stop: &Stop, beside: impl FnOnce()) {
    use ErrorKind::{BrokenPipe, Interrupted, InvalidData, UnexpectedEof};
    std::thread::scope(|scope| {
        for body in bodies {
            scope.spawn(|| {
                if let Err(error) = body() {
                    // What fails after the end of the connection is of no interest.
                    let stopped = stop.is_set();
                    stop.set();
                    let expected =
                        stopped || matches!(error.kind(), BrokenPipe | Interrupted | InvalidData | UnexpectedEof);
                    assert!(expected, "neither a violation nor the end of the connection: {error}");
                }
            });
        }
        beside();
    });
}
