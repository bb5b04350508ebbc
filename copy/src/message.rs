//! The messages of the copy protocol.
//!
//! A connection has one bidirectional stream. On it the client sends [`Hello`] and the server answers with
//! [`Response`]; then the sender of the files sends [`Offer`]s and the receiver sends [`Answer`]s. The contents of the
//! files are [`Piece`]s, on unidirectional streams from the sender. Each message is a frame ([`crate::frame`]); the
//! order of the fields and variants below is the wire format (postcard).

use serde::{Deserialize, Serialize};

/// The longest message other than [`Hello`], in bytes.
pub const MAX_MESSAGE: usize = 16 << 10;
/// The longest [`Hello`], in bytes: it can name many files.
pub const MAX_HELLO: usize = 4 << 20;
/// The longest path in [`SourcePath`], in bytes.
pub const MAX_PATH: usize = 8 << 10;
/// The largest value of [`Piece::Data`], in bytes.
pub const MAX_DATA: u32 = 1 << 20;
/// The largest number of files that are offered and not yet done or failed. It bounds what both ends remember.
pub const MAX_OPEN_FILES: usize = 1 << 15;
/// The longest text of a reason in a message, in bytes.
const MAX_REASON: usize = 500;

/// The client's first message, sent after it has verified the server's certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The proof that the client knows the server's secret ([`crate::Key::proof`]). A server without a secret ignores
    /// it.
    pub proof: [u8; 32],
    /// What the client asks for.
    pub request: Request,
}

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// The server is to send files.
    Fetch {
        /// The paths of the sources, as the user wrote them.
        paths: Vec<Vec<u8>>,
        /// Whether folders are copied, with everything in them.
        recursive: bool,
    },
    /// The server is to receive files.
    Push {
        /// The destination, as the user wrote it.
        destination: Vec<u8>,
        /// The last component of each source's path; empty if it has none.
        names: Vec<Vec<u8>>,
        /// The value of [`Response::Granted`] in an earlier attempt of the same copy: if true, a folder that has the
        /// destination's name now was made by that attempt.
        renames: bool,
        /// How the files are copied.
        options: Options,
    },
}

/// How files are copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Whether folders are copied, with everything in them.
    pub recursive: bool,
    /// Whether copies get the permissions and times of their sources.
    pub preserve: bool,
}

/// The server's answer to [`Hello`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Response {
    /// The copy begins.
    Granted {
        /// Whether the destination's last component is the name of the copy of the one source, and not a folder that
        /// the source goes into.
        renames: bool,
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
    /// Send this file. The receiver has `offset` bytes that may be its beginning.
    Want {
        /// The file's number.
        id: u64,
        /// Bytes that the receiver has.
        offset: u64,
        /// The BLAKE3 of these bytes; zeros if there are none.
        hash: [u8; 32],
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
    /// Something else could not be copied, and why.
    Problem(SourcePath, String),
    /// Every offered file is done or has failed, and the list is complete.
    Finished {
        /// Bytes of all files received over this connection.
        received: u64,
    },
}

/// The contents of the wanted files, one file after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// The contents of a wanted file begin.
    Begin {
        /// The file's number.
        id: u64,
        /// The first byte that is sent: the offset of [`Answer::Want`] if its hash matched, or zero.
        offset: u64,
        /// The file's size in bytes.
        size: u64,
        /// The file's attributes when it was opened.
        attributes: Attributes,
    },
    /// This number of bytes of the file follows the message.
    Data(u32),
    /// The file has a hole of this number of bytes.
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
