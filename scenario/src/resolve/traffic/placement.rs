//! Where and when traffic is sent.

use crate::checks;
use crate::key_path::KeyPath;
use crate::keys::traffic::CommonKeys;
use crate::problems::Problems;
use crate::resolve::context::Context;
use control::{Bytes, Time};
use path::Route;

/// The keys that all traffic has, checked.
pub(super) struct Placement {
    /// When it starts.
    pub start: Time,
    /// When it stops, at the end of the run at the latest.
    pub stop: Time,
    /// The links it crosses.
    pub route: Route,
    /// Size of its full packets on the wire.
    pub packet: Bytes,
}

impl Placement {
    /// Checks the `keys` of the traffic at `at`. None if its route is not known.
    pub fn check(keys: &CommonKeys, at: &KeyPath, context: &Context, problems: &mut Problems) -> Option<Placement> {
        let CommonKeys { start, stop, route, direction, packet } = keys;
        let scenario = context.scenario;
        checks::start(*start, scenario.duration, at.key("start"), problems);
        checks::stop(*stop, *start, at.key("stop"), problems);
        if let Some(size) = packet {
            checks::packet(*size, at.key("packet"), problems);
        }
        Some(Placement {
            start: Time(start.0),
            stop: Time(stop.unwrap_or(scenario.duration).min(scenario.duration).0),
            route: context.network.route(route.as_deref(), *direction, at, problems)?,
            packet: packet.unwrap_or(scenario.packet),
        })
    }
}
