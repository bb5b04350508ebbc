//! The three parties of a congestion control protocol. Each is a small state machine: events in, decisions out.
//!
//! A host (simulated, emulated or QUIC) owns reliability: it numbers packets, detects loss and repairs it. It tells the
//! [`Sender`] what happened and asks when the next packet may leave; it never asks which protocol it runs.
//!
//! # The contract between a host and a sender
//!
//! Every host keeps these rules, and a sender may rely on them. [`contract::checked`](crate::contract::checked) checks them
//! in the hosts' tests.
//!
//! - **Conditions.** The host states what it can do ([`Conditions`]) when the parties are made. It stays true; a full packet
//!   ([`Pipe::packet`]) always has the same size.
//! - **Time.** The times of [`Sender::next`] and [`Sender::on_send`] never go back, nor do those of the other calls. A host that
//!   hands packets over ahead of time (launch times) says when they leave, so the former may be ahead of the latter.
//! - **Opening.** [`Sender::open`] (once per packet that asks for the connection) and [`Sender::on_open`] come before the
//!   first [`Sender::next`], or not at all.
//! - **Sending.** [`Sender::on_send`] follows [`Sender::next`] at once, with the same time and [`Pipe`]. After [`Next::Now`] the
//!   packet leaves. After [`Next::At`] none leaves before that time. After [`Next::AfterAck`] three kinds of packet may
//!   leave all the same: the first repair of a loss event (RFC 6675, section 5), probes after a timeout (RFC 9002, section 7.5), and a
//!   packet that carries an acknowledgment the peer waits for. [`Sender::next`] may be asked any number of times.
//! - **Loss.** A loss event ([`Loss::Event`]) is told once per window of data: further packets that are lost belong to it if they
//!   were sent before it was told. After a timeout ([`Loss::Timeout`]) nothing is in flight, and what was sent before it causes
//!   no loss event; another timeout comes only after another packet was sent.
//! - **Order.** If an acknowledgment reveals a loss event, [`Sender::on_loss`] comes first, [`Sender::on_ack`] next, and nothing in
//!   between. A loss event that a timer revealed comes alone.
//! - **Repetition.** Each byte is counted in [`Ack::acked`] and in [`Ack::lost`] at most once each time it is sent. A report may come any number of times,
//!   and after newer ones.
//! - **Units.** Sizes are bytes on the wire, headers included; rates count the same bytes. Times are those of the host's own
//!   clock: a receiver's clock may differ from its sender's by any constant.

use crate::units::{Bytes, Duration, Rate, Time};
use core::fmt;

/// What a host can do. The host states it when a protocol's parties are made ([`crate::Protocol`]), so that they suit a host without knowing which one it
/// is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Bytes that a full packet takes on the wire.
    pub packet: Bytes,
    /// How far the moments at which packets really leave and arrive may be from those that the host says, from scheduling, batches and clocks.
    /// Zero: the host is exact, as the simulator is.
    pub timing: Duration,
}

impl Conditions {
    /// Those of a host whose times are exact, with packets of this size.
    pub fn exact(packet: Bytes) -> Conditions {
        Conditions { packet, timing: Duration::ZERO }
    }

    /// Whether packets leave and arrive just when the host says.
    pub fn is_exact(&self) -> bool {
        self.timing == Duration::ZERO
    }
}

/// Decides when the next packet may leave, and what is stamped on it.
pub trait Sender: Send {
    /// The host asks its peer to open the connection: what is stamped on that packet, which carries no data. May be asked again, or
    /// never: not all hosts do.
    fn open(&mut self, _now: Time) -> Stamp {
        Stamp::None
    }

    /// The peer answered that packet after `rtt`, with what the receiver made of its stamp.
    fn on_open(&mut self, _now: Time, _rtt: Duration, _report: Option<Report>) {}

    /// When may the next packet leave? Asked whenever there is something to send: after each packet sent, each
    /// acknowledgment and each loss, and at the time of an earlier [`Next::At`].
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next;

    /// A packet of `size` leaves now. `pipe` is as it was just before.
    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp;

    /// An acknowledgment arrived. Called after [`Sender::on_loss`] if the same acknowledgment revealed a loss.
    fn on_ack(&mut self, now: Time, ack: &Ack);

    /// Something was lost. Called once per loss event (per window of data), and once per retransmission timeout.
    fn on_loss(&mut self, now: Time, loss: &Loss);

    /// What to show in traces and plots.
    fn state(&self) -> State;

    /// The newest estimate of the available bandwidth, if the protocol makes any; for traces and plots, too.
    fn available(&self) -> Option<Rate> {
        None
    }
}

/// Sees arrivals. What it reports rides on acknowledgments until a newer report replaces it, so that a lost
/// acknowledgment loses no report. Most protocols have none.
pub trait Receiver: Send {
    /// A packet arrived that was stamped by the same protocol's sender.
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report>;
}

/// Sits at a queue, sees every packet pass and may rewrite its stamp. Most protocols have none.
///
/// What carries no stamp, an acknowledgment or other traffic, passes with [`Stamp::None`]; what is written on that is lost.
pub trait Router: Send {
    /// A packet arrives at the queue, in front of which `backlog` bytes wait. The queue may drop it.
    fn on_arrival(&mut self, now: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes);

    /// A packet leaves the queue, in which `backlog` bytes remain.
    fn on_departure(&mut self, now: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes);

    /// When [`Router::on_tick`] is due next.
    fn next_tick(&self) -> Option<Time>;

    /// A control interval ends, with `backlog` bytes waiting.
    fn on_tick(&mut self, now: Time, backlog: Bytes);

    /// From now on, the link has this capacity.
    fn on_capacity(&mut self, rate: Rate);

    /// What to show in traces and plots.
    fn state(&self) -> Control;
}

/// The answer to "when may the next packet leave?"
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once.
    Now,
    /// Ask again at this time (which is not in the past), or when something happens before.
    At(Time),
    /// Ask again after the next acknowledgment, loss or timeout.
    AfterAck,
}

/// What the host has in the network and still to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipe {
    /// Sent, and not yet known to have arrived or to be lost (RFC 6675's pipe).
    pub in_flight: Bytes,
    /// Still to be sent for the first time; [`Bytes`]`(u64::MAX)` for a source without end.
    pub backlog: Bytes,
    /// Bytes that a full packet takes on the wire.
    pub packet: Bytes,
    /// What leaves next is a retransmission.
    pub repairing: bool,
}

/// What one acknowledgment says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Newly acknowledged by it, cumulatively or selectively.
    pub acked: Bytes,
    /// Found lost by it, as later packets have arrived. (What a timeout gives up is not among it.)
    pub lost: Bytes,
    /// The round-trip time of the packet that caused it.
    pub rtt: Option<Duration>,
    /// Still in the network after it.
    pub in_flight: Bytes,
    /// Whether the host is repairing a loss still, so that a window does not grow.
    pub recovery: bool,
    /// Whether the data or the receiver's window, not the controller, holds the sender back.
    pub app_limited: bool,
    /// The newest report of the receiver that the acknowledgment carries; the same one may come many times.
    pub report: Option<Report>,
}

/// How a loss came to light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Later packets arrived (fast retransmit): recovery begins.
    Event,
    /// Nothing was heard for the retransmission timeout (RFC 6298).
    Timeout,
}

/// What a sender writes on a packet, for receivers and routers to read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stamp {
    /// Nothing.
    #[default]
    None,
    /// A packet of a p-stream (RAPID).
    Probe {
        /// Which stream; they count up.
        stream: u32,
        /// Which packet of the stream, from 0.
        index: u16,
        /// How many packets the stream has.
        len: u16,
        /// The rate that the gap before this packet stands for, in bits per second.
        rate: f32,
        /// When it was sent, by the sender's clock: as late as the sender itself was, which a receiver need not take for delay.
        sent: Time,
    },
    /// Asks for a rate (RCP).
    Rate {
        /// The least that a router on the way allows, in bits per second; infinite until the first one.
        rate: f32,
        /// The sender's round-trip time in seconds; zero if it does not know any.
        rtt: f32,
    },
    /// Asks for a larger window (XCP, RCP-AC).
    Window {
        /// The sender's window, in packets of this one's size; zero on the packet that opens a flow, before there is one.
        window: f32,
        /// The sender's round-trip time in seconds; zero if it does not know any.
        rtt: f32,
        /// By how many packets the window may grow for this one, or must shrink: the least that a router on the way says; infinite
        /// until the first one.
        feedback: f32,
    },
}

/// What a receiver tells the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// The available bandwidth that a p-stream found (RAPID).
    Available {
        /// Which stream.
        stream: u32,
        /// Its estimate, in bits per second (in single precision, as it travels).
        rate: f32,
    },
    /// The rate at which packets arrive (RRRP).
    Received {
        /// In bits per second (in single precision, as it travels).
        rate: f32,
    },
    /// The rate that the routers on the way allow (RCP).
    Allowed {
        /// In bits per second (in single precision, as it travels).
        rate: f32,
    },
    /// By how much the window is to differ from what it was at the start (XCP, RCP-AC). A sum, so that an acknowledgment that is lost,
    /// or stands for several packets, loses nothing.
    Feedback {
        /// Whole packets, modulo 2^32.
        whole: i32,
        /// And this part of a packet, 0 to 1.
        part: f32,
    },
}

/// What a router is doing, for traces and plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The rate that it allows each flow, if that is the same for all.
    pub rate: Option<Rate>,
    /// By how many bytes the traffic in flight may grow within a control interval, if it limits that; negative: must shrink.
    pub growth: Option<f64>,
}

/// What a sender is doing, for traces and plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Congestion window in packets, if the protocol has one.
    pub window: Option<f64>,
    /// Sending rate, if the protocol sets one.
    pub rate: Option<Rate>,
    /// Where in its life it is.
    pub phase: Phase,
}

/// The phases of the protocols' state machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Phase {
    /// Looking for the capacity for the first time.
    SlowStart,
    /// A window protocol near its capacity.
    CongestionAvoidance,
    /// Growing by the most that it may per round trip (BIC).
    AdditiveIncrease,
    /// Searching between the window of the last loss and what that left (BIC).
    BinarySearch,
    /// Beyond the window of the last loss, looking for the next, slowly at first (BIC).
    MaxProbing,
    /// Probing with every packet (RAPID).
    Probing,
    /// Repairing a loss.
    Recovery,
    /// Emptying the queue that looking for the capacity has left (BBR).
    Drain,
    /// A little slower than what the path delivers, to empty the queue of a probe (BBR).
    ProbeDown,
    /// As fast as the path delivers (BBR).
    Cruise,
    /// The same, to fill the path before a probe (BBR).
    Refill,
    /// Faster than the path delivered, to find out if there is more (BBR).
    ProbeUp,
    /// Little in flight, to see the round-trip time without a queue (BBR).
    ProbeRtt,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::SlowStart => "slow-start",
            Phase::CongestionAvoidance => "congestion-avoidance",
            Phase::AdditiveIncrease => "additive-increase",
            Phase::BinarySearch => "binary-search",
            Phase::MaxProbing => "max-probing",
            Phase::Probing => "probing",
            Phase::Recovery => "recovery",
            Phase::Drain => "drain",
            Phase::ProbeDown => "probe-down",
            Phase::Cruise => "cruise",
            Phase::Refill => "refill",
            Phase::ProbeUp => "probe-up",
            Phase::ProbeRtt => "probe-rtt",
        })
    }
}
