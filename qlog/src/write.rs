//! Writes a log as JSON text sequences (RFC 7464), by draft-ietf-quic-qlog-main-schema-14, section 5.

use crate::event::{Event, Happened, Metrics};
use serde_json::{Map, Number, Value, json};
use std::io::{self, Write};

/// The byte before each record (RFC 7464, section 2.1).
pub(crate) const SEPARATOR: u8 = 0x1e;
/// The file's schema (main schema, section 5).
const FILE_SCHEMA: &str = "urn:ietf:params:qlog:file:sequential";
/// The schemas of its events. Drafts of the QUIC events are named with their number (QUIC events, section 2.1).
const EVENT_SCHEMAS: [&str; 2] = ["urn:ietf:params:qlog:events:quic-13", "urn:ietf:params:qlog:events:simulation"];

/// What a file says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// Its title.
    pub title: String,
    /// What is logged, in a sentence.
    pub description: String,
    /// Who logs it.
    pub logger: String,
    /// What the log has in common with others, such as those of the other flows of a run.
    pub group: String,
}

/// Writes `events`, which are in the order of time, to `out`. What is only read is left out.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, header: &Header, events: &[Event]) -> io::Result<()> {
    let Header { title, description, logger, group } = header;
    let first = json!({
        "file_schema": FILE_SCHEMA,
        "serialization_format": "application/qlog+json-seq",
        "title": title,
        "description": description,
        "trace": {
            "title": title,
            "common_fields": {
                "group_id": group,
                "time_format": "relative_to_epoch",
                "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
            },
            // Whoever sends opens the connection, in the simulator and in real runs.
            "vantage_point": { "name": logger, "type": "client" },
            "event_schemas": EVENT_SCHEMAS,
        },
    });
    record(out, &first)?;
    for Event { time, happened } in events {
        if let Some((name, data)) = named(happened) {
            record(out, &json!({ "time": time, "name": name, "data": data }))?;
        }
    }
    Ok(())
}

fn record(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    out.write_all(&[SEPARATOR])?;
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The name and the data of an event.
fn named(happened: &Happened) -> Option<(&'static str, Value)> {
    Some(match happened {
        Happened::Metrics(it) => ("quic:recovery_metrics_updated", metrics(it)),
        Happened::State { old, new, trigger } => {
            ("quic:congestion_state_updated", without_null(json!({ "old": old, "new": new, "trigger": trigger })))
        }
        // How many packets there are is no field of the drafts, for which each is an event of its own.
        Happened::Lost { packets, bytes, trigger } => {
            ("quic:packet_lost", without_null(json!({ "trigger": trigger, "packets": packets, "bytes": bytes })))
        }
        Happened::Ecn { old, new } => ("quic:ecn_state_updated", without_null(json!({ "old": old, "new": new }))),
        Happened::Scenario { name, details } => ("simulation:scenario", json!({ "name": name, "details": details })),
        Happened::Marker { kind, message } => ("simulation:marker", json!({ "type": kind, "message": message })),
        Happened::Sent(_) => return None,
    })
}

fn metrics(metrics: &Metrics) -> Value {
    let fields = metrics.iter().map(|(metric, value)| {
        let number = if metric.is_time() { Number::from_f64(value) } else { Some((value.max(0.0) as u64).into()) };
        (metric.name().to_string(), number.map_or(Value::Null, Value::Number))
    });
    Value::Object(fields.collect())
}

/// An object's fields that have a value.
fn without_null(object: Value) -> Value {
    match object {
        Value::Object(fields) => fields.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>().into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Metric;
    use crate::read::read;

    fn written(events: &[Event]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let header = Header { title: "a title".into(), logger: "a logger".into(), ..Header::default() };
        write(&mut bytes, &header, events).unwrap();
        bytes
    }

    fn all() -> Vec<Event> {
        let mut metrics = Metrics::default();
        metrics.set(Metric::SmoothedRtt, Some(100.125));
        metrics.set(Metric::CongestionWindow, Some(15_000.0));
        metrics.set(Metric::PacingRate, Some(1e9));
        let some = |text: &str| Some(text.to_string());
        let details = json!({ "seed": 7 }).as_object().unwrap().clone();
        let happened = [
            Happened::Scenario { name: "one flow".into(), details },
            Happened::Marker { kind: "link".into(), message: "10 Mbps".into() },
            Happened::Ecn { old: None, new: "capable".into() },
            Happened::State { old: some("slow_start"), new: "recovery".into(), trigger: some("loss") },
            Happened::Lost { packets: 3, bytes: Some(4500), trigger: some("pto_expired") },
            Happened::Metrics(metrics),
        ];
        happened.into_iter().enumerate().map(|(i, happened)| Event { time: i as f64 + 0.5, happened }).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let traces = read(&written(&all())).unwrap();
        assert_eq!(traces.len(), 1);
        assert_eq!((&traces[0].title[..], &traces[0].logger[..]), ("a title", "a logger"));
        assert_eq!(traces[0].events, all());
    }

    #[test]
    fn a_record_begins_with_a_separator_and_ends_with_a_line() {
        let bytes = written(&all());
        let records: Vec<&[u8]> = bytes.split(|&byte| byte == SEPARATOR).collect();
        assert!(records[0].is_empty() && records.len() == 2 + all().len());
        assert!(records[1..].iter().all(|record| record.ends_with(b"}\n")));
        // "The file_schema and serialization_format fields and their values SHOULD be in the first 256 characters".
        let head = String::from_utf8_lossy(&bytes[..256]);
        assert!(head.contains(FILE_SCHEMA) && head.contains("application/qlog+json-seq"), "{head}");
    }

    #[test]
    fn whole_numbers_have_no_fraction_and_nothing_is_null() {
        let text = String::from_utf8(written(&all())).unwrap();
        let metrics = r#"{"smoothed_rtt":100.125,"congestion_window":15000,"pacing_rate":1000000000}"#;
        assert!(text.contains(metrics), "{text}");
        assert!(!text.contains("null"), "{text}");
    }
}
