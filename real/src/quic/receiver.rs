//! The receiving side: accepts a connection for each flow and notes what arrives.

use super::connection::{Connection, quinn_endpoint, quinn_transport};
use super::stack::{ANY, PROTOCOL, Stack, runtime};
use crate::error::Cause;
use crate::flow_log::Deliveries;
use crate::testbed::EndOfRun;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::rustls::KeyLog;
use serde_json::Map;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Instant;
use tokio::task::JoinSet;
use wire::{Choice, Identity, server_tls};

/// The controller of a receiver, which sends nothing but acknowledgments: any does.
const CONTROLLER: &str = "cubic";

/// The endpoint that accepts the connections of all flows.
enum Listener {
    Wire(Box<wire::Endpoint>),
    Quinn(quinn::Endpoint),
}

impl Listener {
    fn new(stack: Stack, identity: Identity, secrets: Option<Arc<dyn KeyLog>>) -> Result<Listener, Cause> {
        let mut tls = server_tls(identity, None, PROTOCOL)?;
        if let Some(secrets) = secrets {
            tls.key_log = secrets;
        }
        match stack {
            Stack::Wire => {
                let choice = Choice::new(CONTROLLER, &Map::new())?;
                Ok(Listener::Wire(Box::new(wire::Endpoint::builder(choice).constant_size().accept(tls).bind(ANY)?)))
            }
            Stack::Quinn(_) => {
                let crypto = QuicServerConfig::try_from(tls)?;
                let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
                config.transport_config(Arc::new(quinn_transport()));
                Ok(Listener::Quinn(quinn_endpoint(Some(config), false)?))
            }
        }
    }

    fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Listener::Wire(endpoint) => endpoint.quinn().local_addr(),
            Listener::Quinn(endpoint) => endpoint.local_addr(),
        }
    }

    /// Accepts the next connection, and spawns into `tasks` what reads from it.
    async fn accept(&self, end: &EndOfRun, tasks: &mut JoinSet<Option<(usize, Deliveries)>>) {
        let over = end.clone();
        match self {
            Listener::Wire(endpoint) => {
                let Some(incoming) = endpoint.accept().await else { return end.wait().await };
                tasks.spawn(async move { read(Connection::Wire(incoming.finish().await.ok()?), over).await });
            }
            Listener::Quinn(endpoint) => {
                let Some(incoming) = endpoint.accept().await else { return end.wait().await };
                tasks.spawn(async move { read(Connection::Quinn(incoming.await.ok()?), over).await });
            }
        }
    }
}

/// Receives as many flows as `count` says until the end of the run. Tells first at which address. The secrets of the
/// TLS sessions go to `secrets`, if there is such a thing.
pub fn receive(
    stack: Stack,
    identity: Identity,
    secrets: Option<Arc<dyn KeyLog>>,
    tell: mpsc::Sender<SocketAddr>,
    end: &EndOfRun,
    count: usize,
) -> Result<Vec<Deliveries>, Cause> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let listener = Listener::new(stack, identity, secrets)?;
        let _ = tell.send(listener.address()?);
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                () = end.wait() => break,
                () = listener.accept(end, &mut tasks) => {}
            }
        }
        let mut all = vec![Deliveries::default(); count];
        while let Some(done) = tasks.join_next().await {
            if let Some((flow, deliveries)) = done?
                && let Some(place) = all.get_mut(flow)
            {
                *place = deliveries;
            }
        }
        Ok(all)
    })
}

/// Reads from the only stream of a connection until the end of the run, and returns the flow's number, with which the
/// stream begins. Bytes count as soon as they arrive, in any order, as they do in the simulator.
async fn read(connection: Connection, end: EndOfRun) -> Option<(usize, Deliveries)> {
    let (mut number, mut deliveries) = (None, Deliveries::default());
    let reading = async {
        let mut stream = connection.accept_uni().await.ok()?;
        let mut bytes = [0; 2];
        stream.read_exact(&mut bytes).await.ok()?;
        number = Some(u16::from_be_bytes(bytes).into());
        while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, false).await {
            deliveries.add(Instant::now(), chunk.bytes.len() as u64);
        }
        // The sender closes the connection when all data are acknowledged.
        Some(connection.closed().await)
    };
    tokio::select! {
        _ = reading => {}
        () = end.wait() => {}
    }
    Some((number?, deliveries))
}
