//! What was run, for the end of the report: links and parameters.

use super::name;
use crate::markup::escape;
use experiment::Finished;
use path::queue::registry;
use path::{Buffer, DirectionSetup, Errors, Jitter, LinkDirection, LinkSetup, Reorder, Shaper};
use serde_json::Value;

/// Duration and measured interval, if all runs have the same.
pub fn interval(runs: &[Finished]) -> Option<String> {
    let intervals = || runs.iter().map(|run| (run.run.experiment.duration, run.run.experiment.measure));
    let (duration, (from, to)) = intervals().next()?;
    let whole = from.as_secs() == 0.0 && to.as_secs() == duration.as_secs();
    let measured = if whole { String::new() } else { format!(", measured from {from} to {to}") };
    intervals().all(|other| other == (duration, (from, to))).then(|| format!("{duration}{measured}"))
}

/// The links if all runs have the same, and the parameters of each run.
pub fn html(runs: &[Finished]) -> String {
    let mut html = String::new();
    let described = |run: &Finished| rows_of(&run.run.experiment.links);
    if let Some(links) = runs.first().map(described)
        && runs.iter().all(|run| described(run) == links)
    {
        html += &rows("Links", &links);
    }
    let parameters = runs.iter().map(|run| (run.run.name(), show(&run.run.parameters)));
    html + &rows("Parameters", &parameters.collect::<Vec<_>>())
}

fn rows(heading: &str, rows: &[(String, String)]) -> String {
    let row = |(name, text): &(String, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", name::html(name), escape(text))
    };
    let rows: String = rows.iter().map(row).collect();
    format!("<h2>{heading}</h2>\n<table class=\"setup\">\n{rows}</table>\n")
}

/// The name and the description of each link; of one whose directions differ, of each direction.
fn rows_of(links: &[LinkSetup]) -> Vec<(String, String)> {
    let each = |(number, link): (usize, &LinkSetup)| match &link.reverse {
        None => vec![(link.name.clone(), describe(&link.forward, "each way"))],
        Some(_) => [false, true]
            .map(|reverse| LinkDirection { link: number, reverse })
            .map(|direction| (direction.name(links), describe(direction.setup(links), "one way")))
            .into(),
    };
    links.iter().enumerate().flat_map(each).collect()
}

/// The link in one direction. `ways` says of which the delay is.
fn describe(link: &DirectionSetup, ways: &str) -> String {
    let buffer = match link.buffer {
        Buffer::Packets(n) => format!("{n} packets"),
        Buffer::Bytes(n) => n.to_string(),
    };
    let mut more = match link.errors {
        Errors::Uniform(p) if p > 0.0 => format!(", packet error rate {p}"),
        Errors::Uniform(_) => String::new(),
        bursts => format!(", packet errors in bursts, {:.3e} of packets", bursts.mean()),
    };
    if let Some(Shaper { rate, burst }) = link.shaper {
        more += &format!(", shaped to {rate} after bursts of {burst}");
    }
    if let Some(Jitter { mean, correlation }) = link.jitter {
        more += &format!(", jitter of {mean} (correlated over {correlation})");
    }
    if let Some(Reorder { probability, delay }) = link.reorder {
        more += &format!(", {probability} of packets reordered ({delay} late)");
    }
    if link.corrupt > 0.0 {
        more += &format!(", {} of packets corrupted", link.corrupt);
    }
    if link.duplicate > 0.0 {
        more += &format!(", {} of packets duplicated", link.duplicate);
    }
    for change in &link.changes {
        let parts = [change.rate.map(|rate| rate.to_string()), change.delay.map(|delay| delay.to_string())];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        more += &format!(", from {} {}", change.at, parts.join(" and "));
    }
    let rate = if link.trace.is_some() { format!("a trace of {}", link.rate) } else { link.rate.to_string() };
    let router = link.router.as_ref();
    let router = router.map_or(String::new(), |r| format!(", router {} ({})", r.protocol, show(&r.parameters)));
    let discipline = registry::find(&link.queue.discipline).filter(|_| !link.queue.is_drop_tail());
    let queue = discipline.map_or(String::new(), |discipline| format!(", {}", discipline.title));
    format!("{rate}, {} {ways}, buffer {buffer}{queue}{router}{more}", link.delay)
}

/// Parameters in words: `{"a": 1, "b": "2 ms"}` as `a = 1, b = 2 ms`.
pub fn show(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "none".into(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                if value.is_object() { format!("{name}: {}", show(value)) } else { format!("{name} = {}", show(value)) }
            })
            .collect::<Vec<_>>()
            .join(if fields.values().any(Value::is_object) { "; " } else { ", " }),
        Value::String(text) => text.clone(),
        Value::Null => "none".into(),
        // A whole number has no decimal point.
        other => {
            other.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 1e15).map_or(other.to_string(), |x| x.to_string())
        }
    }
}
