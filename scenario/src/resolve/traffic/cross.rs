//! Packets that do not react to congestion: `kind = "cbr"`, `"poisson"`, `"onoff"`.

use super::placement::Placement;
use super::table::{check_kinds, tables};
use crate::checks;
use crate::keys::traffic::{CommonKeys, OnOffKeys, RateKeys};
use crate::problems::Problems;
use crate::resolve::context::Context;
use control::Duration;
use experiment::{Cross, Pattern};

/// The shortest interval between packets. Times are whole picoseconds, so the rounding of an interval changes the rate
/// by at most one part in a thousand.
const LEAST_INTERVAL: Duration = Duration(1000);

/// All traffic of a scenario that does not react. Also checks that the kinds and keys of all traffic are known.
pub(crate) fn cross(context: &Context, problems: &mut Problems) -> Vec<Cross> {
    check_kinds(context.scenario, problems);
    let mut all = Vec::new();
    for table in tables(context.scenario, &["cbr", "poisson", "onoff"]) {
        let at = &table.at;
        let (Some(RateKeys { rate }), Some(keys)) = (table.read(problems), table.read::<CommonKeys>(problems)) else {
            continue;
        };
        let Some(Placement { start, stop, route, packet }) = Placement::check(&keys, at, context, problems) else {
            continue;
        };
        problems.unless(rate.as_bps() > 0.0, at.key("rate"), "is zero; write one like \"200 Mbps\"");
        let message = "makes more than one packet per nanosecond; write less, or a larger traffic.packet";
        problems.unless(rate.time_for(packet) >= LEAST_INTERVAL, at.key("rate"), message);
        let pattern = match table.kind {
            "cbr" => Pattern::Constant,
            "poisson" => Pattern::Poisson,
            _ => {
                let Some(OnOffKeys { on, off, shape }) = table.read(problems) else { continue };
                problems.unless(on > Duration::ZERO, at.key("on"), "is zero; write one like \"500 ms\"");
                let one = rate.time_for(packet);
                let message = format!("{on} is too short for a packet at this rate; write at least \"{one}\"");
                problems.unless(on == Duration::ZERO || on >= one, at.key("on"), message);
                checks::pareto_shape(shape, at.key("shape"), problems);
                Pattern::OnOff { on, off, shape }
            }
        };
        all.push(Cross { rate, pattern, packet, route, start, stop });
    }
    all
}
