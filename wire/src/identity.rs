//! TLS identities without authorities: a certificate that its holder signs, and that the peer knows by its fingerprint.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The name that certificates bear; nothing depends on it.
pub(crate) const NAME: &str = "thalweg";

/// A key and its certificate.
pub struct Identity {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// A new one. Fails if the system has no randomness.
    pub fn new() -> Result<Identity, String> {
        let made =
            rcgen::generate_simple_self_signed([NAME.to_string()]).map_err(|e| format!("no certificate: {e}"))?;
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).map_err(|e| format!("no key: {e}"))?;
        Ok(Identity { certificate: made.cert.der().clone(), key })
    }

    /// As bytes, to be kept secret: the length of the certificate, the certificate and the key (DER).
    pub fn to_bytes(&self) -> Vec<u8> {
        let length = (self.certificate.len() as u32).to_be_bytes();
        [&length[..], &self.certificate, self.key.secret_der()].concat()
    }

    /// The identity that these bytes are, if they are one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Identity> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (certificate, key) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let key = PrivateKeyDer::try_from(key.to_vec()).ok()?;
        // The library says whether it can be used.
        ring::default_provider().key_provider.load_private_key(key.clone_key()).ok()?;
        Some(Identity { certificate: certificate.to_vec().into(), key })
    }

    /// What the peer must know to trust it.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }
}

/// BLAKE3 of a certificate. Printed and read as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    fn of(certificate: &CertificateDer<'_>) -> Fingerprint {
        Fingerprint(*blake3::hash(certificate).as_bytes())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = String;

    fn from_str(text: &str) -> Result<Fingerprint, String> {
        let hash =
            blake3::Hash::from_hex(text).map_err(|_| format!("`{text}` is no fingerprint: 64 hexadecimal digits"))?;
        Ok(Fingerprint(*hash.as_bytes()))
    }
}

pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Trusts one certificate, and whoever proves to hold its key.
#[derive(Debug)]
pub(crate) struct Pinned {
    fingerprint: Fingerprint,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    pub(crate) fn new(fingerprint: Fingerprint) -> Pinned {
        Pinned { fingerprint, algorithms: provider().signature_verification_algorithms }
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        if Fingerprint::of(certificate) == self.fingerprint {
            Ok(())
        } else {
            Err(Error::General("the peer's certificate has another fingerprint".into()))
        }
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_reads_as_it_prints_and_is_nobody_elses() {
        let (mine, other) = (Identity::new().unwrap().fingerprint(), Identity::new().unwrap().fingerprint());
        assert_eq!(mine.to_string().parse(), Ok(mine));
        assert_ne!(mine, other);
        assert!("0123".parse::<Fingerprint>().is_err());
    }
}
