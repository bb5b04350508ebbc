//! Looks at the acknowledgments of a connection whose packets are ECN-capable. quinn reads how many packets the peer
//! has received with each ECN field, but does not tell its congestion controller, and checks the counts for ECT(0)
//! alone. So the key that decrypts the peer's packets is wrapped here, and each packet's contents are looked at before
//! quinn reads them. What is authentic for quinn is authentic here.

use crate::ack_frame::{self, AckFrame};
use bytes::BytesMut;
use quinn_proto::crypto::{
    ClientConfig, CryptoError, ExportKeyingMaterialError, KeyPair, Keys, PacketKey, ServerConfig, Session,
    UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// The first byte of a packet with a long header has this bit (RFC 9000, section 17.2). These packets belong to the
/// handshake, and have packet numbers and counts of their own.
const LONG_HEADER: u8 = 0x80;

/// What the last acknowledgments of a connection said.
#[derive(Debug, Default)]
pub(crate) struct AckWatch(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// The largest packet number that was acknowledged.
    largest: Option<u64>,
    /// The acknowledgment that quinn reads next, or has read.
    last: Option<AckFrame>,
}

impl AckWatch {
    /// A packet is decrypted.
    fn on_packet(&self, header: &[u8], frames: &[u8]) {
        if header.first().is_some_and(|first| first & LONG_HEADER == 0) {
            let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            seen.last = ack_frame::read(frames);
        }
    }

    /// The acknowledgment that quinn has just read, once, if it raises the largest packet number acknowledged.
    pub(crate) fn take(&self) -> Option<AckFrame> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ack = seen.last.take().filter(|ack| seen.largest.is_none_or(|largest| ack.largest > largest))?;
        seen.largest = Some(ack.largest);
        Some(ack)
    }
}

/// A configuration, session or key of quinn's, which works as before and shows what it decrypts.
pub(crate) struct Watched<T> {
    pub(crate) inner: T,
    pub(crate) watch: Arc<AckWatch>,
}

impl<T> Watched<T> {
    fn wrap<U>(&self, inner: U) -> Watched<U> {
        Watched { inner, watch: self.watch.clone() }
    }

    fn remote(&self, keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair { local: keys.local, remote: Box::new(self.wrap(keys.remote)) }
    }
}

impl<T: ClientConfig + 'static> ClientConfig for Watched<Arc<T>> {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let session = self.inner.clone().start_session(version, server_name, params)?;
        Ok(Box::new(self.wrap(session)))
    }
}

impl ServerConfig for Watched<Arc<dyn ServerConfig>> {
    fn initial_keys(&self, version: u32, dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.inner.initial_keys(version, dst_cid)
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(self: Arc<Self>, version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(self.wrap(self.inner.clone().start_session(version, params)))
    }
}

impl Session for Watched<Box<dyn Session>> {
    fn initial_keys(&self, dst_cid: &ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(dst_cid, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn quinn_proto::crypto::HeaderKey>, Box<dyn PacketKey>)> {
        self.inner.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let Keys { header, packet } = self.inner.write_handshake(buf)?;
        Some(Keys { header, packet: self.remote(packet) })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.inner.next_1rtt_keys()?;
        Some(self.remote(keys))
    }

    fn is_valid_retry(&self, orig_dst_cid: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(orig_dst_cid, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

impl PacketKey for Watched<Box<dyn PacketKey>> {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        self.inner.encrypt(packet, buf, header_len);
    }

    fn decrypt(&self, packet: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        self.inner.decrypt(packet, header, payload)?;
        self.watch.on_packet(header, payload);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.inner.integrity_limit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_acknowledgment_is_taken_once_and_none_that_came_out_of_order() {
        let watch = AckWatch::default();
        let ack = |largest, ce| [0x03, largest, 0, 0, 0, 9, 0, ce];
        let taken = |largest, ce| Some(AckFrame { largest, counts: Some([9, 0, ce]) });
        assert_eq!(watch.take(), None);
        watch.on_packet(&[0x40], &ack(5, 1));
        assert_eq!([watch.take(), watch.take()], [taken(5, 1), None]);
        watch.on_packet(&[0x40], &ack(4, 0));
        assert_eq!(watch.take(), None, "out of order");
        watch.on_packet(&[0xc0], &ack(9, 7));
        assert_eq!(watch.take(), None, "of the handshake");
        watch.on_packet(&[0x40], &ack(6, 1));
        watch.on_packet(&[0x40], &[0x08]);
        assert_eq!(watch.take(), None, "quinn has read a packet without an acknowledgment since");
        watch.on_packet(&[0x40], &ack(7, 2));
        assert_eq!(watch.take(), taken(7, 2));
    }
}
