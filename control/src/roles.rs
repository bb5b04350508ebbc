//! The three parties of a congestion control protocol: [`Sender`], [`Receiver`] and [`Router`]. Each is a small state
//! machine, which is told events and returns decisions.
//!
//! A host (simulated or QUIC) owns reliability: it numbers packets, detects loss and repairs it. It tells the
//! [`Sender`] what happened and asks when the next packet may leave; it never asks which protocol it runs.
//!
//! # The contract between a host and a sender
//!
//! Every host keeps these rules, and a sender may rely on them. [`contract::checked`](crate::contract::checked) checks
//! them in the hosts' tests.
//!
//! - **Conditions.** The host states what it can do ([`Conditions`]) when the parties are made. That does not change
//!   during the flow; in particular, a full packet ([`Pipe::packet`]) always has the same size.
//! - **Time.** The times of [`Sender::next`] and [`Sender::on_send`] never go back, nor do the times of the other
//!   calls. A host that sends what is due within its quantum together states when each packet was due, so times
//!   passed to [`Sender::next`] and [`Sender::on_send`] may be later than the time of the other calls.
//! - **Opening.** [`Sender::open`] (once per packet that asks for the connection) and [`Sender::on_open`] come before
//!   the first [`Sender::next`], or not at all.
//! - **Sending.** [`Sender::on_send`] follows [`Sender::next`] at once, with the same time and [`Pipe`]. After
//!   [`Next::Now`] the packet leaves. After [`Next::At`] none leaves before that time. After [`Next::AfterAck`] three
//!   kinds of packet may leave all the same: the first repair of a loss event (RFC 6675, section 5), probes after a
//!   timeout (RFC 9002, section 7.5), and a packet that carries an acknowledgment the peer waits for. [`Sender::next`]
//!   may be asked any number of times.
//! - **Loss.** A loss event ([`Loss::Event`]) is told once per window of data: further packets that are lost belong to
//!   it if they were sent before it was told. After a timeout ([`Loss::Timeout`]) nothing is in flight, and what was
//!   sent before it causes no loss event; another timeout comes only after another packet was sent.
//! - **Order.** If an acknowledgment reveals a loss event, [`Sender::on_loss`] comes first, [`Sender::on_ack`] next,
//!   and nothing in between. A loss event that a timer revealed comes alone.
//! - **Idle periods.** Between [`Sender::on_idle`] and the next packet, nothing is in flight. A host that does not
//!   restart idle connections never calls it.
//! - **Marks.** [`Ack::marked`] counts packets that queues have marked (ECN); a mark is no loss, and causes neither a
//!   loss event nor a recovery. A sender reacts to marks at most once per window of data (RFC 3168, section 6.1.2): a
//!   packet that was sent at or after the last reaction is acknowledged first, which [`Ack::rtt`] tells. Packets are
//!   ECN-capable only if the protocol says that its senders react (`ecn` in the registry).
//! - **Repetition.** Each byte is counted in [`Ack::acked`] and in [`Ack::lost`] at most once each time it is sent. A
//!   report may come any number of times, and after newer ones.
//! - **Units.** Sizes are bytes of packets as the host puts them on the wire; rates count the same bytes. Times come
//!   from the host's own clock, in picoseconds; a receiver's clock may differ from its sender's by any constant.
//!
//! A receiver sees every packet that arrives with a stamp, in the order of arrival; packets may be missing, duplicated
//! or reordered. A host passes each new report on until the next one.

use crate::units::{Bytes, Duration, Rate, Time};
use core::fmt;

/// What a host can do. The host states it when a protocol's parties are made ([`crate::Protocol`]), so that they suit a
/// host without knowing which one it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Bytes that a full packet takes on the wire.
    pub packet: Bytes,
    /// The largest difference between the times that the host states and the times at which packets really leave and
    /// arrive. It comes from scheduling, batches and clocks. Zero in the simulator, whose times are exact.
    pub timing_error: Duration,
    /// The shortest time between two departures that the host can keep, its *quantum*. Packets that are to leave less
    /// than a quantum apart leave together, as one burst. Zero for a host that can time any gap, as the simulator can.
    pub quantum: Duration,
    /// The host spaces the packets of window protocols over the round-trip time (RFC 9002, section 7.7).
    pub paced: bool,
}

impl Conditions {
    /// The conditions of a host whose times are exact, with packets of this size.
    pub fn exact(packet: Bytes) -> Conditions {
        Conditions { packet, timing_error: Duration::ZERO, quantum: Duration::ZERO, paced: false }
    }

    /// Whether packets leave and arrive exactly at the times that the host tells.
    pub fn is_exact(&self) -> bool {
        self.timing_error == Duration::ZERO
    }
}

/// The party at the source. It decides when the next packet may leave, and what is stamped on it.
pub trait Sender: Send {
    /// Returns the stamp of a packet that asks the peer to open the connection, and carries no data. A host calls this
    /// once per such packet, which may be never.
    fn open(&mut self, _now: Time) -> Stamp {
        Stamp::None
    }

    /// The peer answered such a packet after `rtt`, with the receiver's report on its stamp.
    fn on_open(&mut self, _now: Time, _rtt: Duration, _report: Option<Report>) {}

    /// Returns when the next packet may leave. A host asks whenever there is something to send: after each packet that
    /// is sent, each acknowledgment and each loss, and at the time of an earlier [`Next::At`].
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next;

    /// The congestion window in bytes, while it alone decides when packets leave. Then [`Sender::next`] answers
    /// [`Next::Now`] if a full packet more would still fit into the window and [`Next::AfterAck`] if not, and packets
    /// carry no stamp. A transport that enforces a window itself need not ask for each packet.
    fn window(&self) -> Option<Bytes> {
        None
    }

    /// Whether the host is to find out by F-RTO (RFC 5682) if a retransmission timeout was spurious, and to tell of
    /// that by [`Ack::spurious_timeout`]. A host that cannot, as QUIC's with quinn cannot, tells of none. The answer
    /// never changes.
    fn frto(&self) -> bool {
        false
    }

    /// A packet of `size` leaves now, and `pipe` is without it. Returns the packet's stamp.
    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp;

    /// An acknowledgment arrived. If it revealed a loss event, [`Sender::on_loss`] was called before.
    fn on_ack(&mut self, now: Time, ack: &Ack);

    /// Packets were lost. A host calls this once per loss event, which is once per window of data, and once per
    /// retransmission timeout.
    fn on_loss(&mut self, now: Time, loss: &Loss);

    /// The host has sent nothing for longer than the retransmission timeout, as it had nothing to send, and is about to
    /// send again (RFC 5681, section 4.1). A window protocol begins again with a small window. A protocol that sets a
    /// rate has its own way to send after an idle period, and need not react.
    fn on_idle(&mut self, _now: Time) {}

    /// What the sender is doing, for traces and plots.
    fn state(&self) -> State;

    /// The newest estimate of the available bandwidth, if the protocol makes estimates; for traces and plots, too.
    fn available(&self) -> Option<Rate> {
        None
    }

    /// The slow-start threshold (RFC 5681), in packets, if the protocol has one; infinite before the first loss. For
    /// traces, too.
    fn slow_start_threshold(&self) -> Option<f64> {
        None
    }
}

/// The party at the destination. It sees packets arrive. Every acknowledgment repeats the newest report, so a lost
/// acknowledgment does no harm. Most protocols have no receiver.
pub trait Receiver: Send {
    /// A packet of `size` arrived that the same protocol's sender stamped. Returns a report if there is a new one.
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report>;
}

/// The party at a queue. It sees every packet pass and may rewrite its stamp. Most protocols have no router.
///
/// Acknowledgments and packets of other traffic pass with [`Stamp::None`]; a stamp that is written on these is
/// discarded.
pub trait Router: Send {
    /// A packet arrives at the queue, in which `backlog` bytes wait. The queue may drop it afterwards.
    fn on_arrival(&mut self, now: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes);

    /// A packet leaves the queue, in which `backlog` bytes remain.
    fn on_departure(&mut self, now: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes);

    /// When [`Router::on_tick`] is due next, if it is.
    fn next_tick(&self) -> Option<Time>;

    /// A control interval ends, while `backlog` bytes wait. Until `until`, which is not before `now`, no packet arrives
    /// or leaves, and the capacity stays the same. So a router that a further interval would leave as it is may skip to
    /// the last interval that ends by then: the work after a long idle time must not grow with that time.
    fn on_tick(&mut self, now: Time, until: Time, backlog: Bytes);

    /// From now on, the link has this capacity.
    fn on_capacity(&mut self, rate: Rate);

    /// What the router is doing, for traces and plots.
    fn state(&self) -> Control;
}

/// The answer to "when may the next packet leave?"
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once.
    Now,
    /// At this time, which is not in the past, unless an acknowledgment or a loss comes before: the host asks again
    /// then.
    At(Time),
    /// After the next acknowledgment, loss or timeout: the host asks again then.
    AfterAck,
}

/// What the host has in the network, and what it has still to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipe {
    /// Bytes of packets sent, and not yet acknowledged or declared lost (RFC 6675's pipe).
    pub in_flight: Bytes,
    /// Bytes still to be sent for the first time; [`Bytes`]`(u64::MAX)` for a source without end.
    pub backlog: Bytes,
    /// Bytes that a full packet takes on the wire.
    pub packet: Bytes,
    /// Whether the next packet is a retransmission.
    pub repairing: bool,
}

/// What one acknowledgment says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Bytes that it acknowledges for the first time, cumulatively or selectively.
    pub acked: Bytes,
    /// Bytes that it reveals to be lost, as later packets have arrived. Bytes that a timeout gave up do not count, even
    /// if the host declares them lost later: [`Loss::Timeout`] has told of them.
    pub lost: Bytes,
    /// Of [`Ack::acked`], bytes that the host had declared lost or given up, and whose original packets have arrived
    /// all the same: they were late or out of order. Zero from a host that cannot tell, as QUIC's with quinn cannot.
    pub spurious: Bytes,
    /// Bytes of packets that queues had marked when they arrived, and of which no acknowledgment has told before (the
    /// CE counts of RFC 9000, section 13.4). Full packets are assumed.
    pub marked: Bytes,
    /// The round-trip time of the packet that it answers, if that was measured.
    pub rtt: Option<Duration>,
    /// Bytes in flight after it.
    pub in_flight: Bytes,
    /// Whether the host is still repairing a loss, so that a window does not grow.
    pub recovery: bool,
    /// Whether it shows that the last retransmission timeouts were spurious (RFC 5682): what they gave up was late and
    /// not lost, and is in flight again. Told once, and only to senders with [`Sender::frto`].
    pub spurious_timeout: bool,
    /// Whether the data or the receiver's window, not the controller, holds the sender back.
    pub app_limited: bool,
    /// The report of the receiver that it carries; the same one may come many times.
    pub report: Option<Report>,
}

impl Ack {
    /// How many packets of `size` the bytes in [`Ack::acked`] are. Most acknowledgments tell of one packet, which needs
    /// no division.
    #[inline(always)]
    pub(crate) fn packets(&self, size: Bytes) -> f64 {
        if self.acked == size { 1.0 } else { self.acked.0 as f64 / size.0 as f64 }
    }
}

/// How a loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Later packets arrived (fast retransmit), or a timer found a packet overdue (RFC 9002, section 6.1.2): recovery
    /// begins.
    Event,
    /// No acknowledgment arrived within the retransmission timeout (RFC 6298).
    Timeout,
}

/// The stamp: what a sender writes on a packet, for the protocol's receiver and routers to read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(u32)] // so that what follows the tag is aligned, and copied in few instructions
pub enum Stamp {
    /// Nothing.
    #[default]
    None,
    /// A packet of a p-stream (RAPID, thalweg).
    Probe {
        /// The number of the stream; streams count up, modulo 2^32.
        stream: u32,
        /// The index of the packet in the stream, from 0.
        index: u16,
        /// How many packets the stream has; 0: it is not to be analysed.
        len: u16,
        /// The packet's rate, which is its size over the gap before it, in bits per second.
        rate: f32,
        /// When it was sent, by the sender's clock. If the sender was late, so is this time, so that the receiver does
        /// not take that for delay.
        sent: Time,
    },
    /// Asks for a rate (RCP).
    Rate {
        /// The least rate that a router on the way allows, in bits per second; infinite before the first router.
        rate: f32,
        /// The sender's round-trip time in seconds; zero if it does not know any.
        rtt: f32,
    },
    /// Asks for a larger window (XCP, RCP-AC).
    Window {
        /// The sender's window, in packets of this one's size; zero on the packet that opens a flow.
        window: f32,
        /// The sender's round-trip time in seconds; zero if it does not know any.
        rtt: f32,
        /// By how many packets the window may grow for this packet; negative: must shrink. It is the least that a
        /// router on the way allows; infinite before the first router.
        feedback: f32,
    },
}

/// What a receiver tells the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Report {
    /// The available bandwidth that a p-stream found (RAPID, thalweg).
    Available {
        /// The number of the stream.
        stream: u32,
        /// The estimate in bits per second, in single precision, as it travels.
        rate: f32,
        /// The time between two batches in which packets arrive, in microseconds, 65,535 for any longer one; 0: they
        /// arrive one by one, or the time is not known.
        interval: u16,
    },
    /// The rate at which packets arrive (RRRP).
    Received {
        /// In bits per second, in single precision, as it travels.
        rate: f32,
    },
    /// The rate that the routers on the way allow (RCP).
    Allowed {
        /// In bits per second, in single precision, as it travels.
        rate: f32,
    },
    /// By how much the window is to differ from the window at the start (XCP, RCP-AC). It is a sum, so that no feedback
    /// is lost with an acknowledgment that is lost or stands for several packets.
    Feedback {
        /// The number of whole packets, modulo 2^32.
        whole: i32,
        /// The fraction of a packet beyond that, 0 to 1.
        part: f32,
    },
}

/// What a router is doing, for traces and plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The rate that it allows each flow, if that is the same for all flows.
    pub rate: Option<Rate>,
    /// By how many bytes the traffic in flight may grow within a control interval, if the router limits that; negative:
    /// must shrink.
    pub growth: Option<f64>,
}

/// What a sender is doing, for traces and plots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// The congestion window in packets, if the protocol has one.
    pub window: Option<f64>,
    /// The sending rate, if the protocol sets one.
    pub rate: Option<Rate>,
    /// The phase of its state machine.
    pub phase: Phase,
}

/// The phases of the protocols' state machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Phase {
    /// Looking for the capacity, for the first time or after a timeout.
    SlowStart,
    /// A window protocol near its capacity.
    CongestionAvoidance,
    /// Growing by the most that it may per round trip (BIC).
    AdditiveIncrease,
    /// Searching between the window at the last loss and the reduced one after it (BIC).
    BinarySearch,
    /// Growing beyond the window at the last loss, slowly at first (BIC).
    MaxProbing,
    /// Probing with every packet (RAPID, thalweg).
    Probing,
    /// Repairing a loss.
    Recovery,
    /// Emptying the queue that slow start has left (BBR).
    Drain,
    /// Sending a little slower than the path delivers, to empty the queue of a probe (BBR).
    ProbeDown,
    /// Sending as fast as the path delivers (BBR).
    Cruise,
    /// Sending as fast as the path delivers, to fill it before a probe (BBR).
    Refill,
    /// Sending faster than the path delivered, to find out whether there is more (BBR).
    ProbeUp,
    /// Keeping little in flight, to see the round-trip time without a queue (BBR, LEDBAT++).
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
