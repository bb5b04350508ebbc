//! Where the connections of a workload come from, and how many are expected.

use control::Duration;
use experiment::traffic::Population;
use std::sync::Arc;

/// The connections of a workload.
pub(super) struct ConnectionSource {
    /// The connections.
    pub population: Arc<dyn Population>,
    /// The key of the traffic that decides how many connections there are.
    pub key: &'static str,
    /// How many connections there are, and how they are.
    pub expected: Expected,
}

/// What can be said of connections before the run.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    /// The least round-trip time of a connection.
    pub least_rtt: Duration,
    /// The expected number of connections.
    pub connections: f64,
    /// The expected number of exchanges of all connections.
    pub exchanges: f64,
}
