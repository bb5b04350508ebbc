//! Stateless resets (RFC 9000, section 10.3) that a server can still send after a restart. Their tokens, and the
//! connection IDs that tokens are made from, follow from a secret that outlives the process.

use quinn::EndpointConfig;
use quinn_proto::HashedConnectionIdGenerator;
use quinn_proto::crypto::{CryptoError, HmacKey};
use std::sync::Arc;

/// The configuration of an endpoint with this secret.
pub(crate) fn config(secret: &[u8; 32]) -> EndpointConfig {
    let resets = ResetKey(blake3::derive_key("thalweg 2026 wire: stateless resets", secret));
    let mut config = EndpointConfig::new(Arc::new(resets));
    // This key only tells the endpoint's own connection IDs from noise.
    let known = blake3::derive_key("thalweg 2026 wire: connection IDs of a lasting server", secret);
    let [a, b, c, d, e, f, g, h, ..] = known;
    let known = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    config.cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(known)));
    config
}

/// Keyed BLAKE3 in the place of HMAC.
struct ResetKey([u8; 32]);

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        signature.copy_from_slice(blake3::keyed_hash(&self.0, data).as_bytes());
    }

    fn signature_len(&self) -> usize {
        blake3::OUT_LEN
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        // The library compares in constant time.
        let same = blake3::Hash::from_slice(signature).is_ok_and(|hash| hash == blake3::keyed_hash(&self.0, data));
        if same { Ok(()) } else { Err(CryptoError) }
    }
}
