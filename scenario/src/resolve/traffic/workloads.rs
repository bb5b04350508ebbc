//! Connections that come and go: what `kind = "flows"`, `"web"`, `"video"`, `"frames"` and `"tmix"`
//! have in common.

use super::placement::Placement;
use super::sessions::sessions;
use super::source::{ConnectionSource, Expected};
use super::table::{TrafficTable, tables};
use super::tmix::tmix;
use crate::checks;
use crate::key_path::KeyPath;
use crate::keys::Scenario;
use crate::keys::traffic::{CommonKeys, HostKeys};
use crate::problems::Problems;
use crate::resolve::context::Context;
use crate::resolve::controllers;
use control::Bytes;
use experiment::Workload;
use serde_json::{Map, Value};

/// A workload, and what is known of it before the run.
pub(crate) struct PlannedWorkload {
    /// The workload.
    pub workload: Workload,
    /// The key of the scenario that decides how many connections there are.
    pub at: KeyPath,
    /// How many connections there are, and how they are.
    pub expected: Expected,
}

/// The kinds of connections that those controllers control that `[compare]` compares, unless they name one.
const COMPARED: [&str; 3] = ["flows", "video", "frames"];

/// Whether the controllers of `[compare]` control some of the scenario's connections.
pub(crate) fn compares(scenario: &Scenario) -> bool {
    let kind = |table: &Map<String, Value>| {
        table.get("kind").and_then(Value::as_str).is_some_and(|kind| COMPARED.contains(&kind))
    };
    scenario.traffic.iter().any(|table| kind(table) && !table.contains_key("controller"))
}

/// All workloads of a scenario. A name that is taken already gets a number.
pub(crate) fn workloads(context: &Context, problems: &mut Problems) -> Vec<PlannedWorkload> {
    let mut all: Vec<PlannedWorkload> = Vec::new();
    for table in tables(context.scenario, &["flows", "web", "video", "frames", "tmix"]) {
        let Some(mut planned) = workload(&table, context, problems) else { continue };
        let name = &planned.workload.name;
        let taken = |name: &String| all.iter().any(|other| other.workload.name == *name);
        if taken(name) {
            if table.keys.contains_key("name") {
                problems.add(
                    table.at.key("name"),
                    format!("there is other traffic called `{name}`; give this one a name of its own"),
                );
            }
            planned.workload.name = format!("{name} {}", table.index + 1);
        }
        all.push(planned);
    }
    all
}

/// The workload of `table`. None if it adds to `problems`.
fn workload(table: &TrafficTable, context: &Context, problems: &mut Problems) -> Option<PlannedWorkload> {
    let Context { scenario, compared, .. } = *context;
    let at = &table.at;
    let found = problems.found.len();
    let hosts = table.read::<HostKeys>(problems);
    let place = Placement::check(&table.read::<CommonKeys>(problems)?, at, context, problems);
    let (hosts, place) = (hosts?, place?);
    if let Some(name) = &hosts.name {
        checks::name(name, at.key("name"), "write one like \"web\", or remove it", problems);
    }
    checks::receive_window(hosts.receive_window, at.key("receive-window"), problems);
    checks::max_burst(hosts.max_burst, at.key("max-burst"), problems);
    checks::pacing(hosts.pacing, at.key("pacing"), problems);
    checks::delayed_ack(hosts.delayed_ack, at.key("delayed-ack"), problems);
    let is_compared = COMPARED.contains(&table.kind);
    let implied = if is_compared { compared } else { Some("reno") };
    let controller = match hosts.controller.as_deref().or(implied).map(controllers::find) {
        Some(Ok(controller)) => controller,
        Some(Err(message)) => {
            problems.add(at.key("controller"), message);
            return None;
        }
        None => {
            problems.add(at.key("controller"), "is missing; write controller = \"reno\", or [compare] with several");
            return None;
        }
    };
    // Whether only initiators send.
    let one_way = matches!(table.kind, "flows" | "frames");
    let header = if table.kind == "flows" { Bytes(0) } else { scenario.ack };
    let message = format!("{} is not more than its header, the `ack` of {header}; write more", place.packet);
    problems.unless(place.packet > header, at.key("packet"), message);
    let ConnectionSource { population, key, expected } = match table.kind {
        "tmix" => tmix(table, &place, context, problems)?,
        _ => sessions(table, &place, header, context, problems)?,
    };
    let named = hosts.controller.is_some() || !is_compared;
    if named {
        controllers::pacing(controller, hosts.pacing, at.key("pacing"), problems);
    }
    let ecn = controllers::ecn(controller, hosts.ecn, named, scenario, at.key("ecn"), problems);
    if problems.found.len() > found {
        return None;
    }
    let mut route = place.route;
    // The direction that a scenario gives is that of responses, which acceptors send, or of the data of `flows` and
    // `frames`, which initiators send. The direction of a workload is that of what initiators send.
    route.reverse ^= !one_way;
    Some(PlannedWorkload {
        at: at.key(key),
        expected,
        workload: Workload {
            name: hosts.name.unwrap_or_else(|| table.kind.to_string()),
            controller: controller.name.to_string(),
            parameters: context.parameters_of(controller.name),
            recovery: hosts.recovery.unwrap_or(controller.recovery),
            route,
            sends: [true, !one_way],
            packet: place.packet,
            header,
            ack_size: scenario.ack,
            handshake: hosts.handshake,
            receive_window: hosts.receive_window,
            max_burst: hosts.max_burst,
            pacing: hosts.pacing.or(scenario.pacing),
            delayed_ack: hosts.delayed_ack.or(scenario.delayed_ack),
            min_rto: scenario.min_rto,
            idle_restart: hosts.idle_restart.unwrap_or(scenario.idle_restart),
            ecn,
            start: place.start,
            stop: place.stop,
            population,
        },
    })
}
