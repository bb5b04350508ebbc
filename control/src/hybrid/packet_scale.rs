//! The packet-scale protocols to choose from.

use crate::rapid::{Rapid, RapidSender};
use crate::roles::{Conditions, Sender, State};
use crate::thalweg::{ErrorShare, LossClassifier, Thalweg, ThalwegSender};
use crate::units::{Duration, Rate, Time};
use alloc::boxed::Box;

/// Which packet-scale protocol takes over on large paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "registry", derive(schemars::JsonSchema))]
pub enum PacketScale {
    /// PACKET-SCALE-2017.
    Rapid,
    /// The project's own.
    Thalweg,
}

/// The sender of a packet-scale protocol, with its source's parameters.
pub(super) enum PacketScaleSender {
    Rapid(Box<RapidSender>),
    Thalweg(Box<ThalwegSender>),
}

/// The project's own protocol beside a window protocol. It does not lower its rate to find out which losses are errors:
/// where much is lost, the window protocol is in charge.
pub(super) fn thalweg() -> Thalweg {
    Thalweg { most_errors: 0.0, loss_gain: 0.0, ..Thalweg::default() }
}

impl PacketScale {
    /// The sender on such a host.
    pub(super) fn sender(self, host: &Conditions) -> PacketScaleSender {
        match self {
            PacketScale::Rapid => {
                PacketScaleSender::Rapid(Box::new(RapidSender::new(Rapid::default().version(), host)))
            }
            PacketScale::Thalweg => PacketScaleSender::Thalweg(Box::new(thalweg().thalweg_sender(host))),
        }
    }

    /// Which losses the protocol puts down to transmission errors. RAPID knows none.
    pub(super) fn classifier(self) -> LossClassifier {
        match self {
            PacketScale::Rapid => LossClassifier::new(ErrorShare::new(0.0, 0.0)),
            PacketScale::Thalweg => thalweg().classifier(),
        }
    }
}

impl PacketScaleSender {
    /// Takes over, now, from a window protocol that sent at `rate`, with what `classifier` has seen of the path. If the
    /// window protocol was in a slow start that nothing had stopped, `thalweg` goes on climbing fast.
    pub fn take_over(&mut self, now: Time, rate: Rate, rtt: Duration, classifier: &LossClassifier, is_unstopped: bool) {
        match self {
            PacketScaleSender::Rapid(sender) => sender.take_over(now, rate, rtt),
            PacketScaleSender::Thalweg(sender) => sender.take_over(now, rate, rtt, classifier, is_unstopped),
        }
    }

    /// Whether it reduces its rate for as long as a queue stands, whoever fills it. `thalweg` does, RAPID does not.
    pub fn gives_way(&self) -> bool {
        matches!(self, PacketScaleSender::Thalweg(_))
    }

    /// The mean rate at which it sends.
    pub fn average(&self) -> Rate {
        match self {
            PacketScaleSender::Rapid(sender) => sender.average(),
            PacketScaleSender::Thalweg(sender) => sender.average(),
        }
    }

    /// Whether the host sends about when the protocol says.
    pub fn keeps_times(&self) -> bool {
        match self {
            PacketScaleSender::Rapid(sender) => sender.keeps_times(),
            PacketScaleSender::Thalweg(sender) => sender.keeps_times(),
        }
    }

    /// The sender.
    pub fn as_sender(&mut self) -> &mut dyn Sender {
        match self {
            PacketScaleSender::Rapid(sender) => &mut **sender,
            PacketScaleSender::Thalweg(sender) => &mut **sender,
        }
    }

    /// What the sender is doing.
    pub fn state(&self) -> State {
        match self {
            PacketScaleSender::Rapid(sender) => sender.state(),
            PacketScaleSender::Thalweg(sender) => sender.state(),
        }
    }

    /// The newest estimate of the available bandwidth.
    pub fn available(&self) -> Option<Rate> {
        match self {
            PacketScaleSender::Rapid(sender) => sender.available(),
            PacketScaleSender::Thalweg(sender) => sender.available(),
        }
    }
}
