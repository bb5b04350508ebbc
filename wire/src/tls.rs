//! TLS configurations for peers that know each other by their certificates' fingerprints.

use crate::error::IdentityError;
use crate::identity::{Fingerprint, Identity};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use std::sync::Arc;

/// TLS for a client that trusts the holder of one certificate, and shows its own identity if it is given. `protocol` is
/// the application's protocol (ALPN).
pub fn client_tls(server: Fingerprint, client: Option<&Identity>, protocol: &[u8]) -> rustls::ClientConfig {
    let builder = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3")
        .dangerous() // there are no authorities: the fingerprint and the signature are checked instead
        .with_custom_certificate_verifier(Arc::new(PinnedVerifier::new(server)));
    let shown = client.map(|own| (vec![own.certificate.clone()], own.key.clone_key()));
    let mut tls = match shown {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).expect("a key that rcgen made for ring"),
        None => builder.with_no_client_auth(),
    };
    tls.alpn_protocols = vec![protocol.to_vec()];
    tls
}

/// TLS for a server with a certificate of its own. If `client` is given, only the holder of that certificate may
/// connect. `protocol` is the application's protocol (ALPN). Fails if the certificate cannot be used.
pub fn server_tls(
    identity: Identity,
    client: Option<Fingerprint>,
    protocol: &[u8],
) -> Result<rustls::ServerConfig, IdentityError> {
    let builder = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("ring has TLS 1.3");
    let builder = match client {
        Some(client) => builder.with_client_cert_verifier(Arc::new(PinnedVerifier::new(client))),
        None => builder.with_no_client_auth(),
    };
    let mut tls =
        builder.with_single_cert(vec![identity.certificate], identity.key).map_err(IdentityError::Unusable)?;
    tls.alpn_protocols = vec![protocol.to_vec()];
    Ok(tls)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Trusts one certificate, and whoever proves to hold its key.
#[derive(Debug)]
struct PinnedVerifier {
    fingerprint: Fingerprint,
    algorithms: WebPkiSupportedAlgorithms,
}

impl PinnedVerifier {
    fn new(fingerprint: Fingerprint) -> PinnedVerifier {
        PinnedVerifier { fingerprint, algorithms: provider().signature_verification_algorithms }
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        if Fingerprint::of(certificate) == self.fingerprint {
            Ok(())
        } else {
            Err(Error::General("the peer's certificate has another fingerprint".into()))
        }
    }
}

impl ServerCertVerifier for PinnedVerifier {
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

impl ClientCertVerifier for PinnedVerifier {
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
