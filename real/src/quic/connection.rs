//! A connection of either implementation of QUIC, and quinn's configuration.

use super::not_ect::NotEct;
use super::stack::ANY;
use crate::flow_log::SenderSample;
use control::{Phase, State, Time};
use quinn::{EndpointConfig, Runtime, TokioRuntime, TransportConfig, VarInt};
use realtime::from_std;
use std::io;
use std::net::UdpSocket;
use std::ops::Deref;
use std::sync::Arc;
use wire::{EcnState, PACKET};

/// Flow control of a stream and of a connection, in bytes: `wire` has the same, and no path that can be emulated needs
/// more.
const WINDOW: u32 = 64 << 20;
/// The room that a socket asks the kernel for, in bytes: as much as `wire`'s sockets ask for.
const SOCKET_BUFFER: usize = 4 << 20;

/// One end of a connection.
pub enum Connection {
    /// Of `wire`.
    Wire(wire::Connection),
    /// Of quinn.
    Quinn(quinn::Connection),
}

impl Deref for Connection {
    type Target = quinn::Connection;

    fn deref(&self) -> &quinn::Connection {
        match self {
            Connection::Wire(connection) => connection,
            Connection::Quinn(connection) => connection,
        }
    }
}

impl Connection {
    /// What is known of ECN on the path, as qlog calls it; none if packets are not to be ECN-capable, and of quinn's
    /// connections, which do not tell it.
    pub fn ecn(&self) -> Option<&'static str> {
        match self {
            Connection::Quinn(_) => None,
            Connection::Wire(connection) => match connection.ecn() {
                EcnState::Off => None,
                EcnState::Testing => Some("testing"),
                EcnState::Unknown => Some("unknown"),
                EcnState::Capable => Some("capable"),
                EcnState::Failed => Some("failed"),
            },
        }
    }

    /// What the sender does at the time `at`. quinn does not tell its sending rate or its phase.
    pub fn sample(&self, at: Time) -> SenderSample {
        let path = self.stats().path;
        let sample = SenderSample {
            at,
            window: Some(path.cwnd as f64 / PACKET as f64),
            rate: None,
            rtt: Some(from_std(path.rtt)),
            phase: Phase::CongestionAvoidance,
            resent: path.lost_packets,
            loss_events: path.congestion_events,
        };
        match self {
            Connection::Quinn(_) => sample,
            Connection::Wire(connection) => {
                let State { window, rate, phase } = connection.state();
                SenderSample { window, rate, phase, rtt: connection.rtt(), ..sample }
            }
        }
    }
}

/// An endpoint of quinn on loopback, whose packets are ECN-capable or not.
pub fn quinn_endpoint(server: Option<quinn::ServerConfig>, ecn: bool) -> io::Result<quinn::Endpoint> {
    let socket = UdpSocket::bind(ANY)?;
    let options = socket2::SockRef::from(&socket);
    // A kernel that grants less is no reason not to run.
    let _ = options.set_recv_buffer_size(SOCKET_BUFFER).and_then(|()| options.set_send_buffer_size(SOCKET_BUFFER));
    let socket = TokioRuntime.wrap_udp_socket(socket)?;
    let socket = if ecn { socket } else { Arc::new(NotEct(socket)) };
    quinn::Endpoint::new_with_abstract_socket(EndpointConfig::default(), server, socket, Arc::new(TokioRuntime))
}

/// quinn's defaults, but with packets of one size, as `wire` has them, and with flow control that limits no flow.
pub fn quinn_transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .initial_mtu(PACKET as u16)
        .mtu_discovery_config(None)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW));
    config
}
