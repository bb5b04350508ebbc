//! Controllers that were written for quinn as senders of the simulator.
//!
//! A controller is told what quinn 0.11 would tell it, in the same order: of packets that leave together as one, up to
//! ten; of acknowledged packets with their numbers and times; the estimator of the round-trip time as it was before the
//! acknowledgment; of losses after the acknowledgment that shows them; and of marks as losses of no bytes. Its window
//! is kept and paced as quinn does: 1.25 windows per round trip, in bursts of at least ten packets.
//!
//! What is different from quinn: the simulated host finds losses and repairs them as TCP does (RFC 6675), and its
//! retransmission timeout is told as persistent congestion, which quinn finds later, where its probes are lost, too. Of
//! several packets that one acknowledgment stands for, only the newest is known exactly. The smoothed round-trip time
//! that a controller is shown is exact to one part in 256, and the latest sample is shown as the smoothed one.
//! Acknowledgments are delayed only where the scenario says so.

mod ends;
pub(crate) mod guest;
mod keys;
mod library;
mod pacer;
mod packets;
pub(crate) mod round_trip;
pub(crate) mod sender;

use control::registry::{self, Parties};
use control::{Controller, EcnSupport, Family};
use library::OfQuinn;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use sender::Simulated;
use serde_json::Map;
use std::sync::Arc;

/// The source that lists of controllers name.
const SOURCE: &str = "quinn";

/// A controller with this name, whose senders are those that `factory` makes. Pass it to
/// [`registry::add`], and scenarios and evaluations know it. `ecn` is how it reacts to marks.
pub fn controller(
    name: &'static str,
    family: Family,
    ecn: EcnSupport,
    summary: &'static str,
    factory: Arc<dyn ControllerFactory + Send + Sync>,
) -> Controller {
    let controller = Controller::made_by(name, family, SOURCE, summary, Map::new(), move |_, host| {
        let (factory, host) = (factory.clone(), *host);
        Ok(Box::new(move || {
            let guest = |origin, mtu| OfQuinn::new(factory.clone(), origin, mtu);
            Parties { sender: Box::new(Simulated::new(guest, &host)), receiver: None }
        }))
    });
    controller.with_ecn(ecn)
}

/// Adds quinn's own controllers to the registry: `quinn-cubic`, `quinn-newreno` and `quinn-bbr`. More than once does no
/// harm.
///
/// # Errors
/// If there are other controllers of these names.
pub fn add() -> Result<(), String> {
    for one in [
        controller(
            "quinn-cubic",
            Family::LossWindow,
            EcnSupport::Classic,
            "CUBIC of the QUIC library quinn, with quinn's pacing",
            Arc::new(CubicConfig::default()),
        ),
        controller(
            "quinn-newreno",
            Family::LossWindow,
            EcnSupport::Classic,
            "NewReno of the QUIC library quinn, with quinn's pacing",
            Arc::new(NewRenoConfig::default()),
        ),
        controller(
            "quinn-bbr",
            Family::Rate,
            EcnSupport::None,
            "BBR of the QUIC library quinn, with quinn's pacing; its random numbers are the system's, so that no two \
             runs are the same",
            Arc::new(BbrConfig::default()),
        ),
    ] {
        registry::add(one)?;
    }
    Ok(())
}
