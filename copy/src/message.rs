//! The messages of the copy protocol.
//!
//! A connection has one bidirectional stream. On it the client sends 32 bytes, the proof that it knows the server's
//! secret ([`crate::Key::proof`]), which a server without a secret ignores. Then it sends a [`Request`], and the server
//! answers with [`Response`]; then the sender of the files sends [`Offer`]s and the receiver sends [`Answer`]s. The
//! contents of the files are [`Piece`]s, on unidirectional streams from the sender. Each message is a frame
//! ([`crate::frame`]); the order of the fields and variants below is the wire format (postcard).
//!
//! # States of a file
//!
//! A message that is not listed for the state of its file breaks the protocol, which ends the connection.
//!
//! | state | the receiver may send | the sender may send |
//! |---|---|---|
//! | offered | [`Answer::Want`] from zero on, [`Answer::Compare`], [`Answer::Failed`] | |
//! | compared | [`Answer::Failed`] | [`Offer::Hash`] |
//! | hashed | [`Answer::Want`] from zero or from the compared length on, [`Answer::Failed`] | |
//! | wanted | [`Answer::Failed`] | [`Piece::Begin`] |
//! | begun | [`Answer::Progress`], [`Answer::Done`], [`Answer::Failed`] | pieces, the last an `End` or `Abandoned` |

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest message other than [`Request`], in bytes.
pub const MAX_MESSAGE: usize = 16 << 10;
/// The longest [`Request`], in bytes: it can name many files.
pub const MAX_REQUEST: usize = 4 << 20;
/// The largest number of sources in a [`Request`].
pub const MAX_SOURCES: usize = 1 << 17;
/// The longest path in [`SourcePath`], in bytes.
pub const MAX_PATH: usize = 8 << 10;
/// The largest value of [`Piece::Data`], in bytes.
pub const MAX_DATA: u32 = 1 << 20;
/// The largest value of [`Piece::Hole`], in bytes: the receiver hashes it as zeros, which takes part of a second.
pub const MAX_HOLE: u64 = 1 << 30;
/// The largest size of a file, in bytes.
pub const MAX_SIZE: u64 = 1 << 50;
/// The largest number of files that are offered and not yet done or failed. It bounds what both ends remember.
pub const MAX_OPEN_FILES: usize = 1 << 15;
/// Once the paths of these files have this number of bytes together, no further file is offered.
pub const MAX_OPEN_PATHS: usize = 8 << 20;
/// The largest number of files that are to be resumed: those for which the receiver has asked to compare a part, and
/// whose contents have not begun. It bounds the hashers that the sender keeps.
pub const MAX_RESUMED: usize = 64;
/// The longest text of a reason in a message, in bytes.
const MAX_REASON: usize = 500;

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// The server is to send files.
    Fetch {
        /// The paths of the sources, as the user wrote them.
        #[serde(deserialize_with = "bounded")]
        paths: Vec<Vec<u8>>,
        /// Whether folders are copied, with everything in them.
        recursive: bool,
    },
    /// The server is to receive files.
    Push {
        /// The destination, as the user wrote it.
        destination: Vec<u8>,
        /// The last component of each source's path; empty if it has none.
        #[serde(deserialize_with = "bounded")]
        names: Vec<Vec<u8>>,
        /// The value of [`Response::Granted`] in an earlier attempt of the same copy: if true, a folder that has the
        /// destination's name now was made by that attempt.
        renames: bool,
        /// How the files are copied.
        options: Options,
    },
}

impl Request {
    /// The number of sources.
    pub(crate) fn sources(&self) -> usize {
        match self {
            Request::Fetch { paths, .. } => paths.len(),
            Request::Push { names, .. } => names.len(),
        }
    }
}

/// Deserializes at most [`MAX_SOURCES`] byte strings: in memory, an empty one takes twenty times the bytes that it has
/// in the message.
fn bounded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
    struct Bounded;
    impl<'de> Visitor<'de> for Bounded {
        type Value = Vec<Vec<u8>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MAX_SOURCES} sources")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
            let mut sources = Vec::new();
            while let Some(source) = sequence.next_element()? {
                if sources.len() == MAX_SOURCES {
                    return Err(serde::de::Error::invalid_length(MAX_SOURCES + 1, &self));
                }
                sources.push(source);
            }
            Ok(sources)
        }
    }
    deserializer.deserialize_seq(Bounded)
}

/// How files are copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Whether folders are copied, with everything in them.
    pub recursive: bool,
    /// Whether copies get the permissions and times of their sources.
    pub preserve: bool,
    /// Whether each file is flushed to the disk before it gets its name (`fsync`).
    pub sync: bool,
}

/// The server's answer to [`Request`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// The copy begins.
    Granted {
        /// Whether the destination's last component is the name of the copy of the one source, and not a folder that
        /// the source goes into.
        renames: bool,
        /// The name of the folder that the empty path means: that of the served folder or, for a server that ssh has
        /// started, of the home folder. Empty if it has none.
        folder: Vec<u8>,
    },
    /// The server refuses, for this reason.
    Refused(String),
}

/// The path of a file or folder to copy: a source and a path below it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourcePath {
    /// The index of the source in the request, from zero.
    pub source: u32,
    /// The path below the source: components separated by `/`. Empty for the source itself.
    pub path: Vec<u8>,
}

/// Permissions and times of a file or folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// Permission bits.
    pub mode: u32,
    /// Time of the last change: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// Time of the last access: seconds since 1970 and nanoseconds.
    pub accessed: (i64, u32),
}

/// An entry of the sender's list of files, and the end of the list and of the copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Offer {
    /// A folder. It comes before its contents.
    Folder(SourcePath, Attributes),
    /// A file.
    File {
        /// The file's number: zero for the first, and one more for each further file.
        id: u64,
        /// Its path.
        path: SourcePath,
        /// Its size in bytes when it was listed. The size that counts is that of [`Piece::Begin`].
        size: u64,
    },
    /// The hash that [`Answer::Compare`] asks for.
    Hash {
        /// The file's number.
        id: u64,
        /// The BLAKE3 of the file's first bytes; `None` if it cannot be read or has another size by now.
        hash: Option<[u8; 32]>,
    },
    /// Something that cannot be sent, and why.
    Problem(SourcePath, String),
    /// The list is complete.
    End,
    /// The last message: the receiver has [finished](Answer::Finished).
    Goodbye(Summary),
}

/// What the sender reports about its packets at the end of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Packets sent, whatever they contained.
    pub packets: u64,
    /// Packets that QUIC declared lost.
    pub lost: u64,
    /// The congestion controller that was in charge and, if it is not the chosen one, why.
    pub controller: String,
}

/// The receiver's answers to offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Send this file from here on.
    Want {
        /// The file's number.
        id: u64,
        /// Zero for the whole file; the length of [`Answer::Compare`] if the receiver has bytes with the same hash.
        offset: u64,
    },
    /// Send the hash of the beginning of this file: the receiver has as many bytes that may be the same. It says
    /// nothing of these bytes but their number, and in [`Answer::Want`] whether their hash is the same. So a sender
    /// learns no hash of a file that it does not have.
    Compare {
        /// The file's number.
        id: u64,
        /// How many bytes, from one to the file's size.
        length: u64,
    },
    /// How much of a file has been received, for the display of progress.
    Progress {
        /// The file's number.
        id: u64,
        /// Bytes of the file that the receiver has.
        position: u64,
        /// Bytes of all files received over this connection.
        received: u64,
    },
    /// The file of this number is complete and verified.
    Done(u64),
    /// The file of this number could not be copied, and why.
    Failed(u64, String),
    /// A folder that was offered could not be made, and why.
    Problem(SourcePath, String),
    /// Every offered file is done or has failed, and the list is complete.
    Finished {
        /// Bytes of all files received over this connection.
        received: u64,
    },
    /// The names in the folder at this path below the destination's folder (`.` for that folder itself) may not be on
    /// the disk, and why. There are at most as many of these as files and folders were offered.
    Unflushed(Vec<u8>, String),
}

/// The contents of the wanted files, one file after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// The contents of a wanted file begin.
    Begin {
        /// The file's number.
        id: u64,
        /// The first byte that is sent: the offset of [`Answer::Want`], or zero if the file has changed since.
        offset: u64,
        /// The file's size in bytes.
        size: u64,
        /// The file's attributes when it was opened.
        attributes: Attributes,
    },
    /// This number of bytes of the file, at least one, follows the message.
    Data(u32),
    /// The file has a hole of this number of bytes, at least one.
    Hole(u64),
    /// The file is complete.
    End {
        /// The BLAKE3 of the whole file, with the bytes before `offset`.
        hash: [u8; 32],
        /// The file was changed while the sender read it: the contents may never have existed at one time.
        changed: bool,
    },
    /// The rest of the file will not be sent, and why. The reason is empty if the receiver's own failure is the reason.
    Abandoned(String),
    /// No more files follow.
    Over,
}

/// The beginning of a reason, short enough for a message.
pub(crate) fn truncated(mut reason: String) -> String {
    let end = (0..=MAX_REASON.min(reason.len())).rev().find(|&at| reason.is_char_boundary(at)).unwrap_or(0);
    reason.truncate(end);
    reason
}
