//! Flows over QUIC: a sender and a receiver for each of the scenario's, at the two ends of the relay.

use super::contestant::Congestion;
use super::log::{Arrivals, Framing, Log, PAYLOAD, Seen, data};
use super::stage::{Over, Stage};
use crate::emulate::progress::Lines;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use control::{Phase, Time};
use emulate::{Record, relay::Relay};
use quinn::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{EndpointConfig, SendStream, TokioRuntime, TransportConfig, VarInt};
use realtime::{from_std, to_std};
use scenario::reason;
use serde_json::Map;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::Deref;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;
use tokio::task::JoinSet;
use tokio::time::sleep_until;
use wire::{Choice, Fingerprint, Identity, PACKET, client_tls, server_tls};

/// What the ends call their protocol (ALPN).
const PROTOCOL: &[u8] = b"thalweg-real";
const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// What senders hand over at a time.
static CHUNK: [u8; 1 << 16] = [0x55; 1 << 16];
/// What is under way at most, as in `wire`.
const WINDOW: u32 = 64 << 20;

/// Whose QUIC the flows take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// `wire`'s, with the controllers of the scenario.
    Wire,
    /// quinn's alone.
    Quinn(Congestion),
}

/// Carries the flows of `stage`.
pub fn play(
    stage: &Arc<Stage>,
    stack: Stack,
    interrupt: &Interrupt,
    lines: &mut Lines,
) -> Result<(Record, Vec<Log>), Failure> {
    let broken = |what: &str, e: io::Error| Failure::Failed(format!("{what}: {}", reason(&e)));
    let flows = &stage.run.experiment.flows;
    let identity = Identity::new().map_err(Failure::Failed)?;
    let fingerprint = identity.fingerprint();
    let (told, tells) = mpsc::channel();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let done = receive(stack, identity, told, &stage.over, flows.len());
            stage.over.set();
            done
        });
        let Ok(server) = tells.recv() else {
            return match receiver.join() {
                Ok(Err(e)) => Err(broken("the receiver", e)),
                _ => Err(Failure::Failed("the receiver broke off".into())),
            };
        };
        let relay = Relay::new(&vec![ANY; flows.len()], server, 2 * flows.len());
        let relay = relay.and_then(|relay| Ok((relay.addresses()?, relay)));
        let (addresses, mut relay) = relay.map_err(|e| {
            stage.over.set();
            broken("a socket", e)
        })?;
        let emulator = scope.spawn(move || stage.emulate(&mut relay, interrupt, lines));
        let sender = scope.spawn(move || {
            let sent = send(stage, stack, &addresses, fingerprint);
            if sent.is_err() {
                stage.over.set();
            }
            sent
        });
        let gone = || Failure::Failed("a thread broke off".into());
        let record = emulator.join().map_err(|_| gone())??;
        let arrivals = receiver.join().map_err(|_| gone())?.map_err(|e| broken("the receiver", e))?;
        let sent = sender.join().map_err(|_| gone())??;
        let logs = arrivals.into_iter().zip(sent).zip(flows);
        let log = |((arrivals, seen), flow): ((Arrivals, Vec<Seen>), &experiment::Flow)| Log {
            arrivals,
            seen,
            framing: framing(stack, &flow.controller),
        };
        Ok((record, logs.map(log).collect()))
    })
}

/// How the data of a flow with this controller are packed.
fn framing(stack: Stack, controller: &str) -> Framing {
    let header = match stack {
        Stack::Quinn(_) => 0,
        Stack::Wire if control::routers::find(controller).is_some() => wire::header::ROUTED,
        Stack::Wire if Choice::new(controller, &Map::new()).is_ok_and(|choice| choice.needs_stamps()) => {
            wire::header::SIZE
        }
        Stack::Wire => 0,
    };
    Framing { packet: PACKET + header as u64, payload: PAYLOAD }
}

/// One end of a connection, of either kind.
enum End {
    Wire(wire::Connection),
    Quinn(quinn::Connection),
}

impl Deref for End {
    type Target = quinn::Connection;

    fn deref(&self) -> &quinn::Connection {
        match self {
            End::Wire(connection) => connection,
            End::Quinn(connection) => connection,
        }
    }
}

impl End {
    /// What it does at `at`.
    fn look(&self, at: Time) -> Seen {
        let path = self.stats().path;
        let seen = Seen {
            at,
            window: Some(path.cwnd as f64 / PACKET as f64),
            rate: None,
            rtt: Some(from_std(path.rtt)),
            phase: Phase::CongestionAvoidance,
            resent: path.lost_packets,
            loss_events: path.congestion_events,
        };
        match self {
            End::Quinn(_) => seen,
            End::Wire(connection) => {
                let control::State { window, rate, phase } = connection.state();
                Seen { window, rate, phase, rtt: connection.rtt(), ..seen }
            }
        }
    }
}

/// For an end of all flows, on a thread of its own, which goes before all ordinary ones if the system allows it.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    realtime::hurry(1);
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

// The receiving side.

enum Listener {
    Wire(Box<wire::Endpoint>),
    Quinn(quinn::Endpoint),
}

impl Listener {
    fn new(stack: Stack, identity: Identity) -> io::Result<Listener> {
        let tls = server_tls(identity, None, PROTOCOL).map_err(io::Error::other)?;
        match stack {
            Stack::Wire => {
                let choice = Choice::new("cubic", &Map::new()).map_err(io::Error::other)?;
                Ok(Listener::Wire(Box::new(wire::Endpoint::server(ANY, choice, tls)?)))
            }
            Stack::Quinn(_) => {
                let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
                let mut config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
                config.transport_config(Arc::new(transport()));
                endpoint(Some(config)).map(Listener::Quinn)
            }
        }
    }

    fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Listener::Wire(endpoint) => endpoint.quinn().local_addr(),
            Listener::Quinn(endpoint) => endpoint.local_addr(),
        }
    }
}

/// quinn's endpoint, with as much room in the kernel as `wire` asks for.
fn endpoint(server: Option<quinn::ServerConfig>) -> io::Result<quinn::Endpoint> {
    let socket = UdpSocket::bind(ANY)?;
    let sizes = socket2::SockRef::from(&socket);
    let _ = sizes.set_recv_buffer_size(4 << 20).and_then(|()| sizes.set_send_buffer_size(4 << 20));
    quinn::Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(TokioRuntime))
}

/// quinn as it comes, but for packets of one size, as `wire` has them, and windows that hold up nobody.
fn transport() -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .initial_mtu(PACKET as u16)
        .mtu_discovery_config(None)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW));
    config
}

/// Receives `count` flows until the run is over; says first where.
fn receive(
    stack: Stack,
    identity: Identity,
    tell: mpsc::Sender<SocketAddr>,
    over: &Over,
    count: usize,
) -> io::Result<Vec<Arrivals>> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let listener = Listener::new(stack, identity)?;
        let _ = tell.send(listener.address()?);
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                () = over.wait() => break,
                () = accept(&listener, over, &mut tasks) => {}
            }
        }
        let mut all = vec![Arrivals::default(); count];
        while let Some(done) = tasks.join_next().await {
            if let Some((flow, arrivals)) = done.map_err(io::Error::other)?
                && let Some(place) = all.get_mut(flow)
            {
                *place = arrivals;
            }
        }
        Ok(all)
    })
}

/// Lets the next connection in.
async fn accept(listener: &Listener, over: &Over, tasks: &mut JoinSet<Option<(usize, Arrivals)>>) {
    let over = over.clone();
    match listener {
        Listener::Wire(endpoint) => {
            let Some(incoming) = endpoint.accept().await else { return over.wait().await };
            tasks.spawn(async move { read(End::Wire(incoming.finish().await.ok()?), over).await });
        }
        Listener::Quinn(endpoint) => {
            let Some(incoming) = endpoint.accept().await else { return over.wait().await };
            tasks.spawn(async move { read(End::Quinn(incoming.await.ok()?), over).await });
        }
    }
}

/// Reads what comes over the only stream of a connection, in any order, as the simulator counts it. It begins with the flow's
/// number.
async fn read(end: End, over: Over) -> Option<(usize, Arrivals)> {
    let (mut number, mut arrivals) = (None, Arrivals::default());
    let reading = async {
        let mut stream = end.accept_uni().await.ok()?;
        let mut bytes = [0; 2];
        stream.read_exact(&mut bytes).await.ok()?;
        number = Some(u16::from_be_bytes(bytes).into());
        while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, false).await {
            arrivals.add(Instant::now(), chunk.bytes.len() as u64);
        }
        // The sender closes the connection when it has heard that all has come.
        Some(end.closed().await)
    };
    tokio::select! {
        _ = reading => {}
        () = over.wait() => {}
    }
    Some((number?, arrivals))
}

// The sending side.

/// Sends all flows until the run is over; what was seen of each.
fn send(
    stage: &Arc<Stage>,
    stack: Stack,
    addresses: &[SocketAddr],
    fingerprint: Fingerprint,
) -> Result<Vec<Vec<Seen>>, Failure> {
    let failed = |why: String| Failure::Failed(format!("{}: {why}", stage.run.name()));
    let runtime = runtime().map_err(|e| failed(reason(&e)))?;
    let flows = &stage.run.experiment.flows;
    runtime.block_on(async {
        let mut callers = Callers { stack, fingerprint, wire: None, quinn: None };
        let mut tasks = JoinSet::new();
        for (number, flow) in flows.iter().enumerate() {
            let caller = callers.caller(flow, addresses[number]).map_err(failed)?;
            let stage = stage.clone();
            tasks.spawn(async move { (number, carry(&stage, number, caller).await) });
        }
        let mut all = vec![Vec::new(); flows.len()];
        while let Some(done) = tasks.join_next().await {
            let (number, seen) = done.map_err(|e| failed(e.to_string()))?;
            all[number] = seen.map_err(failed)?;
        }
        Ok(all)
    })
}

/// The endpoints that connections are opened from: one for all flows.
struct Callers {
    stack: Stack,
    fingerprint: Fingerprint,
    wire: Option<wire::Endpoint>,
    quinn: Option<quinn::Endpoint>,
}

/// What opens one flow's connection.
enum Caller {
    Wire(Box<wire::Endpoint>, SocketAddr, Fingerprint),
    Quinn(quinn::Endpoint, SocketAddr, Box<quinn::ClientConfig>),
}

impl Callers {
    fn caller(&mut self, flow: &experiment::Flow, address: SocketAddr) -> Result<Caller, String> {
        let Callers { stack, fingerprint, .. } = *self;
        match stack {
            Stack::Wire => {
                let choice = choice(flow)?;
                let endpoint = match &self.wire {
                    Some(endpoint) => endpoint.with_choice(choice),
                    None => wire::Endpoint::client(ANY, choice).map_err(|e| reason(&e))?,
                };
                self.wire.get_or_insert(endpoint.clone());
                Ok(Caller::Wire(Box::new(endpoint), address, fingerprint))
            }
            Stack::Quinn(congestion) => {
                let endpoint = match &self.quinn {
                    Some(endpoint) => endpoint.clone(),
                    None => endpoint(None).map_err(|e| reason(&e))?,
                };
                self.quinn.get_or_insert(endpoint.clone());
                let crypto =
                    QuicClientConfig::try_from(client_tls(fingerprint, None, PROTOCOL)).map_err(|e| e.to_string())?;
                let mut config = quinn::ClientConfig::new(Arc::new(crypto));
                let mut transport = transport();
                match congestion {
                    Congestion::Cubic => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
                    Congestion::Bbr => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
                    Congestion::NewReno => transport.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
                };
                config.transport_config(Arc::new(transport));
                Ok(Caller::Quinn(endpoint, address, Box::new(config)))
            }
        }
    }
}

impl Caller {
    async fn open(&self) -> Result<End, String> {
        match self {
            Caller::Wire(endpoint, address, fingerprint) => {
                let connection = endpoint.connect_pinned(*address, *fingerprint, PROTOCOL).await;
                let connection = connection.map_err(|e| e.to_string())?;
                if connection.settled().await == wire::Stamps::Refused {
                    return Err("no answer to the question for stamps".into());
                }
                Ok(End::Wire(connection))
            }
            Caller::Quinn(endpoint, address, config) => {
                let connecting = endpoint.connect_with((**config).clone(), *address, "thalweg");
                let connection = connecting.map_err(|e| e.to_string())?.await;
                connection.map(End::Quinn).map_err(|e| e.to_string())
            }
        }
    }
}

/// A flow's controller and its parameters.
fn choice(flow: &experiment::Flow) -> Result<Choice, String> {
    Choice::new(&flow.controller, &flow.parameters.as_object().cloned().unwrap_or_default())
}

/// Carries one flow from its start until it is over.
async fn carry(stage: &Stage, number: usize, caller: Caller) -> Result<Vec<Seen>, String> {
    let flow = &stage.run.experiment.flows[number];
    let mut over = pin!(stage.over.wait());
    let opening = async {
        sleep_until(stage.opens(flow).into()).await;
        let end = caller.open().await?;
        let mut stream = end.open_uni().await.map_err(|e| e.to_string())?;
        stream.write_all(&(number as u16).to_be_bytes()).await.map_err(|e| e.to_string())?;
        sleep_until(stage.at(flow.start).into()).await;
        Ok::<_, String>((end, stream))
    };
    let (end, stream) = tokio::select! {
        opened = opening => opened?,
        () = &mut over => return Ok(vec![]),
    };
    let mut seen = Vec::new();
    let mut writing = pin!(write(stage, flow, stream));
    let mut ticks = tokio::time::interval(to_std(stage.run.experiment.sample));
    let mut written = false;
    loop {
        tokio::select! {
            () = &mut writing, if !written => written = true,
            _ = ticks.tick(), if !written => seen.push(end.look(stage.now())),
            () = &mut over => break,
        }
    }
    seen.push(end.look(stage.now()));
    Ok(seen)
}

/// Hands over a flow's data, up to its size and until it stops.
async fn write(stage: &Stage, flow: &experiment::Flow, mut stream: SendStream) {
    let mut left = data(flow).unwrap_or(u64::MAX);
    let mut stop = pin!(async {
        match flow.stop {
            Some(stop) => sleep_until(stage.at(stop).into()).await,
            None => std::future::pending().await,
        }
    });
    while left > 0 {
        let size = left.min(CHUNK.len() as u64) as usize;
        tokio::select! {
            sent = stream.write(&CHUNK[..size]) => match sent {
                Ok(written) => left -= written as u64,
                Err(_) => return, // the receiver is gone: the run is over
            },
            () = &mut stop => {
                // What it has handed over and not sent, it takes back.
                let _ = stream.reset(VarInt::from_u32(0));
                return;
            }
        }
    }
    let _ = stream.finish();
    let _ = stream.stopped().await;
}
