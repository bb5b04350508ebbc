//! What happens during a copy, for whoever shows it.

use std::path::PathBuf;
use std::sync::Arc;

/// Something happened. Paths are the sender's below its sources.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// There is one more file to copy, of so many bytes.
    Listed(u64),
    /// How far a file is.
    At {
        /// The file.
        path: PathBuf,
        /// Bytes in all.
        size: u64,
        /// Bytes that are there.
        position: u64,
    },
    /// So many bytes more have crossed the network.
    Moved(u64),
    /// A file of so many bytes is complete and verified.
    Done(PathBuf, u64),
    /// Something could not be copied, and why.
    Problem(String, String),
    /// The connection was lost, for this reason; it is tried again, from the beginning of the list.
    Retry(String),
    /// The other end was started again, or something else that is worth a line.
    Note(String),
    /// How this end sends: for whoever wants to know more.
    Detail(String),
}

/// Who is told.
pub type Watch = Arc<dyn Fn(Event) + Send + Sync>;
