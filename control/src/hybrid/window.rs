//! The window protocols to choose from.

use crate::bic::{self, Bic};
use crate::cubic::{self, Cubic};
use crate::highspeed::{self, HighSpeed};
use crate::reno;
use crate::roles::{Sender, State};
use crate::units::Bytes;
use crate::window::{Law, Window};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which window protocol a hybrid begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// RFC 9438.
    Cubic,
    /// BIC-2004.
    Bic,
    /// RFC 3649.
    HighSpeed,
    /// RFC 5681.
    Reno,
}

/// The sender of a window protocol, with its source's parameters.
pub(super) enum WindowSender {
    Cubic(Window<cubic::Curve>),
    Bic(Window<bic::Search>),
    HighSpeed(Window<highspeed::Response>),
    Reno(Window<reno::Halve>),
}

impl WindowSender {
    /// A sender in slow start from `initial` to `ssthresh` packets.
    pub fn new(which: Fallback, initial: f64, ssthresh: f64, packet: Bytes) -> WindowSender {
        fn window<L: Law>(law: L, initial: f64, ssthresh: f64, packet: Bytes) -> Window<L> {
            Window::new(law, initial, packet).slow_start_to(ssthresh)
        }
        match which {
            Fallback::Cubic => {
                let curve = cubic::Curve::new(&Cubic::default(), packet);
                WindowSender::Cubic(window(curve, initial, ssthresh, packet))
            }
            Fallback::Bic => {
                let search = bic::Search::new(&Bic::default());
                WindowSender::Bic(window(search, initial, ssthresh, packet))
            }
            Fallback::HighSpeed => {
                let response = highspeed::Response::new(&HighSpeed::default());
                WindowSender::HighSpeed(window(response, initial, ssthresh, packet))
            }
            Fallback::Reno => WindowSender::Reno(window(reno::Halve, initial, ssthresh, packet)),
        }
    }

    /// The sender.
    pub fn as_sender(&mut self) -> &mut dyn Sender {
        match self {
            WindowSender::Cubic(window) => window,
            WindowSender::Bic(window) => window,
            WindowSender::HighSpeed(window) => window,
            WindowSender::Reno(window) => window,
        }
    }

    /// What the sender is doing.
    pub fn state(&self) -> State {
        match self {
            WindowSender::Cubic(window) => window.state(),
            WindowSender::Bic(window) => window.state(),
            WindowSender::HighSpeed(window) => window.state(),
            WindowSender::Reno(window) => window.state(),
        }
    }
}
