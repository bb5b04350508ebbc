//! Connections that come and go.

use control::Time;
use experiment::{Transfer, WorkloadOutcome};

/// A connection of a workload, with all of its transfers together.
pub struct Connection {
    /// Round-trip propagation delay, in milliseconds.
    pub rtt_ms: f64,
    /// What both sides had to send.
    pub bytes: f64,
}

/// The connections of a workload that begin at `from` or later and before `to`.
pub fn connections(workload: &WorkloadOutcome, (from, to): (Time, Time)) -> Vec<Connection> {
    let mut transfers: Vec<&Transfer> = workload.transfers.iter().collect();
    transfers.sort_by_key(|it| (it.connection, it.start));
    let each = transfers.chunk_by(|a, b| a.connection == b.connection);
    let connection = |all: &[&Transfer]| Connection {
        rtt_ms: all[0].rtt.as_millis(),
        bytes: all.iter().map(|it| it.sent[0].0 as f64 + it.sent[1].0 as f64).sum(),
    };
    each.filter(|all| from <= all[0].start && all[0].start < to).map(connection).collect()
}
