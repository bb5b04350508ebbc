//! Logs in the format qlog, of any implementation: figures of windows, round-trip times, rates, losses and states over
//! time, and a table.

mod bins;
mod curves;
mod figures;
mod table;

pub use figures::page;
pub use table::table;

use qlog::{Happened, Trace};

/// A log, and what it is called.
#[derive(Clone, Debug)]
pub struct Log {
    /// Its name on the page.
    pub name: String,
    /// What it has.
    pub trace: Trace,
}

/// The logs in `files`, each with its file's name. A log is called by its title if no other has that, and by its file
/// otherwise. Where times are dates, all logs count from the earliest of them.
pub fn logs(files: Vec<(String, Trace)>) -> Vec<Log> {
    let titles: Vec<String> = files.iter().map(|(_, trace)| trace.title.clone()).collect();
    let is_only = |title: &String| !title.is_empty() && titles.iter().filter(|other| *other == title).count() == 1;
    let first = files.iter().filter_map(|(_, trace)| trace.date).fold(f64::INFINITY, f64::min);
    let log = |(file, mut trace): (String, Trace)| {
        let shift = trace.date.map_or(0.0, |date| date - first);
        trace.events.iter_mut().for_each(|event| event.time += shift);
        Log { name: if is_only(&trace.title) { trace.title.clone() } else { file }, trace }
    };
    files.into_iter().map(log).collect()
}

/// Whether there is anything to draw.
pub fn has_something(trace: &Trace) -> bool {
    trace.events.iter().any(|event| !matches!(event.happened, Happened::Scenario { .. } | Happened::Marker { .. }))
}
