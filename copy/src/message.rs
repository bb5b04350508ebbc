//! What the two ends say to each other: postcard in frames, a length of four bytes in front of each.
//!
//! A connection has one bidirectional stream: [`Hello`] and [`Welcome`], then [`Offer`]s from the side that sends files and
//! [`Answer`]s from the one that receives them. The files' contents are [`Piece`]s on a stream of their own.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// No frame is longer, but for [`Hello`].
pub const LONGEST: usize = 16 << 10;
/// A [`Hello`] may name many files.
pub const LONGEST_HELLO: usize = 4 << 20;
/// No path is longer.
pub const LONGEST_PATH: usize = 8 << 10;
/// No [`Piece::Data`] is longer.
pub const LONGEST_DATA: u32 = 1 << 20;
/// No more files are offered than this before answers come: it bounds what both ends remember.
pub const OFFERED: usize = 1 << 15;

/// The client's first word, once it knows the server by its certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// That it knows the secret, if the server has one ([`crate::key::Key::proof`]).
    pub proof: [u8; 32],
    /// What it wants.
    pub request: Request,
}

/// What a client wants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// These files.
    Fetch {
        /// As the user wrote them.
        paths: Vec<Vec<u8>>,
        /// Folders with all that is in them.
        recursive: bool,
    },
    /// To send files.
    Push {
        /// Where to, as the user wrote it.
        destination: Vec<u8>,
        /// What each source is called, if it has a name.
        names: Vec<Vec<u8>>,
        /// An earlier attempt was [granted](Welcome::Granted) so: the folder that is there now is of its making.
        named: bool,
        /// How they are to be written.
        manner: Manner,
    },
}

/// How files are to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manner {
    /// Folders, too.
    pub recursive: bool,
    /// With their permissions and times.
    pub preserve: bool,
}

/// The server's answer to [`Hello`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Welcome {
    /// Go on.
    Granted {
        /// The destination is not a folder that sources go into, but what the one source is to be called.
        named: bool,
    },
    /// No, and why.
    Refused(String),
}

/// One of the sources that were asked for, and what is below it: components with `/` between them, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Counts the sources from zero.
    pub source: u32,
    /// Below it.
    pub path: Vec<u8>,
}

/// Permissions and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// Permission bits.
    pub mode: u32,
    /// Last change: seconds since 1970 and nanoseconds.
    pub modified: (i64, u32),
    /// Last access.
    pub accessed: (i64, u32),
}

/// What the sender has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Offer {
    /// A folder; it comes before what is in it.
    Folder(Place, Attributes),
    /// A file.
    File {
        /// Its number, one more than the last one's.
        id: u64,
        /// Where.
        place: Place,
        /// Bytes.
        size: u64,
    },
    /// Something that cannot be sent, and why.
    Problem(Place, String),
    /// There is no more.
    End,
    /// The receiver has all it wanted. How it was.
    Goodbye(Farewell),
}

/// What the sender knows of the transfer in the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Farewell {
    /// Packets sent, whatever was in them.
    pub packets: u64,
    /// Of these, lost.
    pub lost: u64,
    /// Which controller drove, and why if it is not the chosen one.
    pub controller: String,
}

/// What the receiver makes of that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// Send this file. The receiver has `offset` bytes of something that may be its beginning, with this BLAKE3.
    Want {
        /// Which.
        id: u64,
        /// Bytes that are there.
        offset: u64,
        /// Of these bytes.
        hash: [u8; 32],
    },
    /// How far a file is: for the display of progress.
    At {
        /// Which.
        id: u64,
        /// Bytes of it that are there.
        position: u64,
        /// Bytes of all files that have arrived over this connection.
        moved: u64,
    },
    /// A file is there, complete and verified.
    Done(u64),
    /// A file cannot be had, and why.
    Failed(u64, String),
    /// Something else that could not be done, and why.
    Problem(Place, String),
    /// All that was offered is done, or has failed.
    Finished {
        /// Bytes of all files that have arrived over this connection.
        moved: u64,
    },
}

/// Contents of files, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Piece {
    /// A file that was wanted begins, at the offset that was proposed or at zero.
    Begin {
        /// Which.
        id: u64,
        /// Bytes that are not sent.
        offset: u64,
        /// Bytes in all.
        size: u64,
        /// As they were when it was opened.
        attributes: Attributes,
    },
    /// So many bytes follow.
    Data(u32),
    /// So many zero bytes that take no room.
    Hole(u64),
    /// The file is over.
    End {
        /// BLAKE3 of all of it, with what was not sent.
        hash: [u8; 32],
        /// It was changed meanwhile: this is how it was read, which it may never have been.
        changed: bool,
    },
    /// The file will not be completed, and why.
    Broken(String),
    /// No more files.
    Over,
}

/// Reads a message of at most `longest` bytes. Fails with `InvalidData` if it is longer or none.
pub fn read_long<T: DeserializeOwned>(from: &mut impl Read, longest: usize) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut frame = vec![0; checked(length, longest)?];
    from.read_exact(&mut frame)?;
    decode(&frame)
}

/// Reads a message of at most [`LONGEST`] bytes.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    read_long(from, LONGEST)
}

/// Writes a message.
pub fn write<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    to.write_all(&encode(message)?)
}

/// A message with its length.
pub fn encode<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    Ok(frame)
}

/// How long the frame is that begins with `length`, if that is no more than `longest`.
pub fn checked(length: [u8; 4], longest: usize) -> io::Result<usize> {
    let length = u32::from_be_bytes(length) as usize;
    if length <= longest { Ok(length) } else { Err(invalid("a message is too long")) }
}

/// The message in a frame, without its length.
pub fn decode<T: DeserializeOwned>(frame: &[u8]) -> io::Result<T> {
    match postcard::take_from_bytes(frame) {
        Ok((message, [])) => Ok(message),
        _ => Err(invalid("a message makes no sense")),
    }
}

/// What the peer did is against the protocol.
pub(crate) fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// An explanation, short enough for a message.
pub(crate) fn short(mut reason: String) -> String {
    let end = (0..=500.min(reason.len())).rev().find(|&at| reason.is_char_boundary(at)).unwrap_or(0);
    reason.truncate(end);
    reason
}
