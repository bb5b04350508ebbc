//! Controllers that were written for [noq](https://docs.rs/noq), a fork of quinn with BBR version 3, as senders of the
//! simulator; and a [`factory`](factory()) that makes Thalweg's controllers noq's. With the feature `noq`.
//!
//! In the simulator, all is as with [quinn's](crate::simulated), except for what noq does otherwise: it tells of each
//! packet that leaves or is lost, and of a window that is full; and it paces at the controller's own rate if it has
//! one, in bursts of at most 10 ms.

mod ends;
mod factory;
mod keys;
mod library;

pub use factory::{Factory, factory};

use crate::simulated::sender::Simulated;
use control::registry::{self, Parties};
use control::{Controller, EcnSupport, Family};
use library::OfNoq;
use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig};
use serde_json::Map;
use std::sync::Arc;

/// The source that lists of controllers name.
const SOURCE: &str = "noq";

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
            let guest = |origin, mtu| OfNoq::new(factory.clone(), origin, mtu);
            Parties { sender: Box::new(Simulated::new(guest, &host)), receiver: None }
        }))
    });
    controller.with_ecn(ecn)
}

/// Adds noq's own controllers to the registry: `noq-bbr3` and `noq-cubic`. More than once does no harm.
///
/// # Errors
/// If there are other controllers of these names.
pub fn add() -> Result<(), String> {
    registry::add(controller(
        "noq-bbr3",
        Family::Rate,
        EcnSupport::Classic,
        "BBR version 3 of the QUIC library noq, with noq's pacing; its random numbers are the system's, so that no two \
         runs are the same",
        Arc::new(Bbr3Config::default()),
    ))?;
    registry::add(controller(
        "noq-cubic",
        Family::LossWindow,
        EcnSupport::Classic,
        "CUBIC of the QUIC library noq, with noq's pacing",
        Arc::new(CubicConfig::default()),
    ))
}

#[cfg(test)]
mod tests;
