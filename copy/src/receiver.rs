//! The side that receives files. Two threads: one decides what it wants of what is offered, one writes what comes. Whatever
//! the sender says, nothing outside of the destination's folder is touched, and nothing that was not asked for.

use crate::contents::{prefix, zeros};
use crate::event::{Event, Watch};
use crate::list::reason;
use crate::message::{Answer, Attributes, Farewell, LONGEST_DATA, Manner, OFFERED, Offer, Piece, Place};
use crate::message::{invalid, read, short, write};
use crate::name::below;
use crate::partial::{Partial, adorn, open_folder};
use crate::pipe::{In, Out};
use crate::root::open_here;
use crate::session::Work;
use crate::stop::Stop;
use blake3::Hasher;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, OpenOptions};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Where received files go.
pub struct Receiving {
    /// The folder in which all of it stays.
    pub dir: Dir,
    /// What each source is called there; empty if its contents go right into the folder.
    pub names: Vec<PathBuf>,
    /// How they are written.
    pub manner: Manner,
}

impl Receiving {
    /// Where a place is; none if there is no such place.
    fn target(&self, place: &Place) -> Option<PathBuf> {
        let (top, below) = (self.names.get(place.source as usize)?, below(&place.path)?);
        if !self.manner.recursive && !below.as_os_str().is_empty() {
            return None; // a file was asked for
        }
        Some(match (top.as_os_str().is_empty(), below.as_os_str().is_empty()) {
            (true, _) => below,
            (false, true) => top.clone(),
            (false, false) => top.join(below),
        })
    }
}

/// What may be a file's beginning.
enum Candidate {
    None,
    /// An earlier copy's.
    Partial(Partial, Box<Hasher>),
    /// The file that is there, if it is the same.
    Existing(Box<Hasher>),
}

/// A file that is wanted.
struct Expected {
    target: PathBuf,
    offset: u64,
    candidate: Candidate,
}

/// What both threads know.
struct Shared {
    receiving: Receiving,
    answers: Mutex<Out>,
    state: Mutex<State>,
    /// Bytes that have arrived.
    moved: AtomicU64,
    watch: Watch,
    stop: Stop,
}

#[derive(Default)]
struct State {
    expected: HashMap<u64, Expected>,
    /// How many are not done.
    open: usize,
    /// No more offers come.
    ended: bool,
    finished: bool,
    /// Folders whose attributes are set in the end, as what is written into them changes them.
    folders: Vec<(PathBuf, Attributes)>,
}

/// Folders are remembered, so there must be an end to them.
const FOLDERS: usize = 1 << 20;

/// The threads' work. `farewell` is what the sender says in the end.
pub(crate) fn work(
    receiving: Receiving,
    offers: In,
    answers: Out,
    data: In,
    farewell: Arc<Mutex<Farewell>>,
    watch: Watch,
    stop: Stop,
) -> Work {
    let answers = Mutex::new(answers);
    let shared =
        Arc::new(Shared { receiving, answers, state: Mutex::default(), moved: AtomicU64::new(0), watch, stop });
    let decider = Decider { shared: shared.clone(), offers, next: 0, farewell };
    let writer = Writer { shared, data, told: Instant::now(), moved: 0 };
    vec![Box::new(move || decider.decide()), Box::new(move || writer.write())]
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, answer: &Answer) -> io::Result<()> {
        write(&mut *self.answers.lock().unwrap_or_else(PoisonError::into_inner), answer)
    }

    fn flush(&self) -> io::Result<()> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }

    /// A file has failed.
    fn fail(&self, id: u64, target: &std::path::Path, reason: &str) -> io::Result<()> {
        (self.watch)(Event::Problem(crate::shown_path(target), crate::shown(reason)));
        self.say(&Answer::Failed(id, short(reason.into())))?;
        self.close_one()
    }

    /// A file is there.
    fn done(&self, id: u64, target: PathBuf, size: u64) -> io::Result<()> {
        (self.watch)(Event::Done(target, size));
        self.say(&Answer::Done(id))?;
        self.close_one()
    }

    fn close_one(&self) -> io::Result<()> {
        self.state().open -= 1;
        self.finish()
    }

    /// Ends the copy if nothing is left to do.
    fn finish(&self) -> io::Result<()> {
        let folders = {
            let mut state = self.state();
            if !state.ended || state.open > 0 || state.finished {
                return Ok(());
            }
            state.finished = true;
            std::mem::take(&mut state.folders)
        };
        // Innermost first: they come after those that they are in.
        for (path, attributes) in folders.iter().rev() {
            let set = open_folder(&self.receiving.dir, path).and_then(|folder| adorn(&folder, attributes, true));
            if let Err(e) = set {
                (self.watch)(Event::Problem(crate::shown_path(path), reason(&e)));
            }
        }
        self.say(&Answer::Finished { moved: self.moved.load(Ordering::Relaxed) })?;
        self.flush()
    }

    fn has_finished(&self) -> bool {
        self.state().finished
    }
}

struct Decider {
    shared: Arc<Shared>,
    offers: In,
    /// The next file's number.
    next: u64,
    farewell: Arc<Mutex<Farewell>>,
}

impl Decider {
    fn decide(mut self) -> io::Result<()> {
        loop {
            if self.offers.is_idle() {
                self.shared.flush()?;
            }
            let offer = match read(&mut self.offers) {
                // The sender has ended it as soon as it knew.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && self.shared.has_finished() => return Ok(()),
                offer => offer?,
            };
            match offer {
                Offer::Folder(place, attributes) => self.on_folder(&place, attributes)?,
                Offer::File { id, place, size } => self.on_file(id, &place, size)?,
                Offer::Problem(place, reason) => {
                    let shown = self.shared.receiving.target(&place).unwrap_or_default();
                    (self.shared.watch)(Event::Problem(crate::shown_path(&shown), crate::shown(&reason)));
                }
                Offer::End => {
                    self.shared.state().ended = true;
                    self.shared.finish()?;
                }
                Offer::Goodbye(farewell) => {
                    *self.farewell.lock().unwrap_or_else(PoisonError::into_inner) = farewell;
                    return Ok(());
                }
            }
        }
    }

    fn on_folder(&mut self, place: &Place, attributes: Attributes) -> io::Result<()> {
        let Receiving { dir, manner, .. } = &self.shared.receiving;
        let target = self.shared.receiving.target(place).filter(|_| manner.recursive);
        let target = target.ok_or_else(|| invalid("it offers a folder that was not asked for"))?;
        // With -p it gets its own in the end; until then it is nobody else's.
        let mode = 0o700 | if manner.preserve { 0 } else { attributes.mode & 0o777 };
        if !target.as_os_str().is_empty()
            && let Err(e) = dir.create_dir_with(&target, DirBuilder::new().mode(mode))
            && !dir.metadata(&target).is_ok_and(|there| there.is_dir())
        {
            let why = if e.kind() == io::ErrorKind::AlreadyExists {
                "a file of this name is in the folder's place; remove it".into()
            } else {
                reason(&e)
            };
            (self.shared.watch)(Event::Problem(crate::shown_path(&target), why.clone()));
            return self.shared.say(&Answer::Problem(place.clone(), short(why)));
        }
        if manner.preserve {
            let mut state = self.shared.state();
            if state.folders.len() >= FOLDERS {
                return Err(invalid("there are too many folders to set the times of; copy without -p"));
            }
            state.folders.push((target, attributes));
        }
        Ok(())
    }

    fn on_file(&mut self, id: u64, place: &Place, size: u64) -> io::Result<()> {
        let target =
            self.shared.receiving.target(place).ok_or_else(|| invalid("it offers a file that was not asked for"))?;
        if id != self.next {
            return Err(invalid("it numbers files wrongly"));
        }
        self.next += 1;
        {
            let mut state = self.shared.state();
            state.open += 1;
            // Those that are done may not be known to be at the other end.
            if state.open > OFFERED {
                return Err(invalid("it offers too many files at a time"));
            }
        }
        (self.shared.watch)(Event::Listed(size));
        let (candidate, offset) = match self.candidate(&target, size) {
            Ok(found) => found,
            Err(e) if self.shared.stop.is_set() => return Err(e),
            Err(e) => return self.shared.fail(id, &target, &reason(&e)),
        };
        let hash = match &candidate {
            Candidate::None => [0; 32],
            Candidate::Partial(_, hasher) | Candidate::Existing(hasher) => *hasher.finalize().as_bytes(),
        };
        self.shared.state().expected.insert(id, Expected { target, offset, candidate });
        self.shared.say(&Answer::Want { id, offset, hash })
    }

    /// What is there of a file, and how much.
    fn candidate(&self, target: &PathBuf, size: u64) -> io::Result<(Candidate, u64)> {
        // Hashing takes its time, and so may another copy's lock: what is wanted already comes meanwhile.
        self.shared.flush()?;
        let Shared { receiving: Receiving { dir, .. }, stop, .. } = &*self.shared;
        if let Some(partial) = Partial::open(dir, target, false, &|| stop.is_set())? {
            let length = partial.file().metadata()?.len();
            if (1..=size).contains(&length)
                && let Some(hasher) = prefix(partial.file(), length, stop)?
            {
                return Ok((Candidate::Partial(partial, Box::new(hasher)), length));
            }
        } else if size > 0
            && dir.symlink_metadata(target).is_ok_and(|there| there.is_file() && there.len() == size)
            // If it cannot be read it is written anew.
            && let Ok(file) = open_here(dir, target, OpenOptions::new().read(true))
            && file.metadata()?.is_file()
            && let Some(hasher) = prefix(&file, size, stop)?
        {
            return Ok((Candidate::Existing(Box::new(hasher)), size));
        }
        Ok((Candidate::None, 0))
    }
}

struct Writer {
    shared: Arc<Shared>,
    data: In,
    /// When progress was told last, and what had arrived.
    told: Instant,
    moved: u64,
}

/// A file that is being written.
struct Current {
    id: u64,
    expected: Expected,
    attributes: Attributes,
    /// Where to; none if the file is there already.
    partial: Option<Partial>,
    hasher: Hasher,
    position: u64,
    size: u64,
}

/// Progress is told so often.
const OFTEN: Duration = Duration::from_millis(100);

impl Writer {
    fn write(mut self) -> io::Result<()> {
        let written = self.write_all();
        (self.shared.watch)(Event::Moved(self.shared.moved.load(Ordering::Relaxed) - self.moved));
        written
    }

    fn write_all(&mut self) -> io::Result<()> {
        loop {
            match self.next() {
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && self.shared.has_finished() => return Ok(()),
                piece => match piece? {
                    Piece::Begin { id, offset, size, attributes } => self.on_file(id, offset, size, attributes)?,
                    Piece::Over => return Ok(()), // after Finished
                    _ => return Err(invalid("it sends contents of no file")),
                },
            }
        }
    }

    fn next(&mut self) -> io::Result<Piece> {
        if self.data.is_idle() {
            self.shared.flush()?;
        }
        read(&mut self.data)
    }

    fn on_file(&mut self, id: u64, offset: u64, size: u64, attributes: Attributes) -> io::Result<()> {
        let expected = self.shared.state().expected.remove(&id);
        let mut expected = expected.ok_or_else(|| invalid("it sends a file that was not asked for"))?;
        if offset != 0 && offset != expected.offset || offset > size {
            return Err(invalid("it continues a file where it was not asked to"));
        }
        let target = expected.target.clone();
        let (partial, hasher) = match std::mem::replace(&mut expected.candidate, Candidate::None) {
            Candidate::Existing(hasher) if offset > 0 => (None, *hasher),
            Candidate::Partial(partial, hasher) => (Some(partial), if offset > 0 { *hasher } else { Hasher::new() }),
            _ => (None, Hasher::new()),
        };
        let existing = partial.is_none() && offset > 0;
        let mut current = Current { id, expected, attributes, partial, hasher, position: offset, size };
        // The first piece is looked at before anything is made: what cannot be read at the other end leaves nothing here.
        let first = self.next()?;
        if let Piece::Broken(reason) = &first {
            return self.broken(&current, reason);
        }
        if existing && size != offset {
            self.shared.fail(id, &target, "it grew while it was copied; copy it again")?;
            return self.skip(Some(first));
        }
        match if existing { Ok(()) } else { self.begin(&mut current) } {
            Ok(()) => self.on_pieces(current, Some(first), existing),
            Err(e) if self.shared.stop.is_set() => Err(e),
            Err(e) => {
                self.shared.fail(id, &target, &reason(&e))?;
                self.skip(Some(first))
            }
        }
    }

    fn begin(&self, current: &mut Current) -> io::Result<()> {
        if current.partial.is_none() {
            let stop = &self.shared.stop;
            let target = &current.expected.target;
            current.partial = Partial::open(&self.shared.receiving.dir, target, true, &|| stop.is_set())?;
        }
        current.partial.as_ref().map_or(Ok(()), |partial| partial.begin_at(current.position))
    }

    fn broken(&self, current: &Current, reason: &str) -> io::Result<()> {
        let reason = if reason.is_empty() { "the sender gave it up" } else { reason };
        self.shared.fail(current.id, &current.expected.target, reason)
    }

    /// Writes a file to its end. What goes wrong here is the file's, and the rest of it is skipped.
    fn on_pieces(&mut self, mut current: Current, mut first: Option<Piece>, existing: bool) -> io::Result<()> {
        loop {
            let piece = match first.take() {
                Some(piece) => piece,
                None => self.next()?,
            };
            match piece {
                Piece::Data(length) if length <= LONGEST_DATA && !existing => {
                    let mut rest = length as usize;
                    while rest > 0 {
                        let bytes = self.data.take(rest)?;
                        rest -= bytes.len();
                        if let Err(e) = current.write(&bytes) {
                            self.shared.fail(current.id, &current.expected.target, &reason(&e))?;
                            self.drop_bytes(rest)?;
                            return self.skip(None);
                        }
                        self.shared.moved.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                        self.tell(&current)?;
                    }
                }
                Piece::Hole(length) if !existing => {
                    let end = current.position.checked_add(length).filter(|end| *end <= current.size);
                    let end = end.ok_or_else(|| invalid("a file is longer than it said"))?;
                    zeros(&mut current.hasher, length, &self.shared.stop)?;
                    current.position = end;
                }
                Piece::End { hash, changed } => return self.complete(&current, hash, changed),
                Piece::Broken(reason) => return self.broken(&current, &reason),
                _ => return Err(invalid("it sends pieces in no order")),
            }
            if current.position > current.size {
                return Err(invalid("a file is longer than it said"));
            }
        }
    }

    fn complete(&self, current: &Current, hash: [u8; 32], changed: bool) -> io::Result<()> {
        let Receiving { dir, manner, .. } = &self.shared.receiving;
        let Current { id, expected, attributes, partial, hasher, position, size } = current;
        let target = &expected.target;
        // Of the library's type: compared in constant time, which does no harm.
        if hasher.finalize() != hash || position != size {
            if let Some(partial) = partial {
                partial.remove(dir);
            }
            return self.shared.fail(*id, target, "it was damaged on the way or on a disk; copy it again");
        }
        let finished = match partial {
            Some(partial) => partial.finish(dir, *size, attributes, manner.preserve),
            None if manner.preserve => {
                open_here(dir, target, OpenOptions::new().read(true)).and_then(|file| adorn(&file, attributes, true))
            }
            None => Ok(()),
        };
        match finished {
            Err(e) => self.shared.fail(*id, target, &reason(&e)),
            Ok(()) if changed => self.shared.fail(
                *id,
                target,
                "it changed while it was copied: what was read is there, and may be a mixture; copy it again",
            ),
            Ok(()) => self.shared.done(*id, target.clone(), *size),
        }
    }

    /// The rest of a file that has failed.
    fn skip(&mut self, mut first: Option<Piece>) -> io::Result<()> {
        self.shared.flush()?;
        loop {
            let piece = match first.take() {
                Some(piece) => piece,
                None => self.next()?,
            };
            match piece {
                Piece::Data(length) if length <= LONGEST_DATA => self.drop_bytes(length as usize)?,
                Piece::Hole(_) => {}
                Piece::End { .. } | Piece::Broken(_) => return Ok(()),
                _ => return Err(invalid("it sends pieces in no order")),
            }
        }
    }

    fn drop_bytes(&mut self, mut rest: usize) -> io::Result<()> {
        while rest > 0 {
            rest -= self.data.take(rest)?.len();
        }
        Ok(())
    }

    fn tell(&mut self, current: &Current) -> io::Result<()> {
        if self.told.elapsed() < OFTEN {
            return Ok(());
        }
        self.told = Instant::now();
        let &Current { id, position, size, .. } = current;
        let path = current.expected.target.clone();
        (self.shared.watch)(Event::At { path, size, position });
        let moved = self.shared.moved.load(Ordering::Relaxed);
        (self.shared.watch)(Event::Moved(moved - self.moved));
        self.moved = moved;
        self.shared.say(&Answer::At { id, position, moved })?;
        self.shared.flush()
    }
}

impl Current {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(partial) = &self.partial {
            partial.write(bytes, self.position)?;
        }
        self.hasher.update(bytes);
        self.position += bytes.len() as u64;
        Ok(())
    }
}
