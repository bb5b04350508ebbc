//! quinn's transport settings, and the names of application protocols.

use crate::adaptor::Adaptor;
use crate::datagram::PACKET;
use crate::sending::SendingFlow;
use quinn::{AckFrequencyConfig, MtuDiscoveryConfig, TransportConfig, VarInt};
use std::sync::Arc;
use std::time::Duration;

/// Flow control windows, in bytes: enough for 1 Gbps over half a second.
const WINDOW: u32 = 64 << 20;

/// The round-trip time that quinn assumes before the first sample. A handshake is repeated after 0.3, 0.9, 2.1, 4.5 and
/// 9.3 s; with the 333 ms of RFC 9002 (section 6.2.2), many took over 8 s where a fifth of all packets is lost each
/// way.
const FIRST_RTT: Duration = Duration::from_millis(100);

/// The longest time that a peer is asked to hold an acknowledgment back. QUIC's timers go no lower.
const ACK_DELAY: Duration = Duration::from_millis(1);

/// The longest time between packets of an end that waits and has an idle timeout: a peer that was restarted answers
/// them with a reset.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// The largest UDP payload that is accepted, and sent where jumbo frames are asked for, in bytes: what a frame of 9000
/// bytes carries with IPv6.
pub(crate) const JUMBO: u16 = 9000 - 40 - 8;
/// The largest QUIC packet that is sent otherwise, in bytes: what the 1500 bytes that almost every path carries hold,
/// with IPv6. Where packets may carry stamps, probes of path MTU discovery have a header, too, so that what they find
/// leaves room for one ([`SendingFlow::leave_room`]).
pub(crate) const ORDINARY: u16 = 1500 - 40 - 8;

/// How exact path MTU discovery is, in bytes. With the 20 of quinn, it would find 1389 where there is room for 1416.
const EXACTNESS: u16 = 8;

/// The suffix of an application protocol's name (ALPN) whose ends may negotiate stamps.
const STAMPS: &[u8] = b"+stamps3";

/// How large an endpoint's packets may become.
#[derive(Clone, Copy)]
pub(crate) enum PacketSizes {
    /// All full packets have the same size.
    Constant,
    /// Path MTU discovery finds what fits into ordinary frames.
    Ordinary,
    /// Path MTU discovery finds what fits into jumbo frames, too.
    Jumbo,
}

impl PacketSizes {
    /// The largest packet that path MTU discovery looks for, in bytes; none if it does not look.
    pub(crate) fn largest(self) -> Option<u16> {
        match self {
            PacketSizes::Constant => None,
            PacketSizes::Ordinary => Some(ORDINARY),
            PacketSizes::Jumbo => Some(JUMBO),
        }
    }
}

/// The transport settings of an endpoint unless [`Builder::transport`](crate::Builder::transport) gives others:
/// acknowledgments are prompt, because delays are measured (draft-ietf-quic-ack-frequency), flow control windows hold
/// 64 MiB, and the first round-trip time is taken for 100 ms.
pub fn default_transport() -> TransportConfig {
    let mut prompt = AckFrequencyConfig::default();
    prompt.ack_eliciting_threshold(VarInt::from_u32(1)).max_ack_delay(Some(ACK_DELAY));
    let mut config = TransportConfig::default();
    config
        .ack_frequency_config(Some(prompt))
        .initial_rtt(FIRST_RTT)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW));
    config
}

/// The settings of one connection: those of the caller, and what its flow needs. Path MTU discovery finds packets of up
/// to `largest` bytes; none: all full packets have the same size.
pub(crate) fn of_connection(
    mut config: TransportConfig,
    flow: &Arc<SendingFlow>,
    idle_timeout: Option<Duration>,
    largest: Option<u16>,
) -> Arc<TransportConfig> {
    let discovery = largest.map(|largest| {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(largest).minimum_change(EXACTNESS);
        discovery
    });
    config
        .congestion_controller_factory(Arc::new(Adaptor(flow.clone())))
        .initial_mtu(PACKET as u16)
        .mtu_discovery_config(discovery);
    if let Some(timeout) = idle_timeout {
        config.max_idle_timeout(timeout.try_into().ok()).keep_alive_interval(Some(KEEP_ALIVE.min(timeout / 4)));
    }
    Arc::new(config)
}

/// Each protocol's name with the suffix for stamps, and then without.
pub(crate) fn with_stamps(protocols: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let stamped = protocols.iter().map(|name| [name, STAMPS].concat());
    stamped.chain(protocols.iter().cloned()).collect()
}

/// Whether both ends of a connection with this protocol may negotiate stamps.
pub(crate) fn knows_stamps(protocol: &[u8]) -> bool {
    protocol.ends_with(STAMPS)
}
