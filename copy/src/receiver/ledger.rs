//! The receiver's record of the offered files: which of them are open, and when the copy is finished. It does no I/O.
//!
//! A file is open from its offer until it is done or has failed. In between it is wanted, from the receiver's answer
//! until its contents begin.

use crate::frame::violation;
use crate::message::{Attributes, MAX_OPEN_FILES};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

/// The largest number of folders that are remembered for their attributes. It bounds the receiver's memory.
const MAX_FOLDERS: usize = 1 << 20;

/// The record. `W` is what the receiver remembers about a wanted file.
pub(super) struct Ledger<W> {
    /// The number of the next file.
    next_id: u64,
    wanted: HashMap<u64, W>,
    open: usize,
    /// Folders whose attributes are set at the end, as files that are written into a folder change its time.
    folders: Vec<(PathBuf, Attributes)>,
    list: List,
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

impl<W> Default for Ledger<W> {
    fn default() -> Ledger<W> {
        Ledger { next_id: 0, wanted: HashMap::new(), open: 0, folders: Vec::new(), list: List::Growing }
    }
}

impl<W> Ledger<W> {
    /// Records the offer of file `id`. Fails with `InvalidData` if it is not the next number, or if more than
    /// [`MAX_OPEN_FILES`] files are open.
    pub(super) fn offer(&mut self, id: u64) -> io::Result<()> {
        if id != self.next_id {
            return Err(violation("it numbers files wrongly"));
        }
        self.next_id += 1;
        self.open += 1;
        // The sender may not know yet of the last files that are done, but it counts these as open, too.
        if self.open > MAX_OPEN_FILES {
            return Err(violation("it offers too many files at a time"));
        }
        Ok(())
    }

    /// Records that an offered file is wanted.
    pub(super) fn want(&mut self, id: u64, wanted: W) {
        self.wanted.insert(id, wanted);
    }

    /// Records that the contents of a wanted file begin. Fails with `InvalidData` if the file is not wanted or has
    /// begun before.
    pub(super) fn begin(&mut self, id: u64) -> io::Result<W> {
        self.wanted.remove(&id).ok_or_else(|| violation("it sends a file that was not asked for"))
    }

    /// Records that an open file is done or has failed.
    pub(super) fn close(&mut self) {
        self.open -= 1;
    }

    /// Remembers a folder whose attributes are set at the end. Fails with `InvalidData` if there are more than
    /// 1,048,576.
    pub(super) fn add_folder(&mut self, path: PathBuf, attributes: Attributes) -> io::Result<()> {
        if self.folders.len() >= MAX_FOLDERS {
            return Err(violation("there are too many folders to set the times of; copy without -p"));
        }
        self.folders.push((path, attributes));
        Ok(())
    }

    /// Records that the sender has offered everything.
    pub(super) fn complete_list(&mut self) {
        if self.list == List::Growing {
            self.list = List::Complete;
        }
    }

    /// Finishes the copy if nothing is left to do: returns the remembered folders, each after the folder that it is in.
    /// Returns `None` if something is left to do or if the copy was finished before.
    pub(super) fn finish(&mut self) -> Option<Vec<(PathBuf, Attributes)>> {
        if self.list != List::Complete || self.open > 0 {
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

    #[test]
    fn a_copy_is_finished_once_when_the_list_is_complete_and_no_file_is_open() {
        let mut ledger = Ledger::default();
        ledger.add_folder("a".into(), Attributes::default()).unwrap();
        ledger.offer(0).unwrap();
        ledger.offer(1).unwrap();
        ledger.want(0, ());
        ledger.begin(0).unwrap();
        ledger.close();
        ledger.complete_list();
        assert_eq!((ledger.finish(), ledger.is_finished()), (None, false));
        ledger.close();
        assert_eq!(ledger.finish(), Some(vec![("a".into(), Attributes::default())]));
        assert_eq!((ledger.finish(), ledger.is_finished()), (None, true));
    }

    #[test]
    fn a_copy_is_not_finished_before_the_list_is_complete() {
        let mut ledger = Ledger::<()>::default();
        ledger.offer(0).unwrap();
        ledger.close();
        assert_eq!(ledger.finish(), None);
    }

    #[test]
    fn files_are_numbered_without_gaps_or_repetitions() {
        for ids in [&[1][..], &[0, 0], &[0, 2]] {
            let mut ledger = Ledger::<()>::default();
            assert!(ids.iter().any(|id| ledger.offer(*id).is_err()), "{ids:?}");
        }
    }

    #[test]
    fn contents_come_once_and_only_for_wanted_files() {
        let mut ledger = Ledger::default();
        ledger.offer(0).unwrap();
        ledger.want(0, "wanted");
        assert_eq!(ledger.begin(0).unwrap(), "wanted");
        assert_eq!(ledger.begin(0).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(ledger.begin(1).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn the_number_of_open_files_is_bounded() {
        let mut ledger = Ledger::<()>::default();
        let max = MAX_OPEN_FILES as u64;
        (0..max).for_each(|id| ledger.offer(id).unwrap());
        ledger.close();
        ledger.offer(max).unwrap();
        assert_eq!(ledger.offer(max + 1).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
