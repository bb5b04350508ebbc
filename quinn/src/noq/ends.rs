//! Two ends of a connection of noq in this process, whose estimator of the round-trip time controllers are shown.

use super::keys::Plain;
use crate::simulated::round_trip::Connected;
use bytes::BytesMut;
use noq_proto::congestion::{Controller, ControllerFactory};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, FourTuple, PathId,
    RttEstimator, ServerConfig, TransportConfig,
};
use std::any::Any;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Where both ends believe the other is; nothing is sent there.
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 1);

struct End {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
}

impl End {
    /// Sends what is to be sent to `other`, where it arrives at `arrival`. Returns whether there was anything.
    fn send(&mut self, other: &mut End, now: Instant, arrival: Instant, buffer: &mut Vec<u8>) -> bool {
        let mut any = false;
        loop {
            buffer.clear();
            let Some(transmit) = self.connection.poll_transmit(now, NonZeroUsize::MIN, buffer) else { return any };
            any = true;
            let datagram = BytesMut::from(&buffer[..transmit.size]);
            buffer.clear();
            let event = other.endpoint.handle(arrival, FourTuple::from_remote(NOWHERE), None, datagram, buffer);
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                other.connection.handle_event(event);
            }
            other.pass_on_events();
        }
    }

    /// The connection's news for its endpoint, such as the connection's identifiers, and the answers.
    fn pass_on_events(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(answer);
            }
        }
        while self.connection.poll().is_some() {}
    }
}

/// See the [module](self).
pub(super) struct Ends {
    client: End,
    server: End,
    /// The time on the clock of these ends.
    now: Instant,
    /// What the client's controller was shown last.
    shown: Shown,
    buffer: Vec<u8>,
}

impl Connected for Ends {
    type Estimator = RttEstimator;

    fn connect(mut now: Instant, rtt: Duration) -> Ends {
        let shown = Shown::default();
        let mut transport = TransportConfig::default();
        transport
            .max_idle_timeout(None)
            .mtu_discovery_config(None)
            .initial_rtt(rtt)
            .congestion_controller_factory(Arc::new(shown.clone()));
        let transport = Arc::new(transport);
        let mut config = EndpointConfig::new(Arc::new(Plain));
        config.rng_seed(Some([0; 32]));
        let config = Arc::new(config);
        let mut server_config = ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
        server_config.transport_config(transport.clone());
        let mut client_config = ClientConfig::new(Arc::new(Plain));
        client_config.transport_config(transport);

        let mut endpoint = Endpoint::new(config.clone(), None, false);
        let connected = endpoint.connect(now, client_config, NOWHERE, "nowhere");
        let (handle, connection) = connected.expect("the address and the version are valid");
        let mut client = End { endpoint, handle, connection };

        let mut endpoint = Endpoint::new(config, Some(Arc::new(server_config)), false);
        let mut buffer = Vec::new();
        let transmit =
            client.connection.poll_transmit(now, NonZeroUsize::MIN, &mut buffer).expect("a client speaks first");
        let datagram = BytesMut::from(&buffer[..transmit.size]);
        buffer.clear();
        let event = endpoint.handle(now, FourTuple::from_remote(NOWHERE), None, datagram, &mut buffer);
        let Some(DatagramEvent::NewConnection(incoming)) = event else { unreachable!("a client's hello came") };
        let accepted = endpoint.accept(incoming, now, &mut buffer, None);
        let (handle, connection) = accepted.unwrap_or_else(|e| unreachable!("the hello is valid: {:?}", e.cause));
        let mut server = End { endpoint, handle, connection };
        loop {
            now += rtt;
            let answered = server.send(&mut client, now - rtt, now, &mut buffer);
            let asked = client.send(&mut server, now, now, &mut buffer);
            if !answered && !asked {
                break;
            }
        }
        debug_assert!(!client.connection.is_handshaking() && !server.connection.is_handshaking());
        Ends { client, server, now, shown, buffer }
    }

    fn exchange(&mut self, rtt: Duration) {
        // A receiver acknowledges every second packet at once.
        for _ in 0..2 {
            self.client.connection.ping();
            self.client.send(&mut self.server, self.now, self.now, &mut self.buffer);
        }
        let sent = self.now;
        self.now += rtt;
        self.server.send(&mut self.client, sent, self.now, &mut self.buffer);
    }

    fn smoothed(&self) -> Duration {
        self.client.connection.rtt(PathId::ZERO).unwrap_or_default()
    }

    fn shown(&self) -> Option<RttEstimator> {
        self.shown.get()
    }

    fn min_of(estimator: &RttEstimator) -> Duration {
        estimator.min()
    }

    fn smoothed_of(estimator: &RttEstimator) -> Duration {
        estimator.get()
    }
}

/// A controller that allows everything, and keeps the estimator that it was shown last.
#[derive(Clone, Debug, Default)]
struct Shown(Arc<Mutex<Option<RttEstimator>>>);

impl Shown {
    fn get(&self) -> Option<RttEstimator> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControllerFactory for Shown {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        self.clone_box()
    }
}

impl Controller for Shown {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*rtt);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: bool, _: u64, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        // noq does not pace above 2^32 bytes.
        1 << 40
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
