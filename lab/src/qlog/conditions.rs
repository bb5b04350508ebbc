//! What a log says of the run beside its flow: the scenario, and markers where the conditions change.

use control::Time;
use experiment::{Outcome, Run};
use path::{Buffer, DirectionSetup, LinkDirection};
use qlog::{Event, Happened, milliseconds};
use serde_json::{Map, Value, json};

/// A log has the starts and stops of all flows if there are no more than this; of more, its own flow's.
const MOST_FLOWS: usize = 32;

/// The scenario, and the markers, of flow `number`.
pub fn events(run: &Run, outcome: &Outcome, number: usize, title: &str) -> Vec<Event> {
    let scenario = Happened::Scenario { name: title.into(), details: details(run, number) };
    let mut events = vec![Event { time: 0.0, happened: scenario }];
    let end = Time::ZERO + run.experiment.duration;
    let mut mark = |at: Time, kind: &str, message: String| {
        if at <= end {
            events.push(Event {
                time: milliseconds(at.since(Time::ZERO)),
                happened: Happened::Marker { kind: kind.into(), message },
            });
        }
    };
    for direction in run.experiment.listed_directions() {
        let name = direction.name(&run.experiment.links);
        for change in &direction.setup(&run.experiment.links).changes {
            if let Some(rate) = change.rate {
                mark(change.at, "link_rate", format!("{name}: {rate}"));
            }
            if let Some(delay) = change.delay {
                mark(change.at, "link_delay", format!("{name}: {delay}"));
            }
        }
    }
    let flows = &run.experiment.flows;
    for (i, flow) in flows.iter().enumerate().filter(|(i, _)| *i == number || flows.len() <= MOST_FLOWS) {
        let name = format!("flow {} ({})", i + 1, flow.controller);
        mark(flow.start, "flow_start", name.clone());
        let completed = outcome.flows.get(i).and_then(|flow| flow.completed).map(|after| flow.start + after);
        match (completed, flow.stop) {
            (Some(at), _) => mark(at, "flow_completed", name),
            (None, Some(at)) => mark(at, "flow_stop", name),
            (None, None) => {}
        }
    }
    for cross in &run.experiment.cross {
        mark(cross.start, "traffic_start", format!("{} that do not react", cross.rate));
        mark(cross.stop, "traffic_stop", format!("{} that do not react", cross.rate));
    }
    events
}

fn details(run: &Run, number: usize) -> Map<String, Value> {
    let experiment = &run.experiment;
    let flow = &experiment.flows[number];
    let links: Vec<Value> = experiment.listed_directions().into_iter().map(|it| link(it, run)).collect();
    let details = json!({
        "run": run.name(),
        "seed": experiment.seed,
        "duration_ms": milliseconds(experiment.duration),
        "controller": *flow.controller,
        "parameters": *flow.parameters,
        "rtt": flow.rtt.to_string(),
        "packet_bytes": flow.packet.0,
        "links": links,
    });
    let Value::Object(details) = details else { return Map::new() };
    details
}

fn link(direction: LinkDirection, run: &Run) -> Value {
    let setup: &DirectionSetup = direction.setup(&run.experiment.links);
    let buffer = match setup.buffer {
        Buffer::Packets(packets) => format!("{packets} packets"),
        Buffer::Bytes(bytes) => bytes.to_string(),
    };
    json!({
        "name": direction.name(&run.experiment.links),
        "rate": setup.rate.to_string(),
        "delay": setup.delay.to_string(),
        "buffer": buffer,
        "queue": setup.queue.discipline,
    })
}
