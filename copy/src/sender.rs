//! The side that sends files. Three threads: one lists what there is, one hears what the receiver wants of it, one reads that
//! and sends it. No file waits for another's answer.

use crate::contents::{prefix, zeros};
use crate::event::{Event, Watch};
use crate::extents::{self, Extent};
use crate::list::{Found, attributes, reason, walk};
use crate::message::{Answer, Attributes, Farewell, OFFERED, Offer, Piece, invalid, read, short, write};
use crate::pipe::{BLOCK, In, Out};
use crate::root::Root;
use crate::session::Work;
use crate::stop::Stop;
use blake3::Hasher;
use bytes::{Bytes, BytesMut};
use cap_std::fs::Metadata;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::mpsc::{self, TryRecvError};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What to send, and from where.
pub struct Sending {
    /// Where it may be read.
    pub root: Arc<Root>,
    /// The sources.
    pub sources: Vec<PathBuf>,
    /// Folders, too.
    pub recursive: bool,
}

/// A file that was offered.
#[derive(Clone)]
struct Offered {
    path: PathBuf,
    size: u64,
}

struct Wanted {
    id: u64,
    path: PathBuf,
    offset: u64,
    hash: [u8; 32],
}

/// Files that were offered and are neither done nor given up.
#[derive(Default)]
struct Open {
    files: Mutex<HashMap<u64, Offered>>,
    fewer: Condvar,
}

impl Open {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Offered>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, id: u64) -> io::Result<Offered> {
        let removed = self.lock().remove(&id).ok_or_else(|| invalid("it answers for a file that was not offered"));
        self.fewer.notify_one();
        removed
    }
}

/// How the transfer was, asked when it is over.
pub(crate) type Ask = Box<dyn FnOnce() -> Farewell + Send>;

/// The threads' work: offers go to `offers`, contents to `data`, and answers come.
pub(crate) fn work(sending: Sending, offers: Out, answers: In, data: Out, ask: Ask, watch: Watch, stop: Stop) -> Work {
    let (open, sending) = (Arc::new(Open::default()), Arc::new(sending));
    let (want, wanted) = mpsc::channel();
    let (finished, end) = mpsc::channel();
    let lister =
        Lister { sending: sending.clone(), open: open.clone(), offers, watch: watch.clone(), stop: stop.clone() };
    let listener = Listener { open: open.clone(), answers, want, watch: watch.clone(), moved: 0 };
    let feeder = Feeder { sending, open, data, stop };
    vec![
        Box::new(move || {
            let mut offers = lister.list()?;
            // Nothing comes if the answers end early: that is the listener's to tell.
            if end.recv().is_ok() {
                write(&mut offers, &Offer::Goodbye(ask()))?;
            }
            offers.flush()
        }),
        Box::new(move || {
            listener.listen()?;
            let _ = finished.send(());
            Ok(())
        }),
        Box::new(move || feeder.feed(&wanted)),
    ]
}

struct Lister {
    sending: Arc<Sending>,
    open: Arc<Open>,
    offers: Out,
    watch: Watch,
    stop: Stop,
}

/// Offers that are sent together.
const TOGETHER: u64 = 32;

impl Lister {
    fn list(mut self) -> io::Result<Out> {
        let sending = self.sending.clone();
        let (mut next, mut said) = (0, 0);
        walk(&sending.root, &sending.sources, sending.recursive, &mut |found| {
            self.stop.check()?;
            let offer = match found {
                Found::Folder(place, attributes) => Offer::Folder(place, attributes),
                Found::File(place, path, size) => {
                    let id = next;
                    next += 1;
                    (self.watch)(Event::Listed(size));
                    self.remember(id, Offered { path, size })?;
                    Offer::File { id, place, size }
                }
                Found::Problem(place, reason) => {
                    (self.watch)(Event::Problem(shown(&sending, &place), reason.clone()));
                    Offer::Problem(place, short(reason))
                }
            };
            write(&mut self.offers, &offer)?;
            said += 1;
            if said % TOGETHER == 0 { self.offers.flush() } else { Ok(()) }
        })?;
        write(&mut self.offers, &Offer::End)?;
        self.offers.flush()?;
        Ok(self.offers)
    }

    /// Waits while too many are open.
    fn remember(&mut self, id: u64, offered: Offered) -> io::Result<()> {
        let mut files = self.open.lock();
        while files.len() >= OFFERED {
            self.offers.flush()?;
            self.stop.check()?;
            let waited = self.open.fewer.wait_timeout(files, Duration::from_millis(100));
            files = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        files.insert(id, offered);
        Ok(())
    }
}

/// How the user knows a place.
fn shown(sending: &Sending, place: &crate::message::Place) -> String {
    let below = crate::name::below(&place.path).unwrap_or_default();
    let top = sending.sources.get(place.source as usize).cloned().unwrap_or_default();
    crate::shown_path(&if below.as_os_str().is_empty() { top } else { top.join(below) })
}

struct Listener {
    open: Arc<Open>,
    answers: In,
    want: mpsc::Sender<Wanted>,
    watch: Watch,
    /// Bytes that have arrived at the other end.
    moved: u64,
}

impl Listener {
    fn listen(mut self) -> io::Result<()> {
        loop {
            match read(&mut self.answers)? {
                Answer::Want { id, offset, hash } => {
                    let path = self.open.lock().get(&id).map(|file| file.path.clone());
                    let path = path.ok_or_else(|| invalid("it wants a file that was not offered"))?;
                    // If nobody reads any more, that end says why.
                    let _ = self.want.send(Wanted { id, path, offset, hash });
                }
                Answer::At { id, position, moved } => {
                    self.on_moved(moved);
                    let file = self.open.lock().get(&id).cloned();
                    if let Some(Offered { path, size }) = file {
                        (self.watch)(Event::At { path, size, position });
                    }
                }
                Answer::Done(id) => {
                    let file = self.open.remove(id)?;
                    (self.watch)(Event::Done(file.path, file.size));
                }
                Answer::Failed(id, reason) => {
                    let file = self.open.remove(id)?;
                    (self.watch)(Event::Problem(crate::shown_path(&file.path), crate::shown(&reason)));
                }
                Answer::Problem(place, reason) => {
                    let path = String::from_utf8_lossy(&place.path).into_owned();
                    (self.watch)(Event::Problem(crate::shown(&path), crate::shown(&reason)));
                }
                Answer::Finished { moved } => {
                    self.on_moved(moved);
                    return Ok(());
                }
            }
        }
    }

    fn on_moved(&mut self, moved: u64) {
        (self.watch)(Event::Moved(moved.saturating_sub(self.moved)));
        self.moved = self.moved.max(moved);
    }
}

struct Feeder {
    sending: Arc<Sending>,
    open: Arc<Open>,
    data: Out,
    stop: Stop,
}

impl Feeder {
    fn feed(mut self, wanted: &mpsc::Receiver<Wanted>) -> io::Result<()> {
        loop {
            let next = match wanted.try_recv() {
                Err(TryRecvError::Empty) => {
                    self.data.flush()?;
                    wanted.recv().ok()
                }
                next => next.ok(),
            };
            let Some(next) = next else { break };
            match self.sending.root.open(&next.path) {
                Ok((file, metadata)) => self.send(&next, &file, &metadata)?,
                Err(e) => {
                    let attributes = Attributes::default();
                    write(&mut self.data, &Piece::Begin { id: next.id, offset: 0, size: 0, attributes })?;
                    self.give_up(&reason(&e))?;
                }
            }
        }
        write(&mut self.data, &Piece::Over)?;
        self.data.flush()
    }

    /// The receiver answers with the reason, so that both ends tell it once.
    fn give_up(&mut self, reason: &str) -> io::Result<()> {
        write(&mut self.data, &Piece::Broken(short(reason.into())))
    }

    fn send(&mut self, wanted: &Wanted, file: &File, metadata: &Metadata) -> io::Result<()> {
        let size = metadata.len();
        let known = match wanted.offset {
            0 => None,
            offset => match prefix(file, offset, &self.stop) {
                Ok(hasher) => hasher.filter(|hasher| offset <= size && hasher.finalize() == wanted.hash),
                Err(e) if self.stop.is_set() => return Err(e),
                Err(_) => None, // it will be met again
            },
        };
        let offset = if known.is_some() { wanted.offset } else { 0 };
        let mut hasher = known.unwrap_or_default();
        let attributes = attributes(metadata);
        write(&mut self.data, &Piece::Begin { id: wanted.id, offset, size, attributes })?;
        let mut position = offset;
        // Most files have no holes, and are not asked.
        let whole = cap_std::fs::MetadataExt::blocks(metadata) * 512 >= size;
        while let Some(extent) = if whole {
            (position < size).then_some(Extent::Data(size - position))
        } else {
            extents::next(file, position, size)
        } {
            match extent {
                Extent::Hole(length) => {
                    zeros(&mut hasher, length, &self.stop)?;
                    write(&mut self.data, &Piece::Hole(length))?;
                    position += length;
                }
                Extent::Data(length) => {
                    let end = position + length;
                    while position < end {
                        self.stop.check()?;
                        if !self.open.lock().contains_key(&wanted.id) {
                            // The receiver cannot take it and has said why.
                            return write(&mut self.data, &Piece::Broken(String::new()));
                        }
                        match self.block(file, position, end, &mut hasher) {
                            Ok(Ok(0)) => return self.give_up("it became shorter while it was copied; copy it again"),
                            Ok(Ok(read)) => position += read,
                            Ok(Err(e)) => return self.give_up(&reason(&e)),
                            Err(e) => return Err(e),
                        }
                    }
                }
            }
        }
        let same = Metadata::from_file(file)
            .is_ok_and(|now| now.len() == size && crate::list::attributes(&now).modified == attributes.modified);
        write(&mut self.data, &Piece::End { hash: *hasher.finalize().as_bytes(), changed: !same })
    }

    /// Sends what is read at once; how much that was. The inner error is the file's.
    fn block(&mut self, file: &File, position: u64, end: u64, hasher: &mut Hasher) -> io::Result<io::Result<u64>> {
        let room = usize::try_from(end - position).unwrap_or(BLOCK).min(BLOCK);
        let mut block = BytesMut::zeroed(room);
        let read = match file.read_at(&mut block, position) {
            Ok(read) => read,
            Err(e) => return Ok(Err(e)),
        };
        if read > 0 {
            let block: Bytes = block.freeze().slice(..read);
            hasher.update(&block);
            write(&mut self.data, &Piece::Data(read as u32))?;
            self.data.give(block)?;
        }
        Ok(Ok(read as u64))
    }
}
