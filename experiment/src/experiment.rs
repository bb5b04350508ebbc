//! A whole run as one plain data structure, with every choice made and every unit converted.

use crate::traffic::Population;
use control::{Bytes, Duration, Rate, Recovery, Time};
use path::topology::listed_directions;
use path::{Ecn, HostPair, LinkDirection, LinkSetup, Route};
use serde_json::Value;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// One run.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The seed: everything random in the run follows from it.
    pub seed: u64,
    /// How long the run lasts.
    pub duration: Duration,
    /// The sampling interval of all time series.
    pub sample: Duration,
    /// The measured interval: totals and means are taken over it. It lies within the run.
    pub measure: (Time, Time),
    /// The links that routes refer to.
    pub links: Vec<LinkSetup>,
    /// The transfers.
    pub flows: Vec<Flow>,
    /// Traffic that does not react to congestion.
    pub cross: Vec<Cross>,
    /// Connections that come and go.
    pub workloads: Vec<Workload>,
}

impl Experiment {
    /// The directions of links that results list, in their order: those that data crosses, and of a link that no data
    /// crosses the forward one; and of a link whose directions differ, both.
    pub fn listed_directions(&self) -> Vec<LinkDirection> {
        let mut listed = self.crossed_by_data();
        let differ = self.links.iter().map(|link| link.reverse.is_some());
        listed.iter_mut().zip(differ).filter(|(_, differ)| *differ).for_each(|(listed, _)| *listed = [true; 2]);
        listed_directions(&listed)
    }

    /// The directions of links that data crosses, and of a link that no data crosses the forward one.
    pub fn data_directions(&self) -> Vec<LinkDirection> {
        listed_directions(&self.crossed_by_data())
    }

    /// Per link, whether data crosses it forward and in reverse.
    fn crossed_by_data(&self) -> Vec<[bool; 2]> {
        let mut used = vec![[false; 2]; self.links.len()];
        let flows = self.flows.iter().map(|flow| (&*flow.route, [true, false]));
        let cross = self.cross.iter().map(|cross| (&cross.route, [true, false]));
        let workloads = self.workloads.iter().map(|workload| (&workload.route, workload.sends));
        for (route, sends) in flows.chain(cross).chain(workloads) {
            for back in [false, true].into_iter().filter(|&back| sends[usize::from(back)]) {
                for LinkDirection { link, reverse } in route.directions(back) {
                    used[link][usize::from(reverse)] = true;
                }
            }
        }
        used
    }
}

/// One transfer. Most flows differ from thousands of others by their start and round-trip time alone, and share the
/// rest. That is read as if it were a part of the flow; if it is changed, the flow has a copy of its own from then on.
#[derive(Clone, Debug)]
pub struct Flow {
    /// When the flow begins to send.
    pub start: Time,
    /// Round-trip propagation delay, at least that of the route's links. The rest is the delay of access links: half
    /// before data's way, half before that of acknowledgments.
    pub rtt: Duration,
    /// All else.
    pub settings: Arc<FlowSettings>,
}

impl Deref for Flow {
    type Target = FlowSettings;

    fn deref(&self) -> &FlowSettings {
        &self.settings
    }
}

impl DerefMut for Flow {
    fn deref_mut(&mut self) -> &mut FlowSettings {
        Arc::make_mut(&mut self.settings)
    }
}

/// What flows have in common.
#[derive(Clone, Debug)]
pub struct FlowSettings {
    /// A controller of [`control::registry`].
    pub controller: Arc<str>,
    /// All of its parameters, from [`control::Controller::parameters`].
    pub parameters: Arc<Value>,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Which links the data crosses; acknowledgments return over the same ones.
    pub route: Arc<Route>,
    /// Rate of the source's access link; none if it is no limit.
    pub access: Option<Rate>,
    /// When it stops sending new data, if before the end.
    pub stop: Option<Time>,
    /// How many bytes it sends; none for a flow that does not end.
    pub size: Option<Bytes>,
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// Size of an acknowledgment on the wire.
    pub ack_size: Bytes,
    /// The receiver's window, in packets: the most that may be outstanding. None if it is no limit.
    pub receive_window: Option<u64>,
    /// The most packets that leave together for one acknowledgment or timer; none if that is no limit.
    pub max_burst: Option<u64>,
    /// If given, the source spaces the packets of a window protocol: it sends so many windows per smoothed round-trip
    /// time, and at least two in slow start. Otherwise packets leave as soon as the window allows.
    pub pacing: Option<f64>,
    /// If given, every second packet is acknowledged (RFC 5681, section 4.2), and a single packet after this time at
    /// the latest; otherwise every packet is.
    pub delayed_ack: Option<Duration>,
    /// If given, the receiver hears of a packet, and of all that arrived after it, this long after its arrival
    /// (interrupt coalescing); otherwise at once.
    pub coalesce: Option<Duration>,
    /// If given, each packet leaves the source late by a random time up to this one, in order; otherwise on time.
    pub jitter: Option<Duration>,
    /// If given, the source cannot keep shorter times than this between two departures, and says so to its controller,
    /// which may send bursts; otherwise it can time any gap.
    pub quantum: Option<Duration>,
    /// The least margin of the retransmission timeout over the smoothed round-trip time (200 ms in Linux).
    pub min_rto: Duration,
    /// The ECN field of its packets. Acknowledgments are Not-ECT (RFC 3168, section 6.1.4).
    pub ecn: Ecn,
    /// How its receiver breaks the rules, if it does.
    pub misbehaviour: Option<Misbehaviour>,
}

impl FlowSettings {
    /// A flow of `controller` over a route, whose packets have this size on the wire. It has data without end, its
    /// acknowledgments have 40 bytes, and nothing that can be absent limits or delays it.
    pub fn plain(controller: &str, parameters: Value, recovery: Recovery, route: Route, packet: Bytes) -> FlowSettings {
        FlowSettings {
            controller: controller.into(),
            parameters: parameters.into(),
            recovery,
            route: route.into(),
            access: None,
            stop: None,
            size: None,
            packet,
            ack_size: Bytes(40),
            receive_window: None,
            max_burst: None,
            pacing: None,
            delayed_ack: None,
            coalesce: None,
            jitter: None,
            quantum: None,
            min_rto: Duration::from_millis(200),
            ecn: Ecn::NotEct,
            misbehaviour: None,
        }
    }
}

/// How a receiver breaks the rules to get more than honest ones (RFC 9743, section 7.6). Senders do not defend
/// themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// With each packet it acknowledges all packets before it, whether or not they have arrived, and a hundred after
    /// it, as far as they were sent (Savage et al., "TCP congestion control with a misbehaving receiver", CCR 29(5),
    /// 1999).
    OptimisticAcks,
    /// It reports ten times the rate that it measured or that routers allow, and ten times the growth.
    FalseReports,
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
    /// The links that the initiators' packets cross; the acceptors' packets cross the same links the other way. The
    /// rest of a connection's round-trip time is the delay of its access links.
    pub route: Route,
    /// Which sides have something to send: the initiators, the acceptors.
    pub sends: [bool; 2],
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// Bytes of each packet that are not the application's, less than `packet`. Zero if the sizes of messages are those
    /// on the wire.
    pub header: Bytes,
    /// Size of an acknowledgment on the wire, and of the packets that open a connection.
    pub ack_size: Bytes,
    /// Whether connections are opened by a handshake of a round trip before they send data.
    pub handshake: bool,
    /// The most that either side may have outstanding, in packets, beside the limits of a connection's own windows.
    pub receive_window: Option<u64>,
    /// See [`Flow::max_burst`].
    pub max_burst: Option<u64>,
    /// See [`Flow::pacing`].
    pub pacing: Option<f64>,
    /// See [`Flow::delayed_ack`].
    pub delayed_ack: Option<Duration>,
    /// See [`Flow::min_rto`].
    pub min_rto: Duration,
    /// Whether a side's window begins again with slow start after the side has sent nothing for longer than its
    /// retransmission timeout (RFC 5681, section 4.1); otherwise it is kept.
    pub idle_restart: bool,
    /// See [`Flow::ecn`].
    pub ecn: Ecn,
    /// The time that the connections call zero.
    pub start: Time,
    /// From this time on, no connection begins.
    pub stop: Time,
    /// The connections.
    pub population: Arc<dyn Population>,
}

/// A source of traffic that does not react to congestion, with packets of equal size.
#[derive(Clone, Debug)]
pub struct Cross {
    /// Rate on the wire; of an on/off source, while it is on.
    pub rate: Rate,
    /// The times between packets.
    pub pattern: Pattern,
    /// Size of its packets on the wire.
    pub packet: Bytes,
    /// The links that it crosses.
    pub route: Route,
    /// No packet leaves before this time.
    pub start: Time,
    /// No packet leaves at or after this time.
    pub stop: Time,
}

/// The times between packets of traffic that does not react.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// At equal intervals.
    Constant,
    /// At exponentially distributed intervals.
    Poisson,
    /// At equal intervals while the source is on, and not at all while it is off.
    OnOff {
        /// Mean length of the periods in which the source is on.
        on: Duration,
        /// Mean length of the periods in which it is off.
        off: Duration,
        /// Shape of the Pareto distribution of both, above 1.
        shape: f64,
    },
}

impl Cross {
    /// The mean rate between start and stop.
    pub fn mean_rate(&self) -> Rate {
        match self.pattern {
            Pattern::Constant | Pattern::Poisson => self.rate,
            Pattern::OnOff { on, off, .. } => self.rate * (on.as_secs() / (on.as_secs() + off.as_secs())),
        }
    }
}
