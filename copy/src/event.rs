//! What happens during a copy, for whoever displays it.

use std::path::PathBuf;
use std::sync::Arc;

/// Something that happened during a copy. At the sender, paths are those of the sources; at the receiver, they are
/// relative to the destination's folder. A problem of a folder of the destination has the receiver's path at both ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// One more file is to be copied.
    Listed {
        /// Its size in bytes.
        size: u64,
    },
    /// More of a file has been received.
    Progress {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// Bytes of it that the receiver has.
        position: u64,
    },
    /// The receiver has received more bytes of file contents since the last event of this kind.
    Received {
        /// How many more, in bytes.
        bytes: u64,
    },
    /// A file is complete and verified.
    Done {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// Something could not be copied, or not as it should be.
    Problem {
        /// What: a path without control characters, or nothing.
        path: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The connection was lost and the client tries again, from the beginning of the list.
    Retry {
        /// Why it was lost.
        reason: String,
    },
    /// Something else that users should know, for example that the server is started again.
    Note(String),
    /// Something that users may want to know, for example how packets are paced.
    Detail(String),
}

/// Whom a copy tells what happens. It is called from several threads.
pub type Observer = Arc<dyn Fn(Event) + Send + Sync>;
