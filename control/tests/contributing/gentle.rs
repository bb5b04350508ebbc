//! Gentle: `step` packets more per round trip, a quarter less on a loss (Author, "Title", Venue year).
use crate::parameters::within;
use crate::window::{Window, WindowRule};
use crate::{Ack, Conditions, Protocol, Sender, Time};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Gentle {
        /// Growth per round trip, in packets
        pub step: f64,
    }
}

impl Protocol for Gentle {
    fn check(&self) -> Result<(), String> {
        within("step", self.step, 0.0..=100.0)
    }
    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Window::new(self.clone(), 2.0, host.packet))
    }
}

impl WindowRule for Gentle {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        self.step / w // equation 3
    }
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        0.75 * w // equation 4
    }
}
