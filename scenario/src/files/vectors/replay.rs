//! Files of connection vectors as the connections of a run.

use super::contents::{Contents, scan};
use super::reader::Reader;
use crate::files::regular;
use crate::problem::reason;
use control::Time;
use experiment::traffic::{Arrivals, Connection, Population};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

/// The connections in a file. The file is read while the run goes on.
#[derive(Clone, Debug)]
pub struct VectorFile {
    /// The file.
    pub file: PathBuf,
}

impl Population for VectorFile {
    fn arrivals(&self) -> Result<Box<dyn Arrivals>, String> {
        let input = regular::open(&self.file)
            .map_err(|e| format!("{}: cannot be read ({})", self.file.display(), reason(&e)))?;
        Ok(Box::new(Replay { name: self.file.display().to_string(), reader: Reader::new(input) }))
    }
}

/// A file that is being read.
struct Replay<R> {
    /// What errors call the file.
    name: String,
    reader: Reader<R>,
}

impl<R: BufRead + Send> Arrivals for Replay<R> {
    fn next(&mut self, connection: &mut Connection) -> Result<bool, String> {
        self.reader.next(connection).map_err(|error| format!("{}:{error}", self.name))
    }
}

/// The files of connection vectors that a plan's runs replay. Each is read once to find out what it holds.
pub(crate) struct VectorFiles {
    /// The folder of the scenario.
    folder: PathBuf,
    /// What the file of a name holds up to some time, or what is wrong with it.
    seen: RefCell<HashMap<(String, Time), Result<Contents, String>>>,
}

impl VectorFiles {
    /// The files of a scenario in `folder`.
    pub fn new(folder: &Path) -> VectorFiles {
        VectorFiles { folder: folder.to_path_buf(), seen: RefCell::default() }
    }

    /// Where the file that the scenario calls `name` is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What the file that the scenario calls `name` holds, of connections that start before `until`.
    ///
    /// # Errors
    /// The file, the line, what is wrong there, and what to do.
    pub fn contents(&self, name: &str, until: Time) -> Result<Contents, String> {
        let read = || {
            let unreadable = |e| format!("{name} cannot be read ({}); check its name and permissions", reason(&e));
            let input = regular::open(&self.path(name)).map_err(unreadable)?;
            scan(input, until).map_err(|error| format!("{name}:{error}"))
        };
        self.seen.borrow_mut().entry((name.to_string(), until)).or_insert_with(read).clone()
    }
}
