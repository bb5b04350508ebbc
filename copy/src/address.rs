//! The connection string that `thalweg serve` prints: `thalweg://FINGERPRINT-SECRET@HOST:PORT/PATH`.
//!
//! The key comes first so that users can append a path to the printed string, and no character of the string has a
//! meaning to a shell. The path is taken as it is, without escapes.

use crate::key::{InvalidKey, Key};
use crate::name::printable;
use std::error;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// What every connection string begins with.
const SCHEME: &str = "thalweg://";

/// The parts of a connection string.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// The server's name or IP address, and its UDP port: `example.org:4433`, `[2001:db8::1]:4433`.
    pub host: String,
    /// The key, if the string contains it.
    pub key: Option<Key>,
    /// The path on the server, without the slash in front.
    pub path: Vec<u8>,
}

impl Address {
    /// Parses a connection string; `None` if `argument` does not begin as one. Fails if the key is damaged, or if the
    /// host or the port is missing.
    pub fn parse(argument: &OsStr) -> Option<Result<Address, InvalidAddress>> {
        let rest = argument.as_bytes().strip_prefix(SCHEME.as_bytes())?;
        let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.strip_prefix(b"/").unwrap_or_default().to_vec();
        Some(Address::new(authority, path))
    }

    fn new(authority: &[u8], path: Vec<u8>) -> Result<Address, InvalidAddress> {
        let authority = std::str::from_utf8(authority).map_err(|_| InvalidAddress::NotUtf8)?;
        let (key, host) = match authority.rsplit_once('@') {
            Some((key, host)) => (Some(key.parse().map_err(InvalidAddress::Key)?), host),
            None => (None, authority),
        };
        let port = host.rsplit_once(':').filter(|(name, _)| !name.is_empty()).map(|(_, port)| port.parse::<u16>());
        match port {
            Some(Ok(1..)) => Ok(Address { host: host.into(), key, path }),
            _ => Err(InvalidAddress::Host(host.into())),
        }
    }
}

/// What is wrong with a connection string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidAddress {
    /// The key is damaged.
    Key(InvalidKey),
    /// This is not a host and a port.
    Host(String),
    /// The key or the host is not UTF-8.
    NotUtf8,
}

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = "write thalweg://KEY@HOST:PORT/PATH, as thalweg serve prints it";
        match self {
            InvalidAddress::Key(invalid) => invalid.fmt(f),
            InvalidAddress::Host(host) => write!(f, "`{}` is not a host and a port; {form}", printable(host)),
            InvalidAddress::NotUtf8 => write!(f, "the host is not UTF-8; {form}"),
        }
    }
}

impl error::Error for InvalidAddress {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            InvalidAddress::Key(invalid) => Some(invalid),
            InvalidAddress::Host(_) | InvalidAddress::NotUtf8 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Credentials;

    fn parse(text: &str) -> Option<Result<Address, InvalidAddress>> {
        Address::parse(OsStr::new(text))
    }

    #[test]
    fn a_printed_string_is_parsed_into_its_parts() {
        let key = Credentials::generate().unwrap().key();
        let whole = Address { host: "[::1]:4433".into(), key: Some(key), path: b"a/b @:c".to_vec() };
        assert_eq!(parse(&format!("thalweg://{key}@[::1]:4433/a/b @:c")), Some(Ok(whole)));
        let short = Address { host: "h:1".into(), key: None, path: vec![] };
        assert_eq!(parse("thalweg://h:1"), Some(Ok(short.clone())));
        assert_eq!(parse("thalweg://h:1/"), Some(Ok(short)));
        let bytes = Address::parse(OsStr::from_bytes(b"thalweg://h:1/\xff")).unwrap().unwrap();
        assert_eq!(bytes.path, b"\xff");
        assert_eq!(parse("host:thalweg://"), None);
    }

    #[test]
    fn the_error_says_which_part_is_damaged() {
        for text in ["thalweg://", "thalweg://h", "thalweg://h:0/", "thalweg://:1/", "thalweg://h:99999/x"] {
            assert!(parse(text).unwrap().unwrap_err().to_string().contains("HOST:PORT"), "{text}");
        }
        let key = Credentials::generate().unwrap().key().to_string();
        for key in [&key[1..], &key[..90], "x", &key.replace('-', "")] {
            assert_eq!(parse(&format!("thalweg://{key}@h:1/")), Some(Err(InvalidAddress::Key(InvalidKey))), "{key}");
        }
    }
}
