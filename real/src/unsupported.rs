//! What an experiment may not have if it is to run in real time.

use crate::contestant::{Congestion, Contestant};
use control::Bytes;
use control::registry::{self, Family};
use experiment::Experiment;

/// The size of full packets on the path, with `wire`'s header. An experiment must have packets of this size to run in
/// real time, so that its simulation compares.
pub const PACKET: Bytes = Bytes(wire::PACKET + wire::header::SIZE as u64);
/// The most flows: each has two endpoints on this host.
const MOST_FLOWS: usize = 64;

/// Why `experiment` cannot run in real time with its flows carried by `contestant`, if it cannot: the key, the reason
/// and the remedy.
pub fn unsupported(experiment: &Experiment, contestant: &Contestant) -> Option<String> {
    let Experiment { links, flows, cross, workloads, .. } = experiment;
    if !cross.is_empty() || !workloads.is_empty() {
        return Some("traffic: is not played in real runs; remove it".into());
    }
    if let Some(link) = links.iter().find(|link| link.each().any(|direction| direction.trace.is_some())) {
        return Some(format!("{}: trace: is not followed in real runs; write a rate", link.name));
    }
    if flows.len() > MOST_FLOWS {
        return Some(format!("flow: there are {}; real runs have at most {MOST_FLOWS}", flows.len()));
    }
    flows.iter().enumerate().find_map(|(i, flow)| {
        let keys = [
            ("packet", flow.packet != PACKET),
            ("receive-window", flow.receive_window.is_some()),
            ("max-burst", flow.max_burst.is_some()),
            ("pacing", flow.pacing.is_some()),
            ("delayed-ack", flow.delayed_ack.is_some()),
            ("coalesce", flow.coalesce.is_some()),
            ("jitter", flow.jitter.is_some()),
            ("quantum", flow.quantum.is_some()),
            ("misbehaviour", flow.misbehaviour.is_some()),
        ];
        let (first, own) = (flows[0].ecn.is_capable(), flow.ecn.is_capable());
        let paces = registry::find(&flow.controller).is_some_and(|controller| controller.family == Family::Rate);
        if *contestant == Contestant::Ours && own && paces {
            return Some(format!("flow {}: ecn: paced packets are not ECN-capable in real runs; write false", i + 1));
        }
        if *contestant == Contestant::Ours && Congestion::named(&flow.controller).is_some() {
            let why = "quinn carries all flows of a real run, or none; write the same controller for all";
            return Some(format!("flow {}: controller: is {}: {why}", i + 1, flow.controller));
        }
        if *contestant != Contestant::Ours && own != first {
            return Some(format!("flow {}: ecn: is one setting for all flows of {contestant}; write the same", i + 1));
        }
        if matches!(contestant, Contestant::Kernel(_)) && own && !kernel_accepts_ecn() {
            let why = "this kernel accepts no ECN, because net.ipv4.tcp_ecn is 0; set it to 2";
            return Some(format!("flow {}: ecn: {why}", i + 1));
        }
        let (key, _) = keys.into_iter().find(|(_, given)| *given)?;
        Some(format!("flow {}: {key}: is the hosts' own in real runs; remove it", i + 1))
    })
}

/// Whether the receivers of kernel flows, which are on this host, accept ECN when a sender asks for it.
fn kernel_accepts_ecn() -> bool {
    std::fs::read_to_string("/proc/sys/net/ipv4/tcp_ecn").is_ok_and(|text| text.trim() != "0")
}
