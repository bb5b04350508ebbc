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

use crate::registry::Protocol;
use crate::roles::{Conditions, Receiver, Sender};
use crate::setting::Setting;
use crate::units::{Duration, Rate};
use crate::window::within;
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
    /// How the receiver draws an estimate from a stream; `auto`: by its onset on a host whose times are exact, by regression elsewhere
    pub estimator: Setting<Estimator>,
    /// One-way delays that differ by no more count as equal; `auto`: 50 ps or, if that is more, how exact the receiver's host is
    pub resolution: Setting<Duration>,
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
            estimator: Setting::Auto,
            resolution: Setting::Auto,
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

/// The resolution to analyse delays with at such a host.
pub(crate) fn resolution(setting: Setting<Duration>, host: &Conditions) -> Duration {
    setting.or(host.timing.max(RESOLUTION))
}

/// The estimator to analyse delays with at such a host, where `exact` suits an exact one. Where packets are late by a quarter of a gap, for which no
/// card is to blame that holds them back, an onset is lost in the noise and a line through the whole stream is not.
pub(crate) fn estimator(setting: Setting<Estimator>, host: &Conditions, exact: Estimator) -> Estimator {
    setting.or(if host.is_exact() { exact } else { Estimator::Regression })
}

/// Whether a resolution is one that can be used.
pub(crate) fn check_resolution(setting: Setting<Duration>) -> Result<(), String> {
    within("resolution", setting.or(RESOLUTION).as_secs(), 0.0..=0.1)
}

/// The highest over the lowest rate of a stream must be a number to speak of.
pub(crate) fn check_range(stream: u16, spread: f64) -> Result<(), String> {
    within("the highest over the lowest rate of a stream", libm::pow(spread, stream as f64), 1.0..=1e12)
}

impl Rapid {
    fn machine(&self, host: &Conditions, layout: Layout, slow_start: SlowStart) -> Machine {
        Machine::new(Settings {
            packet: host.packet,
            exact: host.is_exact(),
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
    fn machine_of_2017(&self, host: &Conditions) -> Machine {
        self.machine(host, Layout::AllRising, SlowStart::PACKET_SCALE_2017)
    }
}

impl Protocol for Rapid {
    fn check(&self) -> Result<(), String> {
        within("stream", self.stream as f64, 3.0..=10_000.0)?;
        within("spread", self.spread, 1.0001..=4.0)?;
        check_range(self.stream, self.spread)?;
        check_resolution(self.resolution)?;
        within("smoothing", self.smoothing.as_secs(), 0.0..=0.1)?;
        within("tau", self.tau.as_secs(), 1e-6..=1e6)?;
        within("eta", self.eta, 1.0..=1e6)?;
        within("beta", self.beta, 0.01..=1.0)?;
        within("initial-rate", self.initial_rate.as_bps(), 1e3..=1e15)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(self.machine_of_2017(host))
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        let longest = self.stream.max(SlowStart::PACKET_SCALE_2017.longest);
        let (estimator, resolution) =
            (estimator(self.estimator, host, Estimator::Onset), resolution(self.resolution, host));
        Some(Box::new(Analyser::new(estimator, resolution, self.smoothing, longest as usize)))
    }
}

impl Protocol for Rapid2009 {
    fn check(&self) -> Result<(), String> {
        self.0.check()
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(self.0.machine(host, Layout::AverageFirst, SlowStart::RAPID_2009))
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        self.0.receiver(host)
    }
}
