//! What lets a server that was restarted end the connections of its predecessor: stateless resets (RFC 9000, section 10.3), whose tokens
//! and the connection IDs that they are made from follow from a secret that both know.

use quinn::EndpointConfig;
use quinn_proto::HashedConnectionIdGenerator;
use quinn_proto::crypto::{CryptoError, HmacKey};
use std::sync::Arc;

/// What an endpoint is configured with that has this secret.
pub(crate) fn config(secret: &[u8; 32]) -> EndpointConfig {
    let resets = ResetKey(blake3::derive_key("thalweg 2026 wire: stateless resets", secret));
    let mut config = EndpointConfig::new(Arc::new(resets));
    // Only tells our connection IDs from noise.
    let known = blake3::derive_key("thalweg 2026 wire: connection IDs of a lasting server", secret);
    let [a, b, c, d, e, f, g, h, ..] = known;
    let known = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    config.cid_generator(move || Box::new(HashedConnectionIdGenerator::from_key(known)));
    config
}

/// Keyed BLAKE3 in HMAC's place.
struct ResetKey([u8; 32]);

impl HmacKey for ResetKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        signature.copy_from_slice(blake3::keyed_hash(&self.0, data).as_bytes());
    }

    fn signature_len(&self) -> usize {
        blake3::OUT_LEN
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        // Compared in constant time by the library.
        let same = blake3::Hash::from_slice(signature).is_ok_and(|hash| hash == blake3::keyed_hash(&self.0, data));
        if same { Ok(()) } else { Err(CryptoError) }
    }
}
