//! The data of events, by their names in all drafts.

use super::field::{Wrong, number, text};
use crate::event::{Happened, Metric, Metrics};
use serde_json::{Map, Value};

/// What the event `name` with this `data` says; none if it is not about congestion control. `unit` is how many
/// milliseconds the trace counts times in.
pub fn happened(name: &str, data: &Value, unit: f64) -> Result<Option<Happened>, Wrong> {
    // Until draft 09 of the QUIC events, what is `quic:recovery_metrics_updated` was `recovery:metrics_updated`, and
    // the others had `recovery` and `transport` before the colon.
    let (namespace, event) = name.split_once(':').unwrap_or(("", name));
    if !["", "quic", "recovery", "transport", "simulation"].contains(&namespace.to_ascii_lowercase().as_str()) {
        return Ok(None);
    }
    let event = event.to_ascii_lowercase();
    let known = matches!(
        &event[..],
        "metrics_updated"
            | "recovery_metrics_updated"
            | "congestion_state_updated"
            | "packet_lost"
            | "ecn_state_updated"
            | "packet_sent"
            | "scenario"
            | "marker"
    );
    if !known {
        return Ok(None);
    }
    if !(data.is_object() || data.is_null()) {
        return Err(Wrong::value("data", data, "object"));
    }
    let in_data = |Wrong(wrong)| Wrong(format!("data.{wrong}"));
    let read = match &event[..] {
        "metrics_updated" | "recovery_metrics_updated" => metrics(data, unit),
        "congestion_state_updated" => state(data),
        "packet_lost" => lost(data),
        "ecn_state_updated" => ecn(data),
        "packet_sent" => sent(data),
        "scenario" => scenario(data),
        _ => marker(data),
    };
    read.map_err(in_data)
}

fn metrics(data: &Value, unit: f64) -> Result<Option<Happened>, Wrong> {
    let mut metrics = Metrics::default();
    for metric in Metric::ALL {
        let value = match number(data, metric.name())? {
            // As it was called before draft 02, and as aioquic and picoquic call it.
            None if metric == Metric::CongestionWindow => number(data, "cwnd")?,
            value => value,
        };
        let scale = if metric.is_time() { unit } else { 1.0 };
        // Some write -1 or the largest integer for a threshold or a round-trip time that is not known yet.
        let known = |value: &f64| (0.0..1e18).contains(value);
        metrics.set(metric, value.map(|value| value * scale).filter(known));
    }
    Ok((!metrics.is_empty()).then_some(Happened::Metrics(metrics)))
}

fn state(data: &Value) -> Result<Option<Happened>, Wrong> {
    let new = text(data, "new")?.ok_or_else(|| Wrong("new is missing".into()))?;
    Ok(Some(Happened::State { old: text(data, "old")?, new, trigger: text(data, "trigger")? }))
}

fn lost(data: &Value) -> Result<Option<Happened>, Wrong> {
    let whole = |key: &str| Ok::<_, Wrong>(number(data, key)?.filter(|it| *it >= 0.0).map(|it| it as u64));
    Ok(Some(Happened::Lost {
        packets: whole("packets")?.unwrap_or(1),
        bytes: whole("bytes")?,
        trigger: text(data, "trigger")?,
    }))
}

fn ecn(data: &Value) -> Result<Option<Happened>, Wrong> {
    let new = text(data, "new")?.ok_or_else(|| Wrong("new is missing".into()))?;
    Ok(Some(Happened::Ecn { old: text(data, "old")?, new }))
}

/// The size of a packet is in `raw` today, and was in `header` and in `data` itself.
fn sent(data: &Value) -> Result<Option<Happened>, Wrong> {
    let in_part = |part: &str, key: &str| data.get(part).map_or(Ok(None), |part| number(part, key));
    let size = match in_part("raw", "length")? {
        None => match in_part("header", "packet_size")? {
            None => number(data, "packet_size")?,
            size => size,
        },
        size => size,
    };
    Ok(size.filter(|size| *size >= 0.0).map(|size| Happened::Sent(size as u64)))
}

fn scenario(data: &Value) -> Result<Option<Happened>, Wrong> {
    let details = match data.get("details") {
        Some(Value::Object(details)) => details.clone(),
        Some(Value::Null) | None => Map::new(),
        Some(other) => return Err(Wrong::value("details", other, "object")),
    };
    Ok(Some(Happened::Scenario { name: text(data, "name")?.unwrap_or_default(), details }))
}

fn marker(data: &Value) -> Result<Option<Happened>, Wrong> {
    let of = |key: &str| text(data, key).map(Option::unwrap_or_default);
    Ok(Some(Happened::Marker { kind: of("type")?, message: of("message")? }))
}
