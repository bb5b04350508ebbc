//! Flows over QUIC: for each flow of the experiment a connection across the emulator's relay, with a sender and a
//! receiver on this host.

mod connection;
mod connector;
mod receiver;
mod sender;

use crate::contestant::Congestion;
use crate::error::Cause;
use crate::flow_log::{Deliveries, FlowLog, Framing, PAYLOAD, SenderSample};
use crate::testbed::Testbed;
use crate::{Error, Watch};
use emulate::{Record, relay::Relay};
use experiment::Flow;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::{Builder, Runtime};
use wire::{Choice, Identity, PACKET};

/// The application protocol of the connections (ALPN, RFC 7301).
const PROTOCOL: &[u8] = b"thalweg-real";
/// Any free port of the loopback device.
const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Which implementation of QUIC carries the flows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stack {
    /// `wire`, with the experiment's controllers.
    Wire,
    /// quinn, with one of its own controllers.
    Quinn(Congestion),
}

/// Carries the flows of `testbed` from the beginning to the end of its run. The emulator, the receivers and the senders
/// have a thread each.
pub fn carry(testbed: &Arc<Testbed>, stack: Stack, watch: &dyn Watch) -> Result<(Record, Vec<FlowLog>), Error> {
    let receiving = |cause: Cause| Error::end("the receiver", cause);
    let flows = &testbed.experiment.flows;
    let identity = Identity::new().map_err(|e| receiving(e.into()))?;
    let fingerprint = identity.fingerprint();
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let received = receiver::receive(stack, identity, tell, &testbed.end, flows.len());
            testbed.end.set();
            received
        });
        let Ok(server) = told.recv() else {
            return match receiver.join() {
                Ok(Err(e)) => Err(receiving(e)),
                _ => Err(Error::Panicked),
            };
        };
        let relay = Relay::new(&vec![ANY; flows.len()], server, 2 * flows.len());
        let relay = relay.and_then(|relay| Ok((relay.addresses()?, relay)));
        let (addresses, mut relay) = relay.map_err(|e| {
            testbed.end.set();
            Error::Socket(e)
        })?;
        let emulator = scope.spawn(move || testbed.emulate(&mut relay, watch));
        let sender = scope.spawn(move || {
            let sent = sender::send(testbed, stack, &addresses, fingerprint);
            if sent.is_err() {
                testbed.end.set();
            }
            sent
        });
        let record = emulator.join().map_err(|_| Error::Panicked)??;
        let deliveries = receiver.join().map_err(|_| Error::Panicked)?.map_err(receiving)?;
        let sent = sender.join().map_err(|_| Error::Panicked)?.map_err(|e| Error::end("the sender", e))?;
        let logs = deliveries.into_iter().zip(sent).zip(flows);
        let log = |((deliveries, samples), flow): ((Deliveries, Vec<SenderSample>), &Flow)| FlowLog {
            deliveries,
            samples,
            framing: framing(stack, flow),
        };
        Ok((record, logs.map(log).collect()))
    })
}

/// The controller of `flow` and all of its parameters. Where a parameter is `auto`, the controller chooses by what
/// `wire` tells it of its host; other values are passed on as they are.
fn choice(flow: &Flow) -> Result<Choice, Cause> {
    let parameters = flow.parameters.as_object().cloned().unwrap_or_default();
    Choice::new(&flow.controller, &parameters).map_err(Cause::from)
}

/// The layout of the packets of `flow`: `wire` puts a header for stamps before the packets of a controller that needs
/// it.
fn framing(stack: Stack, flow: &Flow) -> Framing {
    let header = match stack {
        Stack::Quinn(_) => 0,
        Stack::Wire if control::routers::find(&flow.controller).is_some() => wire::header::ROUTED,
        Stack::Wire if choice(flow).is_ok_and(|choice| choice.needs_stamps()) => wire::header::SIZE,
        Stack::Wire => 0,
    };
    Framing { packet: PACKET + header as u64, payload: PAYLOAD }
}

/// A runtime for all flows' senders or receivers, on this thread, which the system schedules before ordinary ones if it
/// may.
fn runtime() -> io::Result<Runtime> {
    realtime::hurry(1);
    Builder::new_current_thread().enable_all().build()
}

#[cfg(test)]
mod tests;
