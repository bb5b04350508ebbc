//! A whole run as one plain data structure: what to simulate, with every choice made and every unit converted.

use crate::traffic::Population;
use control::{Bytes, Duration, Rate, Recovery, Time};
use path::topology::listed_directions;
use path::{HostPair, LinkDirection, LinkSetup, Route};
use serde_json::Value;
use std::sync::Arc;

/// One run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Everything random in the run follows from it.
    pub seed: u64,
    /// The run goes from zero to here.
    pub duration: Duration,
    /// How often everything is sampled.
    pub sample: Duration,
    /// Totals and means are taken over this interval, which lies within the run.
    pub measure: (Time, Time),
    /// The links that flows share.
    pub links: Vec<LinkSetup>,
    /// The transfers.
    pub flows: Vec<Flow>,
    /// Traffic that does not react.
    pub cross: Vec<Cross>,
    /// Connections that come and go.
    pub workloads: Vec<Workload>,
}

impl Experiment {
    /// The directions of links that results list, in their order: those that data crosses, and of a link that no data crosses
    /// the forward one.
    pub fn listed_directions(&self) -> Vec<LinkDirection> {
        let mut used = vec![[false; 2]; self.links.len()];
        let flows = self.flows.iter().map(|flow| (&flow.route, [true, false]));
        let cross = self.cross.iter().map(|cross| (&cross.route, [true, false]));
        let workloads = self.workloads.iter().map(|workload| (&workload.route, workload.sends));
        for (route, sends) in flows.chain(cross).chain(workloads) {
            for back in [false, true].into_iter().filter(|&back| sends[usize::from(back)]) {
                for LinkDirection { link, reverse } in route.directions(back) {
                    used[link][usize::from(reverse)] = true;
                }
            }
        }
        listed_directions(&used)
    }
}

/// One transfer.
#[derive(Clone, Debug)]
pub struct Flow {
    /// A controller of [`control::registry`].
    pub controller: String,
    /// All of its parameters, from [`control::Controller::parameters`].
    pub parameters: Value,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Which links the data crosses; acknowledgments return over the same ones.
    pub route: Route,
    /// Round-trip propagation delay, at least that of the route's links. What exceeds theirs lies in the hosts' own access
    /// links, half on either side.
    pub rtt: Duration,
    /// Rate of the source's own access link; none if it is never the limit.
    pub access: Option<Rate>,
    /// When it begins to send.
    pub start: Time,
    /// When it stops sending new data, if before the end.
    pub stop: Option<Time>,
    /// How much it sends, if not without end.
    pub size: Option<Bytes>,
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// Size of an acknowledgment on the wire.
    pub ack_size: Bytes,
    /// The receiver's window: the most that may be outstanding, in packets.
    pub receive_window: Option<u64>,
    /// Acknowledge every second packet (RFC 5681, section 4.2), the other after this long at the latest; none: each packet.
    pub delayed_ack: Option<Duration>,
    /// The receiver is told of a packet, and of all that came after it, so long after it came (interrupt coalescing); none: at
    /// once.
    pub coalesce: Option<Duration>,
    /// Each packet leaves the source up to this late, at random, and in order; none: on time.
    pub jitter: Option<Duration>,
    /// Least margin of the retransmission timeout over the smoothed round-trip time (200 ms on today's systems).
    pub min_rto: Duration,
}

impl Flow {
    /// Its hosts and what lies between them, without interfaces.
    pub fn hosts(&self) -> HostPair<'_> {
        HostPair { route: &self.route, rtt: self.rtt, access: self.access, interfaces: [None; 2] }
    }
}

/// Connections that come and go, and what they have in common.
#[derive(Clone, Debug)]
pub struct Workload {
    /// What results call it.
    pub name: String,
    /// A controller of [`control::registry`], for both sides' data.
    pub controller: String,
    /// All of its parameters, from [`control::Controller::parameters`].
    pub parameters: Value,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Which links the initiators' packets cross; the acceptors' cross the same ones the other way. What a connection's RTT
    /// exceeds theirs lies in access links of its own.
    pub route: Route,
    /// Which sides have something to send: the initiators, the acceptors.
    pub sends: [bool; 2],
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// So much of each packet is not the applications'; less than `packet`. Zero if their sizes are those on the wire.
    pub header: Bytes,
    /// Size of an acknowledgment on the wire, and of the packets that open a connection.
    pub ack_size: Bytes,
    /// Whether a round trip opens a connection before it sends any data.
    pub handshake: bool,
    /// The most that either side may have outstanding, in packets, whatever the connection's own windows are.
    pub receive_window: Option<u64>,
    /// As of a [`Flow`].
    pub delayed_ack: Option<Duration>,
    /// As of a [`Flow`].
    pub min_rto: Duration,
    /// When time begins for its connections.
    pub start: Time,
    /// None begins from here on.
    pub stop: Time,
    /// The connections.
    pub population: Arc<dyn Population>,
}

/// Traffic that does not react: packets of equal size.
#[derive(Clone, Debug)]
pub struct Cross {
    /// Its rate on the wire; of an on/off source, while it is on.
    pub rate: Rate,
    /// How its packets follow each other.
    pub pattern: Pattern,
    /// Its packets.
    pub packet: Bytes,
    /// Which links it crosses.
    pub route: Route,
    /// No packet leaves before.
    pub start: Time,
    /// No packet leaves from here on.
    pub stop: Time,
}

/// How packets that do not react follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// At equal intervals.
    Constant,
    /// At exponentially distributed intervals.
    Poisson,
    /// At equal intervals while the source is on, and not at all while it is off.
    OnOff {
        /// Mean length of the periods in which it is on.
        on: Duration,
        /// Mean length of those in which it is off.
        off: Duration,
        /// Shape of the Pareto distribution of both, above 1.
        shape: f64,
    },
}

impl Cross {
    /// Its mean rate between start and stop.
    pub fn mean_rate(&self) -> Rate {
        match self.pattern {
            Pattern::Constant | Pattern::Poisson => self.rate,
            Pattern::OnOff { on, off, .. } => self.rate * (on.as_secs() / (on.as_secs() + off.as_secs())),
        }
    }
}
