//! Packets that do not react to congestion: `kind = "cbr"`, `"poisson"`, `"onoff"`.

use super::{Placed, Where, shaped, tables};
use crate::keys::Scenario;
use crate::network::Network;
use crate::resolve::Problems;
use control::{Duration, Rate};
use experiment::{Cross, Pattern};
use schemars::JsonSchema;
use serde::Deserialize;

/// What these kinds have in common.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Steady {
    /// Its rate on the wire; of onoff, while it is on.
    rate: Rate,
}

/// Keys of `onoff`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct OnOff {
    /// Mean length of the periods in which it is on.
    on: Duration,
    /// Mean length of the periods in which it is off.
    off: Duration,
    /// Shape of the Pareto distribution of both, 1.01 to 10; up to 2, their variance is infinite.
    #[serde(default = "shape")]
    shape: f64,
}

fn shape() -> f64 {
    1.5
}

/// All traffic of a scenario that does not react.
pub fn cross(scenario: &Scenario, network: &Network, problems: &mut Problems) -> Vec<Cross> {
    let mut all = Vec::new();
    for table in tables(scenario, &["cbr", "poisson", "onoff"], true, problems) {
        let at = &table.at;
        let (Some(Steady { rate }), Some(place)) = (table.read(problems), table.read::<Where>(problems)) else {
            continue;
        };
        let Some(Placed { start, stop, route, packet }) = place.check(scenario, network, at, problems) else {
            continue;
        };
        problems.unless(rate.as_bps() > 0.0, at.key("rate"), "is zero; write one like \"200 Mbps\"");
        // Times are whole picoseconds: so short a gap would be rounded beyond recognition.
        let packets = "makes more than one packet per nanosecond; write less, or a larger traffic.packet";
        problems.unless(rate.time_for(packet) >= Duration(1000), at.key("rate"), packets);
        let pattern = match table.kind {
            "cbr" => Pattern::Constant,
            "poisson" => Pattern::Poisson,
            _ => {
                let Some(OnOff { on, off, shape }) = table.read(problems) else { continue };
                problems.unless(on > Duration::ZERO, at.key("on"), "is zero; write one like \"500 ms\"");
                let one = rate.time_for(packet);
                let message = format!("{on} is too short for a packet at this rate; write at least \"{one}\"");
                problems.unless(on == Duration::ZERO || on >= one, at.key("on"), message);
                shaped(shape, at.key("shape"), problems);
                Pattern::OnOff { on, off, shape }
            }
        };
        all.push(Cross { rate, pattern, packet, route, start, stop });
    }
    all
}
