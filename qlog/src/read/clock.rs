//! The times of events.
//!
//! Newer drafts count from an epoch or from the previous event, older ones absolutely, from a reference time or from
//! the previous event; older ones may also count in microseconds.

use super::field::{Wrong, as_number, text};
use serde_json::Value;

/// Times that are this late, in milliseconds, are dates and not times since the beginning of a connection: a year.
const DATE: f64 = 365.0 * 24.0 * 3600.0 * 1000.0;
/// The latest time, in milliseconds: the year 2286.
const LATEST: f64 = 1e13;

/// Converts the times of a trace to milliseconds since its beginning.
#[derive(Debug)]
pub struct Clock {
    /// Milliseconds of a unit of the trace's times.
    unit: f64,
    /// Whether times count from the previous event unless an event says otherwise.
    differences: bool,
    /// The time of the previous event, in milliseconds from where times count.
    previous: f64,
    /// What is subtracted; none before the first event.
    origin: Option<f64>,
}

impl Clock {
    /// The clock of a trace.
    pub fn new(trace: &Value) -> Result<Clock, Wrong> {
        let null = Value::Null;
        let of = |key: &str| trace.get(key).unwrap_or(&null);
        let common = of("common_fields");
        let unit = match text(of("configuration"), "time_units")?.or(text(common, "time_units")?).as_deref() {
            None | Some("ms") => 1.0,
            Some("us") => 1e-3,
            Some(other) => return Err(Wrong(format!("time_units is {other:?}, which is neither ms nor us"))),
        };
        let differences = is_difference(text(common, "time_format")?.as_deref());
        Ok(Clock { unit, differences, previous: 0.0, origin: None })
    }

    /// Milliseconds of a unit of the trace's times.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// From now on, times count from the previous event, as the name of their column says.
    pub fn count_differences(&mut self) {
        self.differences = true;
    }

    /// The time of the next event, of which `time` is written and how it counts, if it says that.
    pub fn time(&mut self, time: &Value, format: Option<&str>) -> Result<f64, Wrong> {
        let written = as_number(time).ok_or_else(|| Wrong::value("time", time, "number"))? * self.unit;
        let differs = format.map_or(self.differences, |format| is_difference(Some(format)));
        let now = if differs { self.previous + written } else { written };
        if !(-LATEST..=LATEST).contains(&now) {
            return Err(Wrong(format!("time is {time}, which is out of range")));
        }
        self.previous = now;
        let origin = *self.origin.get_or_insert(if now > DATE { now } else { 0.0 });
        Ok(now - origin)
    }

    /// The date at which the trace's times begin, in milliseconds since 1970, if its times are dates.
    pub fn date(&self) -> Option<f64> {
        self.origin.filter(|origin| *origin > 0.0)
    }
}

/// Whether a time format counts from the previous event, by its names in all drafts.
fn is_difference(format: Option<&str>) -> bool {
    matches!(format, Some("relative_to_previous_event" | "delta"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn times(trace: Value, written: &[f64]) -> Vec<f64> {
        let mut clock = Clock::new(&trace).unwrap();
        written.iter().map(|time| clock.time(&json!(time), None).unwrap()).collect()
    }

    #[test]
    fn every_draft_says_in_its_own_way_how_times_count() {
        assert_eq!(times(json!({}), &[1.0, 2.5]), [1.0, 2.5]);
        let delta = |format: &str| json!({ "common_fields": { "time_format": format } });
        for format in ["relative_to_previous_event", "delta"] {
            assert_eq!(times(delta(format), &[1.0, 2.5, 0.5]), [1.0, 3.5, 4.0]);
        }
        assert_eq!(times(json!({ "configuration": { "time_units": "us" } }), &[1500.0]), [1.5]);
    }

    #[test]
    fn dates_count_from_the_first_one() {
        let mut clock = Clock::new(&json!({ "common_fields": { "time_format": "absolute" } })).unwrap();
        let mut time = |ms: f64| clock.time(&json!(ms), None).unwrap();
        assert_eq!((time(1553986553572.0), time(1553986553577.0)), (0.0, 5.0));
        assert_eq!(clock.date(), Some(1553986553572.0));
    }

    #[test]
    fn an_event_may_say_it_itself() {
        let mut clock = Clock::new(&json!({})).unwrap();
        assert_eq!(clock.time(&json!(7), None), Ok(7.0));
        assert_eq!(clock.time(&json!(2), Some("relative_to_previous_event")), Ok(9.0));
        assert!(clock.time(&json!(1e300), None).is_err());
        assert!(clock.time(&json!("soon"), None).is_err());
    }
}
