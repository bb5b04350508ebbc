//! A trace: what its head says, and its events.

use super::clock::Clock;
use super::data;
use super::field::{Wrong, text};
use crate::event::Event;
use serde_json::Value;
use std::borrow::Cow;

/// A connection's log, of what congestion control is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its title, or the file's; empty if neither has one.
    pub title: String,
    /// Who logged it; empty if that is not known.
    pub logger: String,
    /// The version of qlog, as the file has it.
    pub version: String,
    /// The events, in the order of time.
    pub events: Vec<Event>,
    /// How many events there were in all.
    pub total: u64,
    /// The date at which times begin, in milliseconds since 1970, if the trace's times are dates.
    pub date: Option<f64>,
}

/// A trace of which the events are being read.
pub struct Reading {
    trace: Trace,
    clock: Clock,
    /// What the elements of an event are that is a list, as it was until draft 01.
    columns: Vec<String>,
}

impl Reading {
    /// Reads the head of `trace`, which is in `file`.
    pub fn new(file: &Value, trace: &Value) -> Result<Reading, Wrong> {
        if !trace.is_object() {
            return Err(Wrong::value("trace", trace, "object"));
        }
        let said = |key: &str| -> Result<String, Wrong> {
            let own = text(trace, key)?.filter(|it| !it.is_empty());
            Ok(own.or(text(file, key)?).unwrap_or_default())
        };
        let vantage = trace.get("vantage_point").unwrap_or(&Value::Null);
        let logger = match text(vantage, "name")?.filter(|it| !it.is_empty()) {
            Some(name) => name,
            None => text(vantage, "type")?.unwrap_or_default(),
        };
        let version = match text(file, "qlog_version")? {
            Some(version) => version,
            None => schema(trace).unwrap_or_default(),
        };
        let mut clock = Clock::new(trace)?;
        let columns: Vec<String> = match trace.get("event_fields").and_then(Value::as_array) {
            Some(names) => names.iter().map(|name| name.as_str().unwrap_or_default().to_ascii_lowercase()).collect(),
            None => Vec::new(),
        };
        if columns.iter().any(|name| name == "delta_time") {
            clock.count_differences();
        }
        let trace = Trace { title: said("title")?, logger, version, ..Trace::default() };
        Ok(Reading { trace, clock, columns })
    }

    /// Reads the next event.
    pub fn event(&mut self, event: &Value) -> Result<(), Wrong> {
        self.trace.total += 1;
        let event = if event.is_array() { Cow::Owned(self.named(event)?) } else { Cow::Borrowed(event) };
        if !event.is_object() {
            return Err(Wrong::value("the event", &event, "object"));
        }
        let written = event.get("time").ok_or_else(|| Wrong("has no time".into()))?;
        let time = self.clock.time(written, text(&event, "time_format")?.as_deref())?;
        let name = match text(&event, "name")? {
            Some(name) => name,
            None => match (text(&event, "category")?, text(&event, "event")?.or(text(&event, "type")?)) {
                (Some(category), Some(event)) => format!("{category}:{event}"),
                _ => return Err(Wrong("has no name".into())),
            },
        };
        let null = Value::Null;
        let data = event.get("data").unwrap_or(&null);
        if let Some(happened) = data::happened(&name, data, self.clock.unit())? {
            self.trace.events.push(Event { time, happened });
        }
        Ok(())
    }

    /// An event that is a list, as an object with the names that events have today.
    fn named(&self, event: &Value) -> Result<Value, Wrong> {
        if self.columns.is_empty() {
            return Err(Wrong("is a list, and the trace has no event_fields".into()));
        }
        let values = event.as_array().into_iter().flatten().cloned();
        let name = |column: &String| match column.as_str() {
            "time" | "relative_time" | "delta_time" => "time".to_string(),
            "event_type" => "event".to_string(),
            other => other.to_string(),
        };
        Ok(Value::Object(self.columns.iter().map(name).zip(values).collect()))
    }

    /// The trace, as all events have been read. "Tools MAY sort all events on the timestamp" (main schema, section
    /// 7.1).
    pub fn finish(mut self) -> Trace {
        self.trace.events.sort_by(|a, b| a.time.total_cmp(&b.time));
        self.trace.date = self.clock.date();
        self.trace
    }
}

/// The schema of the QUIC events, which says by which draft they are written.
fn schema(trace: &Value) -> Option<String> {
    let schemas = trace.get("event_schemas")?.as_array()?;
    let mut names = schemas.iter().filter_map(Value::as_str);
    let name = names.find(|name| name.contains(":quic"))?;
    Some(name.rsplit(':').next().unwrap_or(name).to_string())
}
