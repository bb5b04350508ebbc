//! Curves that need no simulation: the laws of [`theory`], and those that controllers have in their code.

use crate::theory;
use control::rrrp::{Feedback, Function, Rrrp};
use control::{Bytes, Conditions, Duration, Rate, registry};
use serde::Deserialize;

/// A law and what claims and figures call it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Curve {
    /// Unique in its artefact.
    pub name: String,
    /// What it computes.
    pub law: Law,
    /// Drawn and compared with runs no lower than this other curve: of a protocol that is TCP below its low window.
    pub at_least: Option<String>,
    /// Drawn in reverse direction: at x, the law's value at this less x.
    pub reversed_from: Option<f64>,
}

/// A formula with its parameters.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Law {
    /// Mean window in packets over the loss event rate, of AIMD with increase `a` and decrease `b`; TCP's are 1 and 0.5.
    Aimd {
        /// Packets per round trip.
        a: f64,
        /// Share of the window.
        b: f64,
    },
    /// That of HighSpeed TCP, as RFC 3649 prints it.
    Highspeed,
    /// That of HighSpeed TCP with this low window.
    HighspeedFrom(f64),
    /// That of Scalable TCP.
    Scalable,
    /// That of BIC, by the paper's closed form.
    Bic(theory::Bic),
    /// That of a controller's own sender that loses one packet after each 1/p packets.
    Sender(String),
    /// RRRP's feedback: the congestion aimed at, in per cent, over the rate that arrives, in Mbps. What is not given is RRRP's default.
    Feedback {
        /// Which function.
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
        /// Packets on the wire.
        packet: Bytes,
        /// Round-trip time.
        rtt: Duration,
    },
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
            Law::Feedback { function, target, limit, scale } => {
                let usual = Rrrp::default();
                let target = target.unwrap_or(usual.target);
                let (limit, scale) = (limit.unwrap_or(usual.limit), scale.unwrap_or(usual.scale));
                let feedback = Feedback::new(&Rrrp { function: *function, target, limit, scale, ..usual });
                100.0 * feedback.target(Rate::from_mbps(x))
            }
            Law::TcpLoss { k, packet, rtt } => 100.0 * theory::tcp_loss(*k, *packet, *rtt, Rate::from_mbps(x)),
        }
    }
}

/// Losses after which a sender's window is periodic.
const LOSSES: usize = 60;

/// The mean window of a controller's own sender with a loss every 1/p packets; none if there is no such controller or no window.
fn sender(controller: &str, p: f64) -> Option<f64> {
    let controller = registry::find(controller)?;
    let packet = Bytes(1000);
    let mut sender = controller.build(controller.defaults(), &Conditions::exact(packet)).ok()?.sender;
    theory::mean_window(&mut *sender, packet, Duration::from_millis(100), &[(1.0 / p) as u64; LOSSES])
}

impl Curve {
    /// Its value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.law.at(self.reversed_from.map_or(x, |end| end - x))
    }

    /// Its value at `x`, and not less than the curve that bounds it among `all`.
    pub fn bounded(&self, all: &[Curve], x: f64) -> f64 {
        let bound = self.at_least.as_ref().and_then(|name| all.iter().find(|it| it.name == *name));
        bound.map_or(self.at(x), |bound| self.at(x).max(bound.at(x)))
    }
}
