//! What an experiment may not have if it is to run in real time.

use control::Bytes;
use experiment::Experiment;

/// The size of full packets on the path, with `wire`'s header. An experiment must have packets of this size to run in
/// real time, so that its simulation compares.
pub const PACKET: Bytes = Bytes(wire::PACKET + wire::header::SIZE as u64);
/// The most flows: each has two endpoints on this host.
const MOST_FLOWS: usize = 64;

/// Why `experiment` cannot run in real time, if it cannot: the key, the reason and the remedy.
pub fn unsupported(experiment: &Experiment) -> Option<String> {
    let Experiment { links, flows, cross, workloads, .. } = experiment;
    if !cross.is_empty() || !workloads.is_empty() {
        return Some("traffic: is not played in real runs; remove it".into());
    }
    if let Some(link) = links.iter().find(|link| link.trace.is_some()) {
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
            ("delayed-ack", flow.delayed_ack.is_some()),
            ("coalesce", flow.coalesce.is_some()),
            ("jitter", flow.jitter.is_some()),
            ("quantum", flow.quantum.is_some()),
        ];
        if flow.ecn.is_capable() {
            return Some(format!(
                "flow {}: ecn: is simulated only, real packets are Not-ECT; write ecn = false",
                i + 1
            ));
        }
        let (key, _) = keys.into_iter().find(|(_, given)| *given)?;
        Some(format!("flow {}: {key}: is the hosts' own in real runs; remove it", i + 1))
    })
}
