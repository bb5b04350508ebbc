//! Our own: RAPID of 2017 with streams that are no wider than they have to be, gentle steps that tune themselves, and an eye on queues that stand and
//! on delays beneath those that other traffic adds, so that from two flows to a thousand neither oscillate nor fill the buffer, and one flow loses nothing of its speed; also not to transmission errors.

use crate::rapid::{
    self, Analyser, Errors, Estimator, Follow, Gentle, Layout, Machine, Rules, Settings, SlowStart, Spread,
};
use crate::registry::Protocol;
use crate::roles::{Conditions, Receiver, Sender};
use crate::setting::Setting;
use crate::units::{Duration, Rate};
use crate::window::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Thalweg {
    /// Packets in a p-stream (N)
    pub stream: u16,
    /// Spread factor (m), the rate of a packet over that of the one before it: at the start and when an estimate reaches the
    /// edge of a stream's rates
    pub widest: f64,
    /// Least spread factor
    pub narrowest: f64,
    /// Factor on m - 1 per estimate within a stream's rates
    pub narrowing: f64,
    /// Time over which an increase of the available bandwidth is adopted
    pub tau: Duration,
    /// Time over which a decrease is adopted and a standing queue drained; a p-stream lasts no longer, unless it then had fewer than 20 packets
    pub fall: Duration,
    /// Number of full p-streams over which a decrease is adopted, at least
    pub eta: f64,
    /// The same, at most
    pub slowest_eta: f64,
    /// A queue that stands and delays packets by no more is none
    pub tolerance: Duration,
    /// Factor on the average rate after a loss
    pub beta: f64,
    /// Up to this share of packets, losses beside a short queue are put down to transmission errors: repaired, and no more
    pub errors: f64,
    /// Rate of the first packets
    pub initial_rate: Rate,
    /// The most by which the average rate may aim above itself, as a multiple of itself (kappa): at the start and at most
    pub highest_step: f64,
    /// The same, at least
    pub lowest_step: f64,
    /// The geometric mean of this and the average rate is added to that
    pub step_floor: Rate,
    /// An estimate below this share of the average rate is a collapse
    pub collapse: f64,
    /// Factor on kappa upon a collapse, once per round trip
    pub back_off: f64,
    /// Growth of kappa per tau otherwise
    pub regrow: f64,
    /// How the receiver draws an estimate from a stream; `auto`: by its lulls on a host whose times are exact, by regression elsewhere
    pub estimator: Setting<Estimator>,
    /// One-way delays that differ by no more count as equal; `auto`: 50 ps or, if that is more, how exact the receiver's host is
    pub resolution: Setting<Duration>,
    /// Packets that arrive no further apart, after a gap eight times as long, were held back by a host or card: the analysis
    /// smooths that; zero: it does not
    pub smoothing: Duration,
}

impl Default for Thalweg {
    fn default() -> Thalweg {
        Thalweg {
            stream: 60,
            widest: 1.025,
            narrowest: 1.01,
            narrowing: 0.99,
            tau: Duration::from_millis(250),
            fall: Duration::from_millis(125),
            eta: 2.0,
            slowest_eta: 33.0,
            tolerance: Duration::from_millis(1),
            beta: 0.5,
            errors: 0.02,
            initial_rate: Rate::from_mbps(1.0),
            highest_step: 8.0,
            lowest_step: 0.01,
            step_floor: Rate::from_mbps(0.001),
            collapse: 0.8,
            back_off: 0.5,
            regrow: 0.02,
            estimator: Setting::Auto,
            resolution: Setting::Auto,
            smoothing: rapid::SMOOTHING,
        }
    }
}

impl Thalweg {
    /// Its sender.
    pub(crate) fn machine(&self, host: &Conditions) -> Machine {
        let gentle = Gentle::new(Rules {
            tau: self.tau,
            fall: self.fall,
            eta: (self.eta, self.slowest_eta),
            kappa: (self.lowest_step, self.highest_step),
            floor: self.step_floor,
            collapse: self.collapse,
            back_off: self.back_off,
            regrow: self.regrow,
            tolerance: self.tolerance,
        });
        Machine::new(Settings {
            packet: host.packet,
            exact: host.is_exact(),
            len: self.stream,
            spread: Spread::adaptive(self.widest, self.narrowest, self.narrowing),
            layout: Layout::AllRising,
            slow_start: SlowStart::PACKET_SCALE_2017,
            initial_rate: self.initial_rate,
            beta: self.beta,
            follow: Follow::Gently(gentle),
            errors: Errors::up_to(self.errors),
        })
    }
}

impl Protocol for Thalweg {
    fn check(&self) -> Result<(), String> {
        within("stream", self.stream as f64, 3.0..=10_000.0)?;
        within("widest", self.widest, 1.0001..=4.0)?;
        within("narrowest", self.narrowest, 1.0001..=self.widest)?;
        within("narrowing", self.narrowing, 0.0..=1.0)?;
        rapid::check_range(self.stream, self.widest)?;
        rapid::check_resolution(self.resolution)?;
        within("smoothing", self.smoothing.as_secs(), 0.0..=0.1)?;
        within("tau", self.tau.as_secs(), 1e-6..=1e6)?;
        within("fall", self.fall.as_secs(), 1e-6..=1e6)?;
        within("eta", self.eta, 1.0..=1e6)?;
        within("slowest-eta", self.slowest_eta, self.eta..=1e6)?;
        within("tolerance", self.tolerance.as_secs(), 0.0..=10.0)?;
        within("step-floor", self.step_floor.as_bps(), 0.0..=1e15)?;
        within("beta", self.beta, 0.01..=1.0)?;
        within("errors", self.errors, 0.0..=1.0)?;
        within("initial-rate", self.initial_rate.as_bps(), 1e3..=1e15)?;
        within("lowest-step", self.lowest_step, 1e-6..=1e6)?;
        within("highest-step", self.highest_step, self.lowest_step..=1e6)?;
        within("collapse", self.collapse, 0.0..=1.0)?;
        within("back-off", self.back_off, 0.01..=1.0)?;
        within("regrow", self.regrow, 0.0..=100.0)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(self.machine(host))
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        let longest = self.stream.max(SlowStart::PACKET_SCALE_2017.longest) as usize;
        let estimator = rapid::estimator(self.estimator, host, Estimator::Lulls);
        let resolution = rapid::resolution(self.resolution, host);
        Some(Box::new(Analyser::new(estimator, resolution, self.smoothing, longest).tolerant(self.errors)))
    }
}
