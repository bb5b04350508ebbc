//! The sending side: sends each flow's data from its start to its stop, and samples what its sender does.

use super::connection::Connection;
use super::connector::{Connector, Connectors};
use super::stack::{Stack, runtime};
use crate::error::Cause;
use crate::flow_log::{SenderSample, data};
use crate::testbed::Testbed;
use control::Time;
use experiment::Flow;
use qlog::Happened;
use quinn::{SendStream, VarInt};
use realtime::to_std;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::sleep_until;
use wire::Fingerprint;

/// The most data that the application hands over at a time.
static CHUNK: [u8; 1 << 16] = [0x55; 1 << 16];

/// Sends all flows until the end of the run. Each flow has an address of the relay. Returns the samples of each.
pub fn send(
    testbed: &Arc<Testbed>,
    stack: Stack,
    addresses: &[SocketAddr],
    fingerprint: Fingerprint,
) -> Result<Vec<Vec<SenderSample>>, Cause> {
    let runtime = runtime()?;
    let flows = &testbed.experiment.flows;
    runtime.block_on(async {
        let mut connectors = Connectors::new(stack, fingerprint);
        let mut tasks = JoinSet::new();
        for (number, flow) in flows.iter().enumerate() {
            let connector = connectors.connector(flow, addresses[number], testbed.record(number))?;
            if let Some(record) = testbed.record(number) {
                record.begin_at(connectors.clock().at(testbed.zero));
            }
            let testbed = testbed.clone();
            tasks.spawn(async move { (number, send_flow(&testbed, number, connector).await) });
        }
        let mut all = vec![Vec::new(); flows.len()];
        while let Some(done) = tasks.join_next().await {
            let (number, samples) = done?;
            all[number] = samples?;
        }
        Ok(all)
    })
}

/// Sends one flow until the end of the run.
async fn send_flow(testbed: &Testbed, number: usize, connector: Connector) -> Result<Vec<SenderSample>, Cause> {
    let flow = &testbed.experiment.flows[number];
    let mut end = pin!(testbed.end.wait());
    let opening = async {
        sleep_until(testbed.opens(flow).into()).await;
        let connection = connector.open().await?;
        let mut stream = connection.open_uni().await?;
        stream.write_all(&(number as u16).to_be_bytes()).await?;
        sleep_until(testbed.instant(flow.start).into()).await;
        Ok::<_, Cause>((connection, stream))
    };
    let (connection, stream) = tokio::select! {
        opened = opening => opened?,
        () = &mut end => return Ok(vec![]),
    };
    let (mut samples, mut ecn) = (Vec::new(), None);
    let mut writing = pin!(write(testbed, flow, stream));
    let mut ticks = tokio::time::interval(to_std(testbed.experiment.sample));
    let mut written = false;
    loop {
        tokio::select! {
            () = &mut writing, if !written => written = true,
            _ = ticks.tick(), if !written => {
                samples.push(connection.sample(testbed.now()));
                record_ecn(testbed, number, &connection, &mut ecn);
            }
            () = &mut end => break,
        }
    }
    samples.push(connection.sample(testbed.now()));
    Ok(samples)
}

/// Writes a flow's data to `stream`, up to the flow's size and until its stop.
async fn write(testbed: &Testbed, flow: &Flow, mut stream: SendStream) {
    let mut left = data(flow).unwrap_or(u64::MAX);
    let mut stop = pin!(async {
        match flow.stop {
            Some(stop) => sleep_until(testbed.instant(stop).into()).await,
            None => std::future::pending().await,
        }
    });
    while left > 0 {
        let size = left.min(CHUNK.len() as u64) as usize;
        tokio::select! {
            sent = stream.write(&CHUNK[..size]) => match sent {
                Ok(written) => left -= written as u64,
                Err(_) => return, // The receiver is gone: the run is over.
            },
            () = &mut stop => {
                // Data that were written and not yet sent are dropped.
                let _ = stream.reset(VarInt::from_u32(0));
                return;
            }
        }
    }
    let _ = stream.finish();
    let _ = stream.stopped().await;
}

/// Records what is known of ECN on the path of flow `number`, if it is no longer what was `known`.
fn record_ecn(testbed: &Testbed, number: usize, connection: &Connection, known: &mut Option<&'static str>) {
    let Some(record) = testbed.record(number) else { return };
    let now = connection.ecn();
    if let Some(new) = now.filter(|_| now != *known) {
        let happened = Happened::Ecn { old: known.map(String::from), new: new.into() };
        record.add(testbed.now().since(Time::ZERO), happened);
        *known = now;
    }
}
