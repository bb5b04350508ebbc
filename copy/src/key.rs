//! How a server and its clients know each other: the server's certificate and a shared secret.
//!
//! A [`Key`] is the clients' half: the fingerprint of the certificate, and the secret. [`Credentials`] are the server's
//! half: the certificate with its private key, and the secret.

use crate::error::Error;
use ring::rand::{SecureRandom, SystemRandom};
use std::error;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;
use wire::{Fingerprint, Identity};

/// The longest file with credentials, in bytes.
const MAX_CREDENTIALS: u64 = 64 << 10;

/// What a client must know of a server. It is written `FINGERPRINT-SECRET`, 64 and 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The fingerprint of the server's certificate.
    pub server: Fingerprint,
    secret: [u8; 16],
}

impl Key {
    /// The proof for the other end of a TLS session that this end knows the secret. `exported` is keying material of
    /// the session (RFC 8446, section 7.5), so that the proof is of no use in another session; the secret itself is not
    /// sent.
    pub fn proof(&self, exported: &[u8; 32]) -> blake3::Hash {
        let key = blake3::derive_key("thalweg 2026 cp: a client knows the server's secret", &self.secret);
        blake3::keyed_hash(&key, exported)
    }
}

/// A server's certificate with its private key, and the secret that its clients must know.
pub struct Credentials {
    pub(crate) identity: Identity,
    secret: [u8; 16],
}

impl Credentials {
    /// Generates new credentials. Fails if the system returns no random numbers.
    pub fn generate() -> Result<Credentials, Error> {
        let mut secret = [0; 16];
        SystemRandom::new().fill(&mut secret).map_err(|_| Error::NoRandomness)?;
        Ok(Credentials { identity: Identity::new().map_err(Error::tls)?, secret })
    }

    /// The key for the clients of this server.
    pub fn key(&self) -> Key {
        Key { server: self.identity.fingerprint(), secret: self.secret }
    }

    /// The key of the server's stateless resets (RFC 9000, section 10.3). A restarted server with the same credentials
    /// has the same one, and can therefore end connections from before the restart.
    pub(crate) fn reset_key(&self) -> [u8; 32] {
        blake3::derive_key("thalweg 2026 cp: stateless resets", &self.identity.to_bytes())
    }

    /// Reads the credentials in `file`. If there is no such file, generates credentials and writes them to it, readable
    /// only by its owner. Fails if the file cannot be read or written, holds something else, or can be read or written
    /// by others.
    pub fn load_or_generate(file: &Path) -> Result<Credentials, Error> {
        let error = |source: io::Error| Error::File { path: file.into(), source };
        match read(file) {
            Ok((bytes, mode)) => {
                let found = Credentials::from_bytes(&bytes).ok_or_else(|| Error::NotCredentials(file.into()))?;
                if mode & 0o077 == 0 { Ok(found) } else { Err(Error::ExposedCredentials(file.into())) }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let credentials = Credentials::generate()?;
                let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
                let bytes = [&credentials.secret[..], &credentials.identity.to_bytes()].concat();
                opened.and_then(|mut opened| opened.write_all(&bytes)).map_err(error)?;
                Ok(credentials)
            }
            Err(e) => Err(error(e)),
        }
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Credentials> {
        let (secret, identity) = bytes.split_first_chunk()?;
        Some(Credentials { identity: Identity::from_bytes(identity)?, secret: *secret })
    }
}

/// The contents of a file that may hold credentials, as far as they can be some, and its permission bits.
fn read(file: &Path) -> io::Result<(Vec<u8>, u32)> {
    let opened = File::open(file)?;
    let mode = opened.metadata()?.mode();
    let mut bytes = Vec::new();
    opened.take(MAX_CREDENTIALS).read_to_end(&mut bytes)?;
    Ok((bytes, mode))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-", self.server)?;
        self.secret.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Leaves the secret out, as debug output ends up in logs.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.server)
    }
}

/// A text is not a [`Key`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKey;

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the key is damaged: a key is 64 hexadecimal digits, a hyphen and 32 more digits; use the whole \
             string that thalweg serve has printed",
        )
    }
}

impl error::Error for InvalidKey {}

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Key, InvalidKey> {
        let (server, secret) = text.split_once('-').ok_or(InvalidKey)?;
        let server = server.parse().map_err(|_| InvalidKey)?;
        if secret.len() != 32 || !secret.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InvalidKey);
        }
        let secret = u128::from_str_radix(secret, 16).map_err(|_| InvalidKey)?.to_be_bytes();
        Ok(Key { server, secret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_a_file_are_the_same_after_a_restart() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("key");
        let key = Credentials::load_or_generate(&file).unwrap().key();
        assert_eq!(Credentials::load_or_generate(&file).unwrap().key(), key);
    }

    #[test]
    fn credentials_that_others_can_read_are_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("key");
        Credentials::load_or_generate(&file).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(Credentials::load_or_generate(&file), Err(Error::ExposedCredentials(_))), "{mode:o}");
        }
    }

    #[test]
    fn a_file_that_holds_no_credentials_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("key");
        for wrong in [&b""[..], b"x", &[7; 500]] {
            std::fs::write(&file, wrong).unwrap();
            assert!(matches!(Credentials::load_or_generate(&file), Err(Error::NotCredentials(_))));
        }
    }

    #[test]
    fn debug_output_does_not_contain_the_secret() {
        let key = Credentials::generate().unwrap().key();
        assert!(!format!("{key:?}").contains(&key.to_string()[70..]));
    }
}
