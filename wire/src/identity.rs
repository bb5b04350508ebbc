//! Identities without authorities: a certificate that its holder signs, and that peers know by its fingerprint.

use crate::error::{FingerprintError, IdentityError};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::str::FromStr;

/// The name in every certificate. Nothing depends on it.
pub(crate) const NAME: &str = "thalweg";

/// A private key and its certificate.
pub struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A new identity. Fails if the system has no randomness.
    pub fn new() -> Result<Identity, IdentityError> {
        let made = rcgen::generate_simple_self_signed([NAME.to_string()]).map_err(IdentityError::Certificate)?;
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).map_err(IdentityError::Key)?;
        Ok(Identity { certificate: made.cert.der().clone(), key })
    }

    /// The identity as bytes, which must be kept secret: the length of the certificate, the certificate and the key
    /// (DER).
    pub fn to_bytes(&self) -> Vec<u8> {
        let length = (self.certificate.len() as u32).to_be_bytes();
        [&length[..], &self.certificate, self.key.secret_der()].concat()
    }

    /// The identity that these bytes are, if they are one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Identity> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (certificate, key) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let key = PrivateKeyDer::try_from(key.to_vec()).ok()?;
        // Only a key that the library can load is one.
        ring::default_provider().key_provider.load_private_key(key.clone_key()).ok()?;
        Some(Identity { certificate: certificate.to_vec().into(), key })
    }

    /// What a peer must know to trust the holder of this identity.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }
}

/// BLAKE3 of a certificate. Printed and read as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of a certificate.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Fingerprint {
        Fingerprint(*blake3::hash(certificate).as_bytes())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Fingerprint, FingerprintError> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| FingerprintError(text.into()))?;
        Ok(Fingerprint(*hash.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_read_as_it_is_printed_and_differs_between_identities() {
        let (mine, other) = (Identity::new().unwrap().fingerprint(), Identity::new().unwrap().fingerprint());
        assert_eq!(mine.to_string().parse(), Ok(mine));
        assert_ne!(mine, other);
        assert!("0123".parse::<Fingerprint>().is_err());
    }
}
