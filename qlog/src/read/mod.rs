//! Reads logs of any implementation: JSON text sequences, lines of JSON, and JSON as a whole; by the newest drafts, and
//! as far back as draft-marx-qlog-main-schema-00, which picoquic still writes.
//!
//! Events of other kinds, and fields that are not known, are passed over, as the drafts ask of tools.

mod clock;
mod data;
mod field;
mod mistake;
mod records;
#[cfg(test)]
mod tests;
mod trace;

pub use mistake::Mistake;
pub use trace::Trace;

use field::Wrong;
use records::Records;
use serde_json::Value;
use trace::Reading;

/// The most traces of a file.
const MOST_TRACES: usize = 1000;

/// Reads a file's traces. Each has the events that congestion control is about, in the order of time.
///
/// # Errors
/// If it is no qlog, or at the first record that is none.
pub fn read(bytes: &[u8]) -> Result<Vec<Trace>, Mistake> {
    let mut records = Records::of(bytes)?;
    let (place, first) =
        records.next().ok_or_else(|| Mistake::new("record 1".into(), "the file is empty".into()))??;
    if first.get("traces").is_some() || first.get("trace").is_none() {
        return contained(&place, &first);
    }
    let mut reading = Reading::new(&first, first.get("trace").unwrap_or(&Value::Null)).at(&place)?;
    while let Some(record) = records.next() {
        match record {
            Ok((place, record)) => reading.event(&record).at(&place)?,
            // Whoever wrote it was stopped in the middle of the last record. The others count (RFC 7464, section 2.4).
            Err(Mistake { truncated: true, .. }) if records.next().is_none() => break,
            Err(mistake) => return Err(mistake),
        }
    }
    Ok(vec![reading.finish()])
}

/// The traces of a file that is one JSON value.
fn contained(place: &str, file: &Value) -> Result<Vec<Trace>, Mistake> {
    let known = ["qlog_version", "file_schema", "traces"].iter().any(|key| file.get(key).is_some());
    if !known {
        return Err(Mistake::new(
            place.into(),
            "is no qlog: it has no qlog_version, no file_schema and no traces".into(),
        ));
    }
    let Some(traces) = file.get("traces").and_then(Value::as_array).filter(|traces| !traces.is_empty()) else {
        return Err(Mistake::new(place.into(), "traces is no list of traces".into()));
    };
    if traces.len() > MOST_TRACES {
        return Err(Mistake::new(
            place.into(),
            format!("has {} traces; at most {MOST_TRACES} can be read", traces.len()),
        ));
    }
    let mut all = Vec::new();
    for (i, trace) in traces.iter().enumerate() {
        let place = format!("trace {}", i + 1);
        // A trace that its writer could not find (main schema, section 4.3).
        if trace.get("error_description").is_some() && trace.get("events").is_none() {
            continue;
        }
        let mut reading = Reading::new(file, trace).at(&place)?;
        let Some(events) = trace.get("events").and_then(Value::as_array) else {
            return Err(Mistake::new(place, "events is no list of events".into()));
        };
        for (k, event) in events.iter().enumerate() {
            reading.event(event).at(&format!("{place}, event {}", k + 1))?;
        }
        all.push(reading.finish());
    }
    Ok(all)
}

/// Says in which record something is wrong.
trait At<T> {
    fn at(self, place: &str) -> Result<T, Mistake>;
}

impl<T> At<T> for Result<T, Wrong> {
    fn at(self, place: &str) -> Result<T, Mistake> {
        self.map_err(|Wrong(wrong)| Mistake::new(place.into(), wrong))
    }
}
