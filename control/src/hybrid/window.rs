//! The window protocols to choose from.

use crate::bic::{self, Bic};
use crate::cubic::{self, Cubic};
use crate::extensions::Extensions;
use crate::highspeed::{self, HighSpeed};
use crate::reno::Reno;
use crate::roles::{Conditions, Sender, State};
use crate::slow_start::SlowStart;
use crate::standard::StandardRule;
use crate::units::Bytes;
use crate::window::{Window, WindowRule};

/// Which window protocol a hybrid begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "registry", derive(schemars::JsonSchema))]
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
    Cubic(Window<cubic::CubicRule>),
    Bic(Window<bic::BicRule>),
    HighSpeed(Window<highspeed::HighSpeedRule>),
    Reno(Window<StandardRule>),
}

impl WindowSender {
    /// A sender at the flow's start, whose slow start ends as `slow_start` says.
    pub fn new(which: Fallback, slow_start: SlowStart, host: &Conditions) -> WindowSender {
        fn window<R: WindowRule>(rule: R, slow_start: SlowStart, host: &Conditions) -> Window<R> {
            let window = Window::new(rule, Reno::default().initial_window, host.packet);
            window.extended(Extensions::of(slow_start, host))
        }
        match which {
            Fallback::Cubic => {
                let rule = cubic::CubicRule::new(&Cubic::default(), host.packet);
                WindowSender::Cubic(window(rule, slow_start, host))
            }
            Fallback::Bic => {
                let rule = bic::BicRule::new(&Bic::default());
                WindowSender::Bic(window(rule, slow_start, host))
            }
            Fallback::HighSpeed => {
                let rule = highspeed::HighSpeedRule::new(&HighSpeed::default());
                WindowSender::HighSpeed(window(rule, slow_start, host))
            }
            Fallback::Reno => WindowSender::Reno(window(StandardRule::default(), slow_start, host)),
        }
    }

    /// Goes on with a window of `cwnd` packets, in slow start up to no more than `ssthresh`.
    pub fn resume(&mut self, cwnd: f64, ssthresh: f64) {
        match self {
            WindowSender::Cubic(window) => window.resume(cwnd, ssthresh),
            WindowSender::Bic(window) => window.resume(cwnd, ssthresh),
            WindowSender::HighSpeed(window) => window.resume(cwnd, ssthresh),
            WindowSender::Reno(window) => window.resume(cwnd, ssthresh),
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

    /// The congestion window.
    pub fn window(&self) -> Option<Bytes> {
        self.shown().window()
    }

    /// Whether this is slow start without a threshold, and nothing has slowed it down.
    pub fn is_unstopped(&self) -> bool {
        match self {
            WindowSender::Cubic(window) => window.is_unstopped(),
            WindowSender::Bic(window) => window.is_unstopped(),
            WindowSender::HighSpeed(window) => window.is_unstopped(),
            WindowSender::Reno(window) => window.is_unstopped(),
        }
    }

    /// Whether the window is below its slow-start threshold, and no loss is being repaired.
    pub fn is_in_slow_start(&self) -> bool {
        match self {
            WindowSender::Cubic(window) => window.is_in_slow_start(),
            WindowSender::Bic(window) => window.is_in_slow_start(),
            WindowSender::HighSpeed(window) => window.is_in_slow_start(),
            WindowSender::Reno(window) => window.is_in_slow_start(),
        }
    }

    /// What the sender is doing.
    pub fn state(&self) -> State {
        self.shown().state()
    }

    /// The slow-start threshold, packets.
    pub fn slow_start_threshold(&self) -> Option<f64> {
        self.shown().slow_start_threshold()
    }

    fn shown(&self) -> &dyn Sender {
        match self {
            WindowSender::Cubic(window) => window,
            WindowSender::Bic(window) => window,
            WindowSender::HighSpeed(window) => window,
            WindowSender::Reno(window) => window,
        }
    }
}
