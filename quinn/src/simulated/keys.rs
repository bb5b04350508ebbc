//! A handshake and packet protection that protect nothing, for two ends in one process whose packets no one else sees.
//! The ends exchange what quinn cannot do without: their transport parameters.

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair,
    Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::Arc;

/// See the [module](self).
#[derive(Clone, Copy)]
pub(super) struct Plain;

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Plain), remote: Box::new(Plain) },
        packet: KeyPair { local: Box::new(Plain), remote: Box::new(Plain) },
    }
}

/// One side of the handshake. The client writes its parameters; the server answers with a byte and, under the next
/// keys, with its own parameters; the client confirms with a byte.
struct Handshake {
    side: Side,
    /// The own parameters, as they are sent.
    own: Vec<u8>,
    peers: Option<TransportParameters>,
    /// How many messages of the peer have been read, of two.
    read: u8,
    /// How many of the steps of [`Session::write_handshake`] have been made.
    steps: u8,
}

impl Handshake {
    fn start(side: Side, params: &TransportParameters) -> Box<Handshake> {
        let mut own = Vec::new();
        params.write(&mut own);
        Box::new(Handshake { side, own, peers: None, read: 0, steps: 0 })
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.read < 2
    }

    fn read_handshake(&mut self, mut buf: &[u8]) -> Result<bool, TransportError> {
        self.read += 1;
        let has_parameters = self.read == if self.side.is_server() { 1 } else { 2 };
        if has_parameters {
            self.peers = Some(TransportParameters::read(self.side, &mut buf)?);
        }
        Ok(has_parameters)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peers)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        // What must have been read before the step, what it writes, and whether the next keys follow.
        let (read, message, has_keys): (u8, &[u8], bool) = match (self.side, self.steps) {
            (Side::Client, 0) => (0, &self.own, false),
            (Side::Client, 1) => (1, &[], true),
            (Side::Client, 2) => (2, &[0], true),
            (Side::Server, 0) => (1, &[0], true),
            (Side::Server, 1) => (1, &self.own, true),
            _ => return None,
        };
        if self.read < read {
            return None;
        }
        buf.extend_from_slice(message);
        self.steps += 1;
        has_keys.then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(&self, _: &mut [u8], _: &[u8], _: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Handshake::start(Side::Client, params))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Handshake::start(Side::Server, params)
    }
}

impl PacketKey for Plain {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], _: &mut BytesMut) -> Result<(), CryptoError> {
        Ok(())
    }

    fn tag_len(&self) -> usize {
        0
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        0
    }
}

impl HmacKey for Plain {
    /// The token of a stateless reset, which must differ from one connection identifier to the next: a packet that ends
    /// with the token of another identifier, as one that issues it may, must not look like a reset.
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        for (out, byte) in signature_out.iter_mut().zip(data.iter().cycle()) {
            *out = byte ^ 0xa5;
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Plain {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Plain)
    }
}

impl AeadKey for Plain {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
