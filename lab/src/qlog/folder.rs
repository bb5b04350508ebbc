//! The folder of logs.

use super::{conditions, series};
use crate::runner::RunCache;
use crate::{files, names};
use control::Time;
use control::registry::Parties;
use experiment::{Flow, Outcome, Place, Run};
use qlog::{Event, Happened, Header, Record};
use std::cell::Cell;
use std::fs;
use std::io;
use std::path::PathBuf;

/// A folder for the logs of a plan's runs. As a cache of runs it holds none: each run is made, and leaves its logs.
pub struct QlogFolder {
    path: PathBuf,
    /// The title of the plan.
    title: String,
}

impl QlogFolder {
    /// The folder `path`, which is made if it is not there, for the runs of the plan with this title.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn prepare(path: PathBuf, title: &str) -> io::Result<QlogFolder> {
        fs::create_dir_all(&path)?;
        Ok(QlogFolder { path, title: title.into() })
    }

    /// Writes a log for each flow of `run`, with the events that were recorded of it. Of a flow without events, its
    /// time series are written.
    ///
    /// # Errors
    /// If a file cannot be written, with its name.
    pub fn write(&self, run: &Run, outcome: &Outcome, recorded: &[Vec<Event>]) -> Result<(), String> {
        let flows = run.experiment.flows.iter().zip(&outcome.flows);
        for (number, (flow, result)) in flows.enumerate() {
            let mut events = conditions::events(run, outcome, number, &self.title);
            match recorded.get(number).filter(|events| !events.is_empty()) {
                Some(recorded) => events.extend(recorded.iter().cloned()),
                None => events.extend(series::events(flow, &result.series, &outcome.sampled)),
            }
            events.sort_by(|a, b| a.time.total_cmp(&b.time));
            let file = self.path.join(names::of_log(run, number));
            files::write(&file, |out| qlog::write(out, &self.header(run, number), &events))
                .map_err(|e| format!("{}: cannot be written ({})", file.display(), scenario::reason(&e)))?;
        }
        Ok(())
    }

    fn header(&self, run: &Run, number: usize) -> Header {
        let flows = &run.experiment.flows;
        let of = if flows.len() > 1 { format!(", flow {}", number + 1) } else { String::new() };
        let logger = match run.identity.place {
            Place::Simulated => "thalweg simulator",
            Place::Emulated | Place::Real => "thalweg",
        };
        Header {
            title: format!("{}{of}", run.name()),
            description: format!(
                "{}: flow {} of {}, {}",
                self.title,
                number + 1,
                flows.len(),
                flows[number].controller
            ),
            logger: logger.into(),
            group: run.name(),
        }
    }
}

impl RunCache for QlogFolder {
    fn find(&self, _: &Run) -> Option<(Outcome, f64)> {
        None
    }

    fn keep(&self, _: &Run, _: &Outcome, _: f64) {}

    fn make(&self, run: &Run, progress: &mut dyn FnMut(Time) -> bool) -> Result<Option<Outcome>, String> {
        let records: Vec<Record> = run.experiment.flows.iter().map(|_| Record::default()).collect();
        let next = Cell::new(0);
        let build = |flow: &Flow, host: &control::Conditions| {
            let Parties { sender, receiver } = sim::named(flow, host)?;
            let record = &records[next.replace(next.get() + 1)];
            // Simulated paths and hosts support ECN, and nothing needs to be tested.
            if flow.ecn.is_capable() {
                let capable = Happened::Ecn { old: None, new: "capable".into() };
                record.add(flow.start.since(Time::ZERO), capable);
            }
            Ok(Parties { sender: record.watch(sender, flow.packet), receiver })
        };
        let outcome = sim::run_with(&run.experiment, &build, progress)?;
        if let Some(outcome) = &outcome {
            let recorded: Vec<Vec<Event>> = records.iter().map(Record::take).collect();
            self.write(run, outcome, &recorded)?;
        }
        Ok(outcome)
    }
}
