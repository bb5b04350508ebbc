//! Connections that begin together or arrive as a Poisson process: `kind = "flows"`, `"web"`, `"video"`,
//! `"frames"`.

use super::placement::Placement;
use super::source::{ConnectionSource, Expected};
use super::table::TrafficTable;
use super::video::{frames, video};
use crate::files::{regular, size_distribution};
use crate::key_path::KeyPath;
use crate::keys::traffic::{ArrivalKeys, FlowsKeys, LoadKeys, WebKeys};
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
    let lasts = place.stop.since(place.start);
    let (talk, exchanges) = match table.kind {
        "flows" => {
            let FlowsKeys { size } = table.read(problems)?;
            (Talk::Transfer(sizes(size, "size", problems)?), 1.0)
        }
        "web" => {
            let WebKeys { objects, object, request, think } = table.read(problems)?;
            let message = format!("{objects} is not a mean number of objects; write 1 to 10000, like 5");
            problems.unless((1.0..=10_000.0).contains(&objects), at.key("objects"), message);
            let object = object.unwrap_or(Size::Distribution(Sizes::Pareto { mean: 12_000.0, shape: 1.2 }));
            let request = request.unwrap_or(Size::Distribution(Sizes::Fixed(400.0)));
            let (object, request) = (sizes(object, "object", problems)?, sizes(request, "request", problems)?);
            (Talk::Web { objects, request, object, think }, objects)
        }
        "frames" => {
            let talk = frames(table, lasts, problems)?;
            let number = if let Talk::Frames { number, .. } = talk { number } else { 0 };
            (talk, number as f64)
        }
        _ => {
            let video = video(table, problems)?;
            let segments = lasts.as_secs() / video.segment.as_secs();
            let segments = video.segments.map_or(segments, |all| segments.min(all as f64));
            (Talk::Video(Arc::new(video)), segments)
        }
    };
    // The kinds of which all connections begin together if nothing else is said.
    let begin_together = matches!(table.kind, "video" | "frames");
    let load = if begin_together { None } else { table.read::<LoadKeys>(problems)?.load };
    let (per_second, key) = match (arrivals.per_second, load) {
        (Some(number), None) => (Some(number), "per-second"),
        (None, Some(load)) => {
            let load = load.rate(context.network.narrowest(&place.route));
            (Some(load.as_bps() / 8.0 / talk.mean_size(place.packet, header)?.max(1.0)), "load")
        }
        (Some(_), Some(_)) => {
            problems.add(at.key("load"), "is given together with `per-second`; remove one of the two");
            return None;
        }
        (None, None) if begin_together => (None, "count"),
        (None, None) => {
            problems.add(at.key("load"), "is missing; write load = \"90 Mbps\", or per-second = 100");
            return None;
        }
    };
    if let Some(number) = per_second {
        let message = format!("makes {number} connections per second; write more than 0 and at most {MOST_ARRIVALS:e}");
        problems.unless(number > 0.0 && number <= MOST_ARRIVALS, at.key(key), message);
    }
    problems.unless(arrivals.count != Some(0), at.key("count"), "is zero; write 1 or more, or remove it");
    let rtt = context.network.flow_rtt(arrivals.rtt, &place.route, at, problems);
    let count = arrivals.count.or(per_second.is_none().then_some(1));
    let expected = per_second.map_or(f64::INFINITY, |number| number * lasts.as_secs());
    let connections = count.map_or(expected, |count| expected.min(count as f64));
    let population = Arc::new(Sessions {
        seed: context.scenario.seed,
        index: table.index as u64,
        per_second,
        count,
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
