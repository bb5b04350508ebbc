//! The connections in a file of connection vectors, or a synthetic mix: `kind = "tmix"`.

use super::placement::Placement;
use super::source::{ConnectionSource, Expected};
use super::table::TrafficTable;
use crate::files::vectors::VectorFile;
use crate::keys::traffic::TmixKeys;
use crate::problems::Problems;
use crate::resolve::context::Context;
use control::{Duration, Time};
use experiment::traffic::Mix;
use std::sync::Arc;

/// The least round-trip time of a file that counts for the delays of links. Files of measured connections also have
/// times that no path has.
const LEAST_RTT: Duration = Duration::from_millis(1);
/// What a connection of the synthetic mix sends, on average, in bytes. For the estimate of memory.
const BYTES_PER_CONNECTION: f64 = 10e3;

/// The connections of `table`.
pub(super) fn tmix(
    table: &TrafficTable,
    place: &Placement,
    context: &Context,
    problems: &mut Problems,
) -> Option<ConnectionSource> {
    let at = &table.at;
    let lasts = place.stop.since(place.start);
    match table.read(problems)? {
        TmixKeys { file: Some(name), load: None } => {
            let contents = match context.vectors.contents(&name, Time(lasts.0)) {
                Ok(contents) => contents,
                Err(message) => {
                    problems.add(at.key("file"), message);
                    return None;
                }
            };
            Some(ConnectionSource {
                population: Arc::new(VectorFile { file: context.vectors.path(&name) }),
                key: "file",
                expected: Expected {
                    least_rtt: contents.least_rtt.unwrap_or(LEAST_RTT).max(LEAST_RTT),
                    connections: contents.connections as f64,
                    exchanges: contents.messages as f64,
                },
            })
        }
        TmixKeys { file: None, load: Some(load) } => {
            let load = load.rate(context.network.narrowest(&place.route));
            problems.unless(load.as_bps() > 0.0, at.key("load"), "is zero; write one like \"70 Mbps\"");
            let mix = Mix {
                seed: context.scenario.seed,
                index: table.index as u64,
                load,
                duration: lasts,
                packet: place.packet,
                header: context.scenario.ack,
            };
            let connections = load.as_bps() / 8.0 * lasts.as_secs() / BYTES_PER_CONNECTION;
            Some(ConnectionSource {
                population: Arc::new(mix),
                key: "load",
                expected: Expected { least_rtt: Mix::LEAST_RTT, connections, exchanges: 2.0 * connections },
            })
        }
        TmixKeys { file: Some(_), load: Some(_) } => {
            problems.add(
                at.key("load"),
                "is given together with `file`, which has a load of its own; remove one of the two",
            );
            None
        }
        TmixKeys { file: None, load: None } => {
            problems.add(
                at.key("file"),
                "is missing; write file = \"mix.cvec\", or load = \"70 Mbps\" for a synthetic mix",
            );
            None
        }
    }
}
