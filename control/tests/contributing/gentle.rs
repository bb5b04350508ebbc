//! Gentle: `step` packets more per round trip, a quarter less on a loss (Author, "Title", Venue year).
use crate::window::{Law, Window, within};
use crate::{Ack, Conditions, Protocol, Sender, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Gentle {
    /// Growth per round trip, in packets
    pub step: f64,
}

impl Protocol for Gentle {
    fn check(&self) -> Result<(), String> {
        within("step", self.step, 0.0..=100.0)
    }
    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Window::new(self.clone(), 2.0, host.packet))
    }
}

impl Law for Gentle {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        self.step / w // equation 3
    }
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        0.75 * w // equation 4
    }
}
