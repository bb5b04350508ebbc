//! Connections that come and go: `kind = "flows"`, `"web"`, `"tmix"`.

use super::{Placed, Table, Where, tables};
use crate::flows;
use crate::key_path::KeyPath;
use crate::keys::Scenario;
use crate::load::Load;
use crate::network::Network;
use crate::resolve::{self, Problems};
use crate::size::{Size, empirical};
use crate::spread::Spread;
use crate::vectors::{self, Contents, Flaw, Vectors};
use control::{Bytes, Duration, Recovery, Time};
use experiment::Workload;
use experiment::traffic::{Mix, Population, Sessions, Sizes, Talk};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More connections per second than a run could begin.
const MOST_PER_SECOND: f64 = 1e9;
/// What a vector's round-trip time says below this is not believed of a path.
const LEAST_RTT: Duration = Duration::from_millis(1);

/// Keys of `flows`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Flows {
    /// What each transfer sends, on the wire.
    size: Size,
}

/// Keys of `web`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Web {
    /// Mean number of objects per session, geometrically distributed; 5 if not given.
    #[serde(default = "objects")]
    objects: f64,
    /// Size of an object, without headers; Pareto with a mean of 12 kB and a shape of 1.2 if not given.
    object: Option<Size>,
    /// Size of a request, without headers; "400 B" if not given.
    request: Option<Size>,
    /// Mean time from an object's arrival to the next request, exponentially distributed; 1 s if not given.
    #[serde(default = "think")]
    think: Duration,
}

fn objects() -> f64 {
    5.0
}
fn think() -> Duration {
    Duration::from_millis(1000)
}

/// Keys of `tmix`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct Tmix {
    /// A file of connection vectors, beside the scenario.
    file: Option<String>,
    /// The mean load of a synthetic mix instead, on the wire, in the direction of the responses.
    load: Option<Load>,
}

/// How connections arrive: as a Poisson process.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Arrivals {
    /// Mean number per second.
    per_second: Option<f64>,
    /// The mean load that they shall make instead, on the wire, in `direction`.
    load: Option<Load>,
    /// So many at most; without end if not given.
    count: Option<u64>,
    /// Round-trip propagation delay; if not given, the path's, or that of its route's links.
    /// { uniform = ["60 ms", "165 ms"] } draws one for each connection.
    rtt: Option<Spread>,
}

/// What the hosts of all these kinds do.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Hosts {
    /// What results call it; its kind if not given.
    name: Option<String>,
    /// Congestion controller of both sides' data. If not given: of flows, those of `[compare]`; of web and tmix, "reno".
    controller: Option<String>,
    /// Whether a round trip opens each connection, as with TCP; true if not given.
    #[serde(default = "handshake")]
    handshake: bool,
    /// The most that a connection may have outstanding either way, in packets; no limit if not given.
    receive_window: Option<u64>,
    /// How losses are repaired; as the controller's source says if not given.
    recovery: Option<Recovery>,
    /// Acknowledge every second packet, a single one after this time at the latest; the scenario's if not given.
    delayed_ack: Option<Duration>,
}

fn handshake() -> bool {
    true
}

/// The files of connection vectors that a plan's runs replay; each is gone through once for all of them.
pub struct Files {
    folder: PathBuf,
    /// What a file has up to some time, or what is wrong with it.
    seen: RefCell<HashMap<(String, Time), Result<Contents, String>>>,
}

impl Files {
    /// For a scenario in `folder`.
    pub fn new(folder: &Path) -> Files {
        Files { folder: folder.to_path_buf(), seen: RefCell::default() }
    }

    fn contents(&self, name: &str, until: Time) -> Result<Contents, String> {
        let mut seen = self.seen.borrow_mut();
        seen.entry((name.to_string(), until)).or_insert_with(|| scan(&self.folder.join(name), name, until)).clone()
    }
}

fn scan(file: &Path, name: &str, until: Time) -> Result<Contents, String> {
    let unreadable = |e| format!("{name} cannot be read ({}); check its name and permissions", crate::reason(&e));
    let input = vectors::open(file).map_err(unreadable)?;
    vectors::scan(input, until).map_err(|Flaw { line, message }| format!("{name}:{line}: {message}"))
}

/// A workload, and what is known of it before it runs.
pub struct Planned {
    /// What to simulate.
    pub workload: Workload,
    /// Its place in the scenario, with the key that says how many connections there are.
    pub at: KeyPath,
    /// No connection has a shorter round-trip time, unless a file says so.
    pub least_rtt: Duration,
    /// How many connections to expect, and exchanges.
    pub connections: f64,
    /// See `connections`.
    pub exchanges: f64,
}

/// What fills a workload.
struct Filled {
    population: Arc<dyn Population>,
    key: &'static str,
    least_rtt: Duration,
    connections: f64,
    exchanges: f64,
}

/// Whether some of the scenario's connections are controlled by what is compared.
pub fn compares(scenario: &Scenario) -> bool {
    let flows = |table: &&serde_json::Map<String, Value>| table.get("kind").and_then(Value::as_str) == Some("flows");
    scenario.traffic.iter().filter(flows).any(|table| !table.contains_key("controller"))
}

/// All workloads of a scenario, those with vectors from `files`; `compared` controls those flows that name no controller, and
/// `parameters_of` has a controller's parameters.
pub fn workloads(
    scenario: &Scenario,
    files: &Files,
    compared: Option<&str>,
    parameters_of: &dyn Fn(&str) -> Value,
    network: &Network,
    problems: &mut Problems,
) -> Vec<Planned> {
    let mut all: Vec<Planned> = Vec::new();
    for table in tables(scenario, &["flows", "web", "tmix"], false, problems) {
        let Some(mut planned) = workload(&table, scenario, files, compared, parameters_of, network, problems) else {
            continue;
        };
        let name = &planned.workload.name;
        let taken = |name: &String| all.iter().any(|other| other.workload.name == *name);
        if taken(name) {
            if table.keys.contains_key("name") {
                problems.add(
                    table.at.key("name"),
                    format!("there is other traffic called `{name}`; give it a name of its own"),
                );
            }
            planned.workload.name = format!("{name} {}", table.index + 1);
        }
        all.push(planned);
    }
    all
}

fn workload(
    table: &Table,
    scenario: &Scenario,
    files: &Files,
    compared: Option<&str>,
    parameters_of: &dyn Fn(&str) -> Value,
    network: &Network,
    problems: &mut Problems,
) -> Option<Planned> {
    let at = &table.at;
    let found = problems.found.len();
    let hosts = table.read::<Hosts>(problems);
    let place = table.read::<Where>(problems)?.check(scenario, network, at, problems);
    let (hosts, place) = (hosts?, place?);
    if let Some(name) = &hosts.name {
        resolve::name(name, at.key("name"), "write one like \"web\", or remove it", problems);
    }
    problems.unless(
        hosts.receive_window != Some(0),
        at.key("receive-window"),
        "is zero; write 1 or more, or remove it",
    );
    if let Some(delay) = hosts.delayed_ack {
        resolve::delayed_ack(delay, at.key("delayed-ack"), problems);
    }
    let implied = if table.kind == "flows" { compared } else { Some("reno") };
    let controller = match hosts.controller.as_deref().or(implied).map(resolve::find) {
        Some(Ok(controller)) => controller,
        Some(Err(message)) => {
            problems.add(at.key("controller"), message);
            return None;
        }
        None => {
            problems.add(at.key("controller"), "is missing; write controller = \"reno\", or [compare] with some");
            return None;
        }
    };
    let flows = table.kind == "flows";
    let header = if flows { Bytes(0) } else { scenario.ack };
    let message = format!("{} is not more than its header, the `ack` of {header}; write more", place.packet);
    problems.unless(place.packet > header, at.key("packet"), message);
    let filled = match table.kind {
        "tmix" => tmix(table, scenario, files, &place, network, problems)?,
        _ => sessions(table, scenario, files, &place, header, network, problems)?,
    };
    if problems.found.len() > found {
        return None;
    }
    let mut route = place.route;
    // The route's direction is that of the responses, which the acceptors send; of flows, that of the initiators' data.
    route.reverse ^= !flows;
    let Filled { population, key, least_rtt, connections, exchanges } = filled;
    Some(Planned {
        at: at.key(key),
        least_rtt,
        connections,
        exchanges,
        workload: Workload {
            name: hosts.name.unwrap_or_else(|| table.kind.to_string()),
            controller: controller.name.to_string(),
            parameters: parameters_of(controller.name),
            recovery: hosts.recovery.unwrap_or(controller.recovery),
            route,
            sends: [true, !flows],
            packet: place.packet,
            header,
            ack_size: scenario.ack,
            handshake: hosts.handshake,
            receive_window: hosts.receive_window,
            delayed_ack: hosts.delayed_ack.or(scenario.delayed_ack),
            min_rto: scenario.min_rto,
            start: place.start,
            stop: place.stop,
            population,
        },
    })
}

/// Connections that arrive as a Poisson process.
fn sessions(
    table: &Table,
    scenario: &Scenario,
    files: &Files,
    place: &Placed,
    header: Bytes,
    network: &Network,
    problems: &mut Problems,
) -> Option<Filled> {
    let at = &table.at;
    let arrivals = table.read::<Arrivals>(problems)?;
    let sizes = |size: Size, key: &str, problems: &mut Problems| match size {
        Size::Drawn(sizes) => Some(sizes),
        Size::File(file) => sizes_in(&files.folder.join(&file), &file, at.key(key), problems),
    };
    let (talk, exchanges) = if table.kind == "flows" {
        let Flows { size } = table.read(problems)?;
        (Talk::Transfer(sizes(size, "size", problems)?), 1.0)
    } else {
        let Web { objects, object, request, think } = table.read(problems)?;
        let message = format!("{objects} is no mean number of objects; write 1 to 10000, like 5");
        problems.unless((1.0..=10_000.0).contains(&objects), at.key("objects"), message);
        let object = object.unwrap_or(Size::Drawn(Sizes::Pareto { mean: 12_000.0, shape: 1.2 }));
        let request = request.unwrap_or(Size::Drawn(Sizes::Fixed(400.0)));
        let (object, request) = (sizes(object, "object", problems)?, sizes(request, "request", problems)?);
        (Talk::Web { objects, request, object, think }, objects)
    };
    let (per_second, key) = match (arrivals.per_second, arrivals.load) {
        (Some(number), None) => (number, "per-second"),
        (None, Some(load)) => {
            let load = load.rate(network.narrowest(&place.route.links));
            (load.as_bps() / 8.0 / talk.mean_size(place.packet, header).max(1.0), "load")
        }
        (Some(_), Some(_)) => {
            problems.add(at.key("load"), "is given beside `per-second`; remove one of them");
            return None;
        }
        (None, None) => {
            problems.add(at.key("load"), "is missing; write load = \"90 Mbps\", or per-second = 100");
            return None;
        }
    };
    let message =
        format!("makes {per_second} connections per second; write more than 0 and at most {MOST_PER_SECOND:e}");
    problems.unless(per_second > 0.0 && per_second <= MOST_PER_SECOND, at.key(key), message);
    problems.unless(arrivals.count != Some(0), at.key("count"), "is zero; write 1 or more, or remove it");
    let rtt = flows::round_trip(arrivals.rtt, &place.route, network, at, problems);
    let expected = per_second * place.stop.since(place.start).as_secs();
    let connections = arrivals.count.map_or(expected, |count| expected.min(count as f64));
    let population = Arc::new(Sessions {
        seed: scenario.seed,
        index: table.index as u64,
        per_second,
        count: arrivals.count,
        rtt: (rtt.low, rtt.high),
        talk,
    });
    Some(Filled { population, key, least_rtt: rtt.low, connections, exchanges: connections * exchanges })
}

/// Connection vectors, or what looks like them.
fn tmix(
    table: &Table,
    scenario: &Scenario,
    files: &Files,
    place: &Placed,
    network: &Network,
    problems: &mut Problems,
) -> Option<Filled> {
    let at = &table.at;
    let lasts = place.stop.since(place.start);
    match table.read(problems)? {
        Tmix { file: Some(name), load: None } => {
            let contents = match files.contents(&name, Time(lasts.0)) {
                Ok(contents) => contents,
                Err(message) => {
                    problems.add(at.key("file"), message);
                    return None;
                }
            };
            Some(Filled {
                population: Arc::new(Vectors { file: files.folder.join(&name) }),
                key: "file",
                least_rtt: contents.least_rtt.unwrap_or(LEAST_RTT).max(LEAST_RTT),
                connections: contents.connections as f64,
                exchanges: contents.messages as f64,
            })
        }
        Tmix { file: None, load: Some(load) } => {
            let load = load.rate(network.narrowest(&place.route.links));
            problems.unless(load.as_bps() > 0.0, at.key("load"), "is zero; write one like \"70 Mbps\"");
            let mix = Mix {
                seed: scenario.seed,
                index: table.index as u64,
                load,
                duration: lasts,
                packet: place.packet,
                header: scenario.ack,
            };
            // A connection of the mix makes some 10 kB.
            let connections = load.as_bps() / 8.0 * lasts.as_secs() / 10e3;
            Some(Filled {
                population: Arc::new(mix),
                key: "load",
                least_rtt: Mix::LEAST_RTT,
                connections,
                exchanges: 2.0 * connections,
            })
        }
        Tmix { file: Some(_), load: Some(_) } => {
            problems.add(at.key("load"), "is given beside `file`, which has its load in it; remove one of them");
            None
        }
        Tmix { file: None, load: None } => {
            problems.add(
                at.key("file"),
                "is missing; write file = \"mix.cvec\", or load = \"70 Mbps\" for a synthetic mix",
            );
            None
        }
    }
}

/// The distribution in `file`, which the scenario calls `name`.
fn sizes_in(file: &Path, name: &str, at: KeyPath, problems: &mut Problems) -> Option<Sizes> {
    match vectors::open(file) {
        Ok(input) => match empirical(input) {
            Ok(sizes) => return Some(sizes),
            Err((line, message)) => problems.add(at, format!("{name}:{line}: {message}")),
        },
        Err(e) => {
            problems.add(at, format!("{name} cannot be read ({}); check its name and permissions", crate::reason(&e)))
        }
    }
    None
}
