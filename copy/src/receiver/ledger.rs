//! The receiver's record of the offered files: the state of each ([`crate::message`]), and when the copy is finished.
//! It does no I/O. A message of the sender that does not fit the state is an error of the kind `InvalidData`.

use crate::frame::violation;
use crate::message::{Attributes, MAX_OPEN_FILES, MAX_OPEN_PATHS, MAX_PATH};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest number of folders that are remembered for their attributes, and of the bytes of their paths. They bound
/// the receiver's memory.
const MAX_FOLDERS: usize = 1 << 20;
const MAX_FOLDER_PATHS: usize = 128 << 20;

/// The record. `C` is what the receiver remembers about a file that is being compared, `W` about a wanted one.
pub(super) struct Ledger<C, W> {
    /// The number of the next file.
    next_id: u64,
    /// The open files: from the offer until they are done or have failed.
    files: HashMap<u64, File<C, W>>,
    /// Where the open files go: no two of them go to the same place.
    targets: HashSet<Arc<Path>>,
    /// Bytes of the open files' paths.
    paths: usize,
    /// Folders whose attributes are set at the end, as files that are written into a folder change its time.
    folders: Vec<(PathBuf, Attributes)>,
    /// Bytes of the folders' paths.
    folder_paths: usize,
    list: List,
}

/// An open file.
struct File<C, W> {
    /// Bytes of its path.
    path: usize,
    /// Where it goes, if this place was free when it was offered.
    target: Option<Arc<Path>>,
    state: State<C, W>,
}

/// The state of an open file.
enum State<C, W> {
    Offered,
    Compared(C),
    Wanted(W),
    Begun,
}

/// How far the sender's list is.
#[derive(PartialEq)]
enum List {
    /// More offers may come.
    Growing,
    /// The sender has offered everything.
    Complete,
    /// The sender has offered everything, and no file is open any more.
    Finished,
}

impl<C, W> Default for Ledger<C, W> {
    fn default() -> Ledger<C, W> {
        let (files, targets, folders) = (HashMap::new(), HashSet::new(), Vec::new());
        Ledger { next_id: 0, files, targets, paths: 0, folders, folder_paths: 0, list: List::Growing }
    }
}

impl<C, W> Ledger<C, W> {
    /// Fails if the sender has said that its list is complete, and goes on with it.
    pub(super) fn check_growing(&self) -> io::Result<()> {
        if self.list == List::Growing { Ok(()) } else { Err(violation("its list goes on after the end")) }
    }

    /// Records the offer of file `id`, whose path has this number of bytes. Returns whether no other open file goes to
    /// the same `target`. Fails if `id` is not the next number, or if more files are open than [`MAX_OPEN_FILES`] and
    /// [`MAX_OPEN_PATHS`] permit.
    pub(super) fn offer(&mut self, id: u64, path: usize, target: &Path) -> io::Result<bool> {
        self.check_growing()?;
        if id != self.next_id {
            return Err(violation("it numbers files wrongly"));
        }
        self.next_id += 1;
        self.paths += path;
        let target: Arc<Path> = target.into();
        let free = self.targets.insert(target.clone());
        self.files.insert(id, File { path, target: free.then_some(target), state: State::Offered });
        // The sender may not know yet of the last files that are done, but it counts these as open, too.
        if self.files.len() > MAX_OPEN_FILES || self.paths > MAX_OPEN_PATHS + MAX_PATH {
            return Err(violation("it offers too many files at a time"));
        }
        Ok(free)
    }

    fn set(&mut self, id: u64, state: State<C, W>) {
        if let Some(file) = self.files.get_mut(&id) {
            file.state = state;
        }
    }

    /// Records that the sender is asked for the hash of an offered file.
    pub(super) fn compare(&mut self, id: u64, compared: C) {
        self.set(id, State::Compared(compared));
    }

    /// Records that the sender has sent that hash. Fails if it was not asked for.
    pub(super) fn compared(&mut self, id: u64) -> io::Result<C> {
        if let Some(file) = self.files.get_mut(&id) {
            match std::mem::replace(&mut file.state, State::Offered) {
                State::Compared(compared) => return Ok(compared),
                other => file.state = other,
            }
        }
        Err(violation("it sends a hash that was not asked for"))
    }

    /// Records that an offered file is wanted.
    pub(super) fn want(&mut self, id: u64, wanted: W) {
        self.set(id, State::Wanted(wanted));
    }

    /// Records that the contents of a wanted file begin. Fails if the file is not wanted or has begun before.
    pub(super) fn begin(&mut self, id: u64) -> io::Result<W> {
        if let Some(file) = self.files.get_mut(&id) {
            match std::mem::replace(&mut file.state, State::Begun) {
                State::Wanted(wanted) => return Ok(wanted),
                other => file.state = other,
            }
        }
        Err(violation("it sends a file that was not asked for"))
    }

    /// Records that an open file is done or has failed.
    pub(super) fn close(&mut self, id: u64) {
        if let Some(file) = self.files.remove(&id) {
            self.paths -= file.path;
            if let Some(target) = file.target {
                self.targets.remove(&target);
            }
        }
    }

    /// Remembers a folder whose attributes are set at the end. Fails if there are more than 1,048,576, or if their
    /// paths have more than 128 MiB together.
    pub(super) fn add_folder(&mut self, path: PathBuf, attributes: Attributes) -> io::Result<()> {
        self.folder_paths += path.as_os_str().len();
        if self.folders.len() >= MAX_FOLDERS || self.folder_paths > MAX_FOLDER_PATHS {
            return Err(violation("there are too many folders to set the times of; copy without -p"));
        }
        self.folders.push((path, attributes));
        Ok(())
    }

    /// Records that the sender has offered everything. Fails if it has said so before.
    pub(super) fn complete_list(&mut self) -> io::Result<()> {
        self.check_growing()?;
        self.list = List::Complete;
        Ok(())
    }

    /// Finishes the copy if nothing is left to do: returns the remembered folders, each after the folder that it is in.
    /// Returns `None` if something is left to do or if the copy was finished before.
    pub(super) fn finish(&mut self) -> Option<Vec<(PathBuf, Attributes)>> {
        if self.list != List::Complete || !self.files.is_empty() {
            return None;
        }
        self.list = List::Finished;
        Some(std::mem::take(&mut self.folders))
    }

    /// Whether the copy is finished.
    pub(super) fn is_finished(&self) -> bool {
        self.list == List::Finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Ledger = super::Ledger<&'static str, &'static str>;

    /// Offers a file that goes to a place of its own.
    fn offer(ledger: &mut Ledger, id: u64, path: usize) -> io::Result<bool> {
        ledger.offer(id, path, Path::new(&id.to_string()))
    }

    #[test]
    fn no_two_open_files_go_to_the_same_place() {
        let mut ledger = Ledger::default();
        let free: Vec<bool> = (0..3).map(|id| ledger.offer(id, 1, Path::new("a")).unwrap()).collect();
        assert_eq!(free, [true, false, false]);
        ledger.close(1);
        assert!(!ledger.offer(3, 1, Path::new("a")).unwrap(), "the first one is open");
        ledger.close(0);
        assert!(ledger.offer(4, 1, Path::new("a")).unwrap(), "the first one is closed");
    }

    #[test]
    fn a_copy_is_finished_once_when_the_list_is_complete_and_no_file_is_open() {
        let mut ledger = Ledger::default();
        ledger.add_folder("a".into(), Attributes::default()).unwrap();
        offer(&mut ledger, 0, 1).unwrap();
        offer(&mut ledger, 1, 1).unwrap();
        ledger.want(0, "wanted");
        ledger.begin(0).unwrap();
        ledger.close(0);
        ledger.complete_list().unwrap();
        assert_eq!((ledger.finish(), ledger.is_finished()), (None, false));
        ledger.close(1);
        assert_eq!(ledger.finish(), Some(vec![("a".into(), Attributes::default())]));
        assert_eq!((ledger.finish(), ledger.is_finished()), (None, true));
        assert!(ledger.complete_list().is_err() && offer(&mut ledger, 2, 1).is_err());
    }

    #[test]
    fn a_copy_is_not_finished_before_the_list_is_complete() {
        let mut ledger = Ledger::default();
        offer(&mut ledger, 0, 1).unwrap();
        ledger.close(0);
        assert_eq!(ledger.finish(), None);
    }

    #[test]
    fn files_are_numbered_without_gaps_or_repetitions() {
        for ids in [&[1][..], &[0, 0], &[0, 2]] {
            let mut ledger = Ledger::default();
            assert!(ids.iter().any(|id| offer(&mut ledger, *id, 1).is_err()), "{ids:?}");
        }
    }

    #[test]
    fn hashes_and_contents_come_once_and_only_when_asked_for() {
        let mut ledger = Ledger::default();
        offer(&mut ledger, 0, 1).unwrap();
        assert!(ledger.compared(0).is_err() && ledger.begin(0).is_err(), "offered");
        ledger.compare(0, "compared");
        assert!(ledger.begin(0).is_err(), "compared");
        assert_eq!(ledger.compared(0).unwrap(), "compared");
        assert!(ledger.compared(0).is_err(), "twice");
        ledger.want(0, "wanted");
        assert!(ledger.compared(0).is_err(), "wanted");
        assert_eq!(ledger.begin(0).unwrap(), "wanted");
        assert_eq!(ledger.begin(0).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(ledger.begin(1).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn the_number_of_open_files_is_bounded() {
        let mut ledger = Ledger::default();
        let max = MAX_OPEN_FILES as u64;
        (0..max).for_each(|id| assert!(offer(&mut ledger, id, 1).unwrap()));
        ledger.close(7);
        offer(&mut ledger, max, 1).unwrap();
        assert_eq!(offer(&mut ledger, max + 1, 1).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn the_memory_for_paths_is_bounded() {
        let mut ledger = Ledger::default();
        let offered = (0..).take_while(|id| offer(&mut ledger, *id, MAX_PATH).is_ok()).count();
        assert!(offered <= MAX_OPEN_PATHS / MAX_PATH + 1, "{offered} long paths are remembered");
        let mut ledger = Ledger::default();
        let path = PathBuf::from("x".repeat(MAX_PATH));
        let folders = (0..).take_while(|_| ledger.add_folder(path.clone(), Attributes::default()).is_ok()).count();
        assert!(folders <= MAX_FOLDER_PATHS / MAX_PATH, "{folders} long paths are remembered");
    }
}
