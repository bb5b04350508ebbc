//! Connections that arrive as a Poisson process: `kind = "flows"`, `"web"`.

use super::placement::Placement;
use super::source::{ConnectionSource, Expected};
use super::table::TrafficTable;
use crate::files::{regular, size_distribution};
use crate::key_path::KeyPath;
use crate::keys::traffic::{ArrivalKeys, FlowsKeys, WebKeys};
use crate::problem::reason;
use crate::problems::Problems;
use crate::resolve::context::Context;
use crate::values::size::Size;
use control::Bytes;
use experiment::traffic::{Sessions, Sizes, Talk};
use std::path::Path;
use std::sync::Arc;

/// The highest mean number of arrivals per second. It keeps the intervals between arrivals well above a picosecond.
const MOST_ARRIVALS: f64 = 1e9;

/// The connections of `table`, whose packets have headers of size `header`.
pub(super) fn sessions(
    table: &TrafficTable,
    place: &Placement,
    header: Bytes,
    context: &Context,
    problems: &mut Problems,
) -> Option<ConnectionSource> {
    let at = &table.at;
    let arrivals = table.read::<ArrivalKeys>(problems)?;
    let sizes = |size: Size, key: &str, problems: &mut Problems| match size {
        Size::Distribution(sizes) => Some(sizes),
        Size::File(file) => distribution_in(&context.vectors.path(&file), &file, at.key(key), problems),
    };
    let (talk, exchanges) = if table.kind == "flows" {
        let FlowsKeys { size } = table.read(problems)?;
        (Talk::Transfer(sizes(size, "size", problems)?), 1.0)
    } else {
        let WebKeys { objects, object, request, think } = table.read(problems)?;
        let message = format!("{objects} is not a mean number of objects; write 1 to 10000, like 5");
        problems.unless((1.0..=10_000.0).contains(&objects), at.key("objects"), message);
        let object = object.unwrap_or(Size::Distribution(Sizes::Pareto { mean: 12_000.0, shape: 1.2 }));
        let request = request.unwrap_or(Size::Distribution(Sizes::Fixed(400.0)));
        let (object, request) = (sizes(object, "object", problems)?, sizes(request, "request", problems)?);
        (Talk::Web { objects, request, object, think }, objects)
    };
    let (per_second, key) = match (arrivals.per_second, arrivals.load) {
        (Some(number), None) => (number, "per-second"),
        (None, Some(load)) => {
            let load = load.rate(context.network.narrowest(&place.route));
            (load.as_bps() / 8.0 / talk.mean_size(place.packet, header).max(1.0), "load")
        }
        (Some(_), Some(_)) => {
            problems.add(at.key("load"), "is given together with `per-second`; remove one of the two");
            return None;
        }
        (None, None) => {
            problems.add(at.key("load"), "is missing; write load = \"90 Mbps\", or per-second = 100");
            return None;
        }
    };
    let message = format!("makes {per_second} connections per second; write more than 0 and at most {MOST_ARRIVALS:e}");
    problems.unless(per_second > 0.0 && per_second <= MOST_ARRIVALS, at.key(key), message);
    problems.unless(arrivals.count != Some(0), at.key("count"), "is zero; write 1 or more, or remove it");
    let rtt = context.network.flow_rtt(arrivals.rtt, &place.route, at, problems);
    let expected = per_second * place.stop.since(place.start).as_secs();
    let connections = arrivals.count.map_or(expected, |count| expected.min(count as f64));
    let population = Arc::new(Sessions {
        seed: context.scenario.seed,
        index: table.index as u64,
        per_second,
        count: arrivals.count,
        rtt: (rtt.low, rtt.high),
        talk,
    });
    let expected = Expected { least_rtt: rtt.low, connections, exchanges: connections * exchanges };
    Some(ConnectionSource { population, key, expected })
}

/// The distribution in `file`, which the key `at` of the scenario calls `name`.
fn distribution_in(file: &Path, name: &str, at: KeyPath, problems: &mut Problems) -> Option<Sizes> {
    match regular::open(file) {
        Ok(input) => match size_distribution::read(input) {
            Ok(sizes) => return Some(sizes),
            Err(error) => problems.add(at, format!("{name}:{error}")),
        },
        Err(e) => problems.add(at, format!("{name} cannot be read ({}); check its name and permissions", reason(&e))),
    }
    None
}
