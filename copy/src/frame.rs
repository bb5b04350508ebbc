//! Frames: a message in postcard's encoding, behind its length in four bytes, most significant byte first.

use crate::message::MAX_MESSAGE;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};

/// Reads a message of at most [`MAX_MESSAGE`] bytes. Fails with `InvalidData` if the frame is longer or holds no such
/// message, and with `UnexpectedEof` if the stream ends.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut frame = vec![0; checked_length(length, MAX_MESSAGE)?];
    from.read_exact(&mut frame)?;
    decode(&frame)
}

/// Writes a message. Fails as `to` does.
pub fn write<T: Serialize>(to: &mut impl Write, message: &T) -> io::Result<()> {
    to.write_all(&encode(message)?)
}

/// The frame of a message, with its length. Fails if the message has 4 GiB or more.
pub fn encode<T: Serialize>(message: &T) -> io::Result<Vec<u8>> {
    let mut frame = postcard::to_extend(message, vec![0; 4]).map_err(io::Error::other)?;
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    Ok(frame)
}

/// The message in a frame, whose length has been removed. Fails with `InvalidData` if it is not exactly one such
/// message.
pub fn decode<T: DeserializeOwned>(frame: &[u8]) -> io::Result<T> {
    match postcard::take_from_bytes(frame) {
        Ok((message, [])) => Ok(message),
        _ => Err(violation("a message cannot be decoded")),
    }
}

/// The length of a frame in bytes, from its first four bytes. Fails with `InvalidData` if it is more than `max`.
pub(crate) fn checked_length(length: [u8; 4], max: usize) -> io::Result<usize> {
    let length = u32::from_be_bytes(length) as usize;
    if length <= max { Ok(length) } else { Err(violation("a message is too long")) }
}

/// The error for a peer that broke the protocol in this way.
pub(crate) fn violation(how: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Answer, MAX_SOURCES, Offer, Options, Piece, Request, Response, SourcePath};

    /// The expected bytes follow from postcard's specification: the variant's index, then the fields in their order;
    /// integers are varints, 300 is `ac 02`.
    #[test]
    fn the_wire_format_stays_as_it_is() {
        fn check<T: Serialize>(message: T, expected: &[u8]) {
            let length = [0, 0, 0, expected.len() as u8];
            assert_eq!(encode(&message).unwrap(), [&length, expected].concat());
        }
        let path = SourcePath { source: 0, path: b"a".to_vec() };
        check(Offer::File { id: 1, path, size: 300 }, b"\x01\x01\x00\x01a\xac\x02");
        check(Offer::Hash { id: 1, hash: Some([7; 32]) }, &[&b"\x02\x01\x01"[..], &[7; 32]].concat());
        check(Answer::Want { id: 1, offset: 300 }, b"\x00\x01\xac\x02");
        check(Answer::Compare { id: 1, length: 300 }, b"\x01\x01\xac\x02");
        check(Answer::Finished { received: 300 }, b"\x06\xac\x02");
        check(Piece::Hole(300), b"\x02\xac\x02");
        check(Piece::Over, b"\x05");
        check(Response::Granted { renames: true, folder: b"a".to_vec() }, b"\x00\x01\x01a");
        let options = Options { recursive: true, preserve: false, sync: true };
        let request = Request::Push { destination: vec![], names: vec![b"a".to_vec()], renames: false, options };
        check(request, b"\x01\x00\x01\x01a\x00\x01\x00\x01");
    }

    #[test]
    fn a_request_with_too_many_sources_is_not_decoded() {
        let with = |count| encode(&Request::Fetch { paths: vec![vec![]; count], recursive: false }).unwrap();
        assert!(decode::<Request>(&with(MAX_SOURCES)[4..]).is_ok());
        assert!(decode::<Request>(&with(MAX_SOURCES + 1)[4..]).is_err());
    }

    #[test]
    fn a_frame_longer_than_the_bound_is_not_read() {
        let mut long = (MAX_MESSAGE as u32 + 1).to_be_bytes().to_vec();
        long.resize(MAX_MESSAGE + 5, 0);
        let error = read::<Answer>(&mut &long[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
