//! The connection string that `thalweg serve` prints: where the server is, by which certificate it is known, and a secret that
//! only whoever was given the string knows.
//!
//! `thalweg://FINGERPRINT-SECRET@HOST:PORT/PATH`. The key comes first so that a path can be written behind what was printed, and
//! nothing in it means anything to a shell. The path is taken as it stands, without escapes.

use ring::rand::{SecureRandom, SystemRandom};
use std::ffi::OsStr;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str::FromStr;
use wire::{Fingerprint, Identity};

/// What strings begin with.
const SCHEME: &str = "thalweg://";

/// What a client must know of a server.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Of the server's certificate.
    pub server: Fingerprint,
    secret: [u8; 16],
}

impl Key {
    /// What shows to the other end of a TLS session that this end knows the secret: neither the secret is sent nor anything that
    /// would be of use in another session. `exported` is keying material of the session (RFC 8446, section 7.5).
    pub fn proof(&self, exported: &[u8; 32]) -> blake3::Hash {
        let key = blake3::derive_key("thalweg 2026 cp: a client knows the server's secret", &self.secret);
        blake3::keyed_hash(&key, exported)
    }
}

/// What a server has to be known by: the other half of a [`Key`].
pub struct Pass {
    pub(crate) identity: Identity,
    secret: [u8; 16],
}

impl Pass {
    /// A new one. Fails if the system has no randomness.
    pub fn new() -> Result<Pass, String> {
        let mut secret = [0; 16];
        SystemRandom::new().fill(&mut secret).map_err(|_| "no secret: the system has no randomness")?;
        Ok(Pass { identity: Identity::new().map_err(|e| e.to_string())?, secret })
    }

    /// What clients must know.
    pub fn key(&self) -> Key {
        Key { server: self.identity.fingerprint(), secret: self.secret }
    }

    /// What this server's connections are ended with after a restart, if it is known by the same pass.
    pub(crate) fn resets(&self) -> [u8; 32] {
        blake3::derive_key("thalweg 2026 cp: stateless resets", &self.identity.to_bytes())
    }

    /// The one in this file, which only its owner may read, or a new one that is written there. Fails, with a line, if that
    /// cannot be done.
    pub fn keep(file: &Path) -> Result<Pass, String> {
        let error = |e: &io::Error| format!("{}: {}", crate::shown_path(file), crate::list::reason(e));
        match std::fs::read(file) {
            Ok(bytes) => Pass::read(&bytes).ok_or_else(|| {
                format!("{}: this is no key that thalweg serve has written; name another file", crate::shown_path(file))
            }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let pass = Pass::new()?;
                let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
                let bytes = [&pass.secret[..], &pass.identity.to_bytes()].concat();
                opened.and_then(|mut opened| opened.write_all(&bytes)).map_err(|e| error(&e))?;
                Ok(pass)
            }
            Err(e) => Err(error(&e)),
        }
    }

    fn read(bytes: &[u8]) -> Option<Pass> {
        let (secret, identity) = bytes.split_first_chunk()?;
        Some(Pass { identity: Identity::from_bytes(identity)?, secret: *secret })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-", self.server)?;
        self.secret.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Without the secret: keys end up in messages.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.server)
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Key, String> {
        let error = || "the key is damaged: it is 64 hexadecimal digits, a hyphen and 32 more".to_string();
        let (server, secret) = text.split_once('-').ok_or_else(error)?;
        let server = server.parse().map_err(|_| error())?;
        if secret.len() != 32 || !secret.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(error());
        }
        let secret = u128::from_str_radix(secret, 16).map_err(|_| error())?.to_be_bytes();
        Ok(Key { server, secret })
    }
}

/// A connection string, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// Name or address, and port: `example.org:4433`, `[2001:db8::1]:4433`.
    pub host: String,
    /// The key, if it is there.
    pub key: Option<Key>,
    /// The path, without the slash in front.
    pub path: Vec<u8>,
}

impl Address {
    /// The parts of a connection string; none if `argument` is none. Fails if it is not complete.
    pub fn parse(argument: &OsStr) -> Option<Result<Address, String>> {
        let rest = argument.as_bytes().strip_prefix(SCHEME.as_bytes())?;
        let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.strip_prefix(b"/").unwrap_or_default().to_vec();
        Some(Address::of(authority, path))
    }

    fn of(authority: &[u8], path: Vec<u8>) -> Result<Address, String> {
        let form = "write thalweg://KEY@HOST:PORT/PATH, as thalweg serve prints it";
        let authority = std::str::from_utf8(authority).map_err(|_| format!("the host is not UTF-8; {form}"))?;
        let (key, host) = match authority.rsplit_once('@') {
            Some((key, host)) => (Some(key.parse()?), host),
            None => (None, authority),
        };
        let port = host.rsplit_once(':').filter(|(name, _)| !name.is_empty()).map(|(_, port)| port.parse::<u16>());
        match port {
            Some(Ok(1..)) => Ok(Address { host: host.into(), key, path }),
            _ => Err(format!("`{}` is no host and port; {form}", crate::shown(host))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Result<Address, String>> {
        Address::parse(OsStr::new(text))
    }

    #[test]
    fn a_string_reads_as_it_prints() {
        let key = Pass::new().unwrap().key();
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
    fn a_key_that_is_kept_is_the_same_again() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("key");
        let key = Pass::keep(&file).unwrap().key();
        assert_eq!(Pass::keep(&file).unwrap().key(), key);
        for wrong in [&b""[..], b"x", &[7; 500]] {
            std::fs::write(&file, wrong).unwrap();
            assert!(Pass::keep(&file).err().unwrap().contains("is no key"));
        }
    }

    #[test]
    fn what_is_damaged_is_said() {
        let key = Pass::new().unwrap().key().to_string();
        for text in ["thalweg://", "thalweg://h", "thalweg://h:0/", "thalweg://:1/", "thalweg://h:99999/x"] {
            assert!(parse(text).unwrap().unwrap_err().contains("HOST:PORT"), "{text}");
        }
        for key in [&key[1..], &key[..90], "x", &key.replace('-', "")] {
            assert!(parse(&format!("thalweg://{key}@h:1/")).unwrap().unwrap_err().contains("damaged"), "{key}");
        }
        assert!(!format!("{:?}", key.parse::<Key>().unwrap()).contains(&key[70..]));
    }
}
