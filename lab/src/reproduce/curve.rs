//! Curves that need no simulation: formulas of [`theory`], and what controllers' own code computes.

use super::probing::{self, End};
use crate::theory;
use control::rrrp::{Feedback, Function, Rrrp};
use control::{Bytes, Conditions, Duration, Rate, registry};
use serde::Deserialize;

/// A formula, and the name by which claims and figures refer to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Curve {
    /// The name, unique in its artefact.
    pub name: String,
    /// The formula.
    pub law: Law,
    /// The name of another curve that bounds this one from below where it is drawn and compared with runs: TCP's, for a
    /// protocol that behaves as TCP below some window.
    pub at_least: Option<String>,
    /// If given, the curve is mirrored: its value at x is that of the formula at this number less x.
    pub reversed_from: Option<f64>,
}

/// A formula with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Law {
    /// Mean window in packets over the loss event rate, of AIMD with increase `a` and decrease `b`; TCP's are 1 and
    /// 0.5.
    Aimd {
        /// Packets per round trip.
        a: f64,
        /// Share of the window.
        b: f64,
    },
    /// The mean window of HighSpeed TCP, as RFC 3649 prints it.
    Highspeed,
    /// The mean window of HighSpeed TCP with this low window, in packets.
    HighspeedFrom(f64),
    /// The mean window of Scalable TCP.
    Scalable,
    /// The mean window of BIC, by the paper's closed form.
    Bic(theory::Bic),
    /// The mean window of this controller's own sender, if one packet is lost after each 1/p packets.
    Sender(String),
    /// Packets per second over the round-trip time in milliseconds, of a controller's own sender that has a loss event
    /// after each time `every`, however much it sends.
    Synchronised {
        /// The controller.
        sender: String,
        /// The time from one loss event to the next.
        every: Duration,
        /// The number of loss events; what follows the first half of them counts.
        losses: u32,
        /// The window at the first loss, in packets.
        #[serde(default = "first_window")]
        first: f64,
    },
    /// The same for BIC's closed form in place of a sender.
    SynchronisedBic {
        /// The time from one loss event to the next.
        every: Duration,
    },
    /// RRRP's feedback: the congestion aimed at, in per cent, over the rate that arrives, in Mbps. Parameters that are
    /// not given have RRRP's defaults.
    Feedback {
        /// Which of RRRP's functions.
        function: Function,
        /// p_fix or p_Tlim.
        target: Option<f64>,
        /// X_Tlim.
        limit: Option<Rate>,
        /// X_T.
        scale: Option<Rate>,
    },
    /// The loss rate, in per cent, at which a TCP gets a rate, in Mbps.
    TcpLoss {
        /// k, between 1 and 2.
        k: f64,
        /// Size of a packet on the wire.
        packet: Bytes,
        /// Round-trip time.
        rtt: Duration,
    },
    /// A rate of RAPID-2009's streams over the round trips since the first one, as a multiple of the first average.
    RapidStream {
        /// Which rate of the stream.
        end: End,
        /// Whether it is as table III prints it, in place of equations 4 and 5.
        #[serde(default)]
        printed: bool,
    },
    /// The highest rate that RAPID-2009's slow start probes for, in Mbps, over the number of the round trip.
    RapidSlowStart,
}

impl Law {
    fn at(&self, x: f64) -> f64 {
        match self {
            Law::Aimd { a, b } => theory::aimd(*a, *b, x),
            Law::Highspeed => theory::highspeed(x),
            Law::HighspeedFrom(low) => theory::highspeed_from(*low, x),
            Law::Scalable => theory::scalable(x),
            Law::Bic(bic) => bic.mean_window(x),
            Law::Sender(controller) => sender(controller, x).unwrap_or(f64::NAN),
            Law::Synchronised { sender, every, losses, first } => {
                let rtt = Duration::from_secs(x / 1e3);
                synchronised(sender, rtt, *first, *every, *losses).map_or(f64::NAN, |window| window / rtt.as_secs())
            }
            Law::SynchronisedBic { every } => {
                let rtt = x / 1e3;
                theory::synchronised_response(|p| theory::Bic::default().mean_window(p), every.as_secs() / rtt) / rtt
            }
            Law::Feedback { function, target, limit, scale } => {
                let usual = Rrrp::default();
                let target = target.unwrap_or(usual.target);
                let (limit, scale) = (limit.unwrap_or(usual.limit), scale.unwrap_or(usual.scale));
                let feedback = Feedback::new(&Rrrp { function: *function, target, limit, scale, ..usual });
                100.0 * feedback.target(Rate::from_mbps(x))
            }
            Law::TcpLoss { k, packet, rtt } => 100.0 * theory::tcp_loss(*k, *packet, *rtt, Rate::from_mbps(x)),
            Law::RapidStream { end, printed } => probing::stream(*end, *printed, x),
            Law::RapidSlowStart => probing::slow_start(x),
        }
    }
}

/// The window at the first loss of senders that lose at the same time, unless the artefact says otherwise.
fn first_window() -> f64 {
    100.0
}

/// Number of losses after which a sender's window is taken to be periodic.
const LOSSES: usize = 60;

/// The mean window of a controller's own sender with a loss every 1/p packets; none if there is no such controller or
/// no window.
fn sender(controller: &str, p: f64) -> Option<f64> {
    let controller = registry::find(controller)?;
    let packet = Bytes(1000);
    let mut sender = controller.build(controller.defaults(), &Conditions::exact(packet)).ok()?.sender;
    theory::mean_window(&mut *sender, packet, Duration::from_millis(100), &[(1.0 / p) as u64; LOSSES])
}

/// The mean window of a controller's own sender with a loss event after each time `every`; none if there is no such
/// controller or no window.
fn synchronised(controller: &str, rtt: Duration, first: f64, every: Duration, losses: u32) -> Option<f64> {
    let controller = registry::find(controller)?;
    let packet = Bytes(1000);
    let mut sender = controller.build(controller.defaults(), &Conditions::exact(packet)).ok()?.sender;
    theory::synchronised_window(&mut *sender, packet, rtt, first, every, losses)
}

impl Curve {
    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.law.at(self.reversed_from.map_or(x, |end| end - x))
    }

    /// Its value at `x`, or that of the curve among `all` that bounds it from below, if that is larger.
    pub fn bounded(&self, all: &[Curve], x: f64) -> f64 {
        let bound = self.at_least.as_ref().and_then(|name| all.iter().find(|it| it.name == *name));
        bound.map_or(self.at(x), |bound| self.at(x).max(bound.at(x)))
    }
}
