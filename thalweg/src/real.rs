//! `thalweg run --real`: each run simulated, and then in real time on loopback.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::status::{Status, say_verdict};
use experiment::{Finished, Run};
use lab::files::Pending;
use lab::names;
use lab::qlog::QlogFolder;
use qlog::Event;
use real::{Contestant, Error, Helper, RealRuns, Sinks};
use scenario::{Plan, Set, reason};
use std::cell::Cell;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;

/// The setting that gives simulated packets the size of real ones.
pub fn packets() -> Set {
    format!("packet={} B", real::PACKET.0).parse().expect("KEY=VALUE")
}

/// Prepares the real runs of the plan in `file`, and those with the contestants `beside`. The process must have a
/// single thread. `program` begins a command that starts this program again.
pub fn prepare(file: &str, plan: &Plan, beside: &[Contestant], program: &[OsString]) -> Result<RealRuns, Failure> {
    RealRuns::prepare(&plan.runs, beside, &Helper::new(program.to_vec())).map_err(|e| match e {
        Error::Unsupported(why) => Failure::Wrong(vec![format!("{file}: {why}")]),
        e => e.into(),
    })
}

/// A folder for the captures of real runs.
pub struct Captures {
    folder: PathBuf,
    /// Those of the run that is being made.
    pending: Cell<Option<[Pending; 2]>>,
}

impl Captures {
    /// The folder `folder`, which is made if it is not there.
    pub fn prepare(folder: PathBuf) -> Result<Captures, Failure> {
        match fs::create_dir_all(&folder) {
            Ok(()) => Ok(Captures { folder, pending: Cell::new(None) }),
            Err(e) => {
                let (folder, why) = (folder.display(), reason(&e));
                Err(Failure::Wrong(vec![format!("--pcapng {folder}: cannot be written ({why}); name another folder")]))
            }
        }
    }

    fn begin(&self, run: &Run) -> io::Result<Sinks> {
        let [senders, receivers] = names::of_captures(run).map(|name| Pending::begin(self.folder.join(name)));
        let pending = [senders?, receivers?];
        let sinks: Sinks = [Box::new(pending[0].writer()?), Box::new(pending[1].writer()?)];
        self.pending.set(Some(pending));
        Ok(sinks)
    }

    /// Keeps the files of the run that was begun last, in which `missing` packets are missing.
    fn keep(&self, run: &Run, missing: u64) -> Result<(), String> {
        if missing > 0 {
            let name = run.name();
            print::note(&format!("{name}: {missing} packets are missing in the captures: they are written too slowly"));
        }
        for pending in self.pending.take().into_iter().flatten() {
            let file = pending.path().display().to_string();
            pending.keep().map_err(|e| format!("{file}: cannot be written ({})", reason(&e)))?;
        }
        Ok(())
    }
}

/// Makes the real runs, and returns them with the simulated ones. Their logs are written into the folder `qlog`, and
/// their packets into the folder of `captures`, where there is such a folder.
pub fn run(
    runs: RealRuns,
    simulated: Vec<Finished>,
    qlog: Option<&QlogFolder>,
    captures: Option<Captures>,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Vec<Finished>, Failure> {
    let status = Status::new(interrupt, quiet, false);
    let runs = if qlog.is_some() { runs.recorded() } else { runs };
    let mut begin = |run: &Run| {
        status.begin();
        if !quiet {
            print::note(&format!("{}: {} s", run.name(), run.experiment.duration.as_secs()));
        }
        captures.as_ref().map(|captures| captures.begin(run)).transpose()
    };
    let mut unwritten = None;
    let mut keep = |made: &Finished, recorded: &[Vec<Event>], uncaptured: u64| {
        let written = qlog.map_or(Ok(()), |folder| folder.write(&made.run, &made.outcome, recorded));
        let kept = captures.as_ref().map_or(Ok(()), |captures| captures.keep(&made.run, uncaptured));
        unwritten = unwritten.take().or(written.err()).or(kept.err());
    };
    let all = runs.run(simulated, &status, &mut begin, &mut keep)?;
    if let Some(why) = unwritten {
        return Err(Failure::Failed(why));
    }
    all.iter().for_each(|finished| say_verdict(finished, quiet));
    Ok(all)
}
