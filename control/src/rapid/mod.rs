//! RAPID: every packet probes. The sender transmits in p-streams whose rates rise around the average it wants; the receiver
//! finds the rate at which they begin to queue; the average follows that.
//!
//! Two versions: RAPID-2009 (Konda and Kaur, "RAPID: Shrinking the Congestion-control Timescale") and PACKET-SCALE-2017
//! (Lovewell et al., "Packet-Scale Congestion Control Paradigm"). They differ in parameters, in the stream's layout and in
//! slow start, not in the machine.

mod errors;
mod estimate;
mod filter;
mod gentle;
mod hybrid;
mod missing;
mod sender;
mod smooth;
mod spread;
mod standing;
mod stream;

pub use errors::Errors;
pub use estimate::{Analyser, Estimator, Sample, lulls, onset, pathchirp};
pub use filter::Filter;
pub use gentle::{Gentle, Known, Rules};
pub use hybrid::{Fallback, Hybrid, PacketScale};
pub use sender::{Follow, Machine, Settings, SlowStart};
pub use spread::Spread;
pub use stream::{Layout, Stream};

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Receiver, Sender};
use crate::units::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of both versions.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(inline)]
pub struct Rapid {
    /// Packets in a p-stream (N)
    pub stream: u16,
    /// Spread factor (m): the rate of a packet over that of the one before it
    pub spread: f64,
    /// Time over which an increase of the available bandwidth is adopted
    pub tau: Duration,
    /// Number of p-streams over which a decrease is adopted
    pub eta: f64,
    /// Factor on the average rate after a loss
    pub beta: f64,
    /// Rate of the first packets
    pub initial_rate: Rate,
    /// How the receiver draws an estimate from a stream
    pub estimator: Estimator,
    /// One-way delays that differ by no more count as equal: the receiver's clock
    pub resolution: Duration,
    /// Packets that arrive no further apart, after a gap eight times as long, were held back by a host or card: the analysis
    /// smooths that; zero: it does not
    pub smoothing: Duration,
}

/// Of the 2009 paper: sections III-A and III-B.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Rapid2009(pub Rapid);

impl Default for Rapid {
    /// PACKET-SCALE-2017, table I.
    fn default() -> Rapid {
        Rapid {
            stream: 90,
            spread: 1.039,
            tau: Duration::from_millis(250),
            eta: 1.5,
            beta: 0.5,
            initial_rate: Rate::from_mbps(1.0),
            estimator: Estimator::Onset,
            resolution: RESOLUTION,
            smoothing: SMOOTHING,
        }
    }
}

impl Default for Rapid2009 {
    fn default() -> Rapid2009 {
        Rapid2009(Rapid {
            stream: 30,
            spread: 1.07,
            tau: Duration::from_millis(200),
            eta: 1.0,
            initial_rate: Rate::from_mbps(0.1),
            ..Rapid::default()
        })
    }
}

/// Software hands on a batch of packets in fractions of that per packet; queues of up to 8 Gbps take longer (1000 B).
pub(crate) const SMOOTHING: Duration = Duration::from_micros(1);

/// Rounding of each time to picoseconds adds up to some of them.
const RESOLUTION: Duration = Duration(50);

/// The highest over the lowest rate of a stream must be a number to speak of.
pub(crate) fn check_range(stream: u16, spread: f64) -> Result<(), String> {
    within("the highest over the lowest rate of a stream", libm::pow(spread, stream as f64), 1.0..=1e12)
}

impl Rapid {
    fn machine(&self, packet: Bytes, layout: Layout, slow_start: SlowStart) -> Machine {
        Machine::new(Settings {
            packet,
            len: self.stream,
            spread: Spread::fixed(self.spread),
            layout,
            slow_start,
            initial_rate: self.initial_rate,
            beta: self.beta,
            follow: Follow::Papers(Filter { tau: self.tau, eta: self.eta }),
            errors: Errors::up_to(0.0),
        })
    }
}

impl Rapid {
    fn machine_of_2017(&self, packet: Bytes) -> Machine {
        self.machine(packet, Layout::AllRising, SlowStart::PACKET_SCALE_2017)
    }
}

impl Protocol for Rapid {
    fn check(&self) -> Result<(), String> {
        within("stream", self.stream as f64, 3.0..=10_000.0)?;
        within("spread", self.spread, 1.0001..=4.0)?;
        check_range(self.stream, self.spread)?;
        within("resolution", self.resolution.as_secs(), 0.0..=0.1)?;
        within("smoothing", self.smoothing.as_secs(), 0.0..=0.1)?;
        within("tau", self.tau.as_secs(), 1e-6..=1e6)?;
        within("eta", self.eta, 1.0..=1e6)?;
        within("beta", self.beta, 0.01..=1.0)?;
        within("initial-rate", self.initial_rate.as_bps(), 1e3..=1e15)
    }

    fn sender(&self, packet: Bytes) -> Box<dyn Sender> {
        Box::new(self.machine_of_2017(packet))
    }

    fn receiver(&self) -> Option<Box<dyn Receiver>> {
        let longest = self.stream.max(SlowStart::PACKET_SCALE_2017.longest);
        Some(Box::new(Analyser::new(self.estimator, self.resolution, self.smoothing, longest as usize)))
    }
}

impl Protocol for Rapid2009 {
    fn check(&self) -> Result<(), String> {
        self.0.check()
    }

    fn sender(&self, packet: Bytes) -> Box<dyn Sender> {
        Box::new(self.0.machine(packet, Layout::AverageFirst, SlowStart::RAPID_2009))
    }

    fn receiver(&self) -> Option<Box<dyn Receiver>> {
        self.0.receiver()
    }
}
