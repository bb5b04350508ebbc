//! Flows over QUIC: for each flow of the experiment a connection across the emulator's relay, with a sender and a
//! receiver on this host.

mod connection;
mod connector;
mod not_ect;
mod receiver;
mod sender;
mod stack;

pub use stack::Stack;

use crate::capture::Capture;
use crate::error::{Cause, Error};
use crate::flow_log::{Deliveries, FlowLog, Framing, PAYLOAD, SenderSample};
use crate::testbed::Testbed;
use crate::watch::Watch;
use emulate::{Record, relay::Relay};
use experiment::Flow;
use stack::{ANY, choice};
use std::sync::{Arc, mpsc};
use std::thread;
use wire::{Identity, PACKET};

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
            let secrets = testbed.capture.as_ref().map(Capture::secrets);
            let received = receiver::receive(stack, identity, secrets, tell, &testbed.end, flows.len());
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

#[cfg(test)]
mod tests;
