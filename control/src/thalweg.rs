//! Our own: RAPID of 2017 with a narrower stream and a self-tuning limit on how fast it climbs, so that many flows neither
//! oscillate nor fill the buffer, and one flow loses nothing of its speed.

use crate::rapid::{Analyser, Estimator, Filter, Layout, Machine, SlowStart, StepLimit};
use crate::registry::Protocol;
use crate::roles::{Receiver, Sender};
use crate::units::{Bytes, Duration, Rate};
use crate::window::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Thalweg {
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
    /// The most by which the average rate may aim above itself, as a multiple of itself (kappa): at the start and at most
    pub highest_step: f64,
    /// The same, at least
    pub lowest_step: f64,
    /// What is added to that
    pub step_floor: Rate,
    /// Factor on kappa when an estimate is less than half the average rate
    pub back_off: f64,
    /// Growth of kappa per tau otherwise
    pub regrow: f64,
    /// One-way delays that differ by no more count as equal: the receiver's clock
    pub resolution: Duration,
}

impl Default for Thalweg {
    fn default() -> Thalweg {
        Thalweg {
            stream: 90,
            spread: 1.03,
            tau: Duration::from_millis(250),
            eta: 1.5,
            beta: 0.5,
            initial_rate: Rate::from_mbps(1.0),
            highest_step: 8.0,
            lowest_step: 0.1,
            step_floor: Rate::from_mbps(1.0),
            back_off: 0.7,
            regrow: 0.02,
            resolution: Duration(50),
        }
    }
}

impl Protocol for Thalweg {
    fn check(&self) -> Result<(), String> {
        within("stream", self.stream as f64, 3.0..=10_000.0)?;
        within("spread", self.spread, 1.0001..=4.0)?;
        within("tau", self.tau.as_secs(), 1e-6..=1e6)?;
        within("eta", self.eta, 1.0..=1e6)?;
        within("beta", self.beta, 0.01..=1.0)?;
        within("initial-rate", self.initial_rate.as_bps(), 1e3..=1e15)?;
        within("lowest-step", self.lowest_step, 0.0..=1e6)?;
        within("highest-step", self.highest_step, self.lowest_step..=1e6)?;
        within("back-off", self.back_off, 0.01..=1.0)?;
        within("regrow", self.regrow, 0.0..=100.0)
    }

    fn sender(&self, packet: Bytes) -> Box<dyn Sender> {
        let limit = StepLimit::new(self.lowest_step, self.highest_step, self.step_floor, self.back_off, self.regrow);
        let filter = Filter { tau: self.tau, eta: self.eta, limit: Some(limit) };
        let slow_start = SlowStart::PACKET_SCALE_2017;
        Box::new(Machine::new(
            packet,
            self.stream,
            self.spread,
            Layout::AllRising,
            slow_start,
            self.initial_rate,
            self.beta,
            filter,
        ))
    }

    fn receiver(&self) -> Option<Box<dyn Receiver>> {
        let longest = self.stream.max(SlowStart::PACKET_SCALE_2017.longest) as usize;
        Some(Box::new(Analyser::new(Estimator::Onset, self.resolution, longest)))
    }
}
