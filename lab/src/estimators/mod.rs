//! The bench of the bandwidth estimators: what each of [`ESTIMATORS`] finds in p-streams beside other traffic, compared
//! with the bandwidth that was available. `docs/estimators.md` defines the measures.
//!
//! A `case` says what the p-streams meet. `sender` sends them at a fixed rate, `receiver` draws all estimates from
//! the same streams, `meter` sees at the bottleneck what was available meanwhile, and `accuracy` compares the two.

mod accuracy;
mod bench;
mod case;
mod measure;
mod meter;
mod receiver;
mod sender;
mod table;

pub use accuracy::{Accuracy, Errors};
pub use bench::Bench;
pub use case::{Case, Traffic};
pub use receiver::ESTIMATORS;
pub use sender::Shape;
pub use table::table;

use crate::runner::Progress;
use control::{Bytes, Duration};
use measure::measure;
use serde::{Serialize, Serializer};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The average rates of the probe's streams, as multiples of the bandwidth that the other traffic's load leaves.
const RATIOS: [f64; 3] = [0.7, 1.0, 1.3];

/// The results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// The bottleneck's capacity, in bits per second.
    pub capacity_bps: f64,
    /// Packets or bursts in a stream.
    pub stream: u16,
    /// The rate of a packet over that of the one before it.
    pub spread: f64,
    /// The most of the available bandwidth that the probe took in the mean.
    pub share: f64,
    /// The seed.
    pub seed: u64,
    /// A row for each case and average rate.
    pub rows: Vec<Row>,
}

/// The results of one case at one average rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    #[serde(flatten, serialize_with = "case_as_keys")]
    pub case: Case,
    /// The average rate of the probe's streams, as a multiple of what the other traffic's load leaves.
    pub ratio: f64,
    /// What was found.
    #[serde(flatten)]
    pub accuracy: Accuracy,
}

/// A case in JSON, in units without a name.
#[derive(Serialize)]
struct CaseKeys {
    traffic: &'static str,
    load: f64,
    others_packet_bytes: u64,
    packet_bytes: u64,
    clock_seconds: f64,
    jitter_seconds: f64,
    coalesce_seconds: f64,
    quantum_seconds: f64,
}

fn case_as_keys<S: Serializer>(case: &Case, serializer: S) -> Result<S::Ok, S::Error> {
    let Case { traffic, load, others_packet: Bytes(others_packet_bytes), packet: Bytes(packet_bytes), .. } = *case;
    let [clock_seconds, jitter_seconds, coalesce_seconds, quantum_seconds] =
        [case.tick, case.jitter, case.coalesce, case.quantum].map(Duration::as_secs);
    let traffic = traffic.name();
    CaseKeys {
        traffic,
        load,
        others_packet_bytes,
        packet_bytes,
        clock_seconds,
        jitter_seconds,
        coalesce_seconds,
        quantum_seconds,
    }
    .serialize(serializer)
}

impl Bench {
    /// The cases, each with an average rate.
    fn settings(&self) -> Vec<(Case, f64)> {
        Case::all(&self.beside).into_iter().flat_map(|case| RATIOS.map(|ratio| (case, ratio))).collect()
    }

    /// How many runs it takes.
    pub fn runs(&self) -> usize {
        self.settings().len()
    }

    /// The time to be simulated, in seconds.
    pub fn seconds(&self) -> f64 {
        self.settings().iter().map(|(case, ratio)| measure::duration(self, case, *ratio).as_secs()).sum()
    }

    /// Makes all runs, up to `jobs` at a time. Their results do not depend on `jobs`. Calls `go_on` after each run;
    /// when it returns false, stops, and there are no results.
    pub fn run(&self, jobs: NonZero<usize>, go_on: &(dyn Fn(Progress) -> bool + Sync)) -> Option<Results> {
        let settings = self.settings();
        let next = AtomicUsize::new(0);
        let rows: Mutex<Vec<Option<Row>>> = Mutex::new(vec![None; settings.len()]);
        let progress = Mutex::new(Progress { simulated_seconds: 0.0, runs: 0 });
        let work = || {
            while let i = next.fetch_add(1, Ordering::Relaxed)
                && let Some(&(case, ratio)) = settings.get(i)
            {
                let row = Row { case, ratio, accuracy: measure(self, &case, ratio) };
                rows.lock().unwrap_or_else(PoisonError::into_inner)[i] = Some(row);
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                progress.runs += 1;
                progress.simulated_seconds += measure::duration(self, &case, ratio).as_secs();
                if !go_on(*progress) {
                    next.store(settings.len(), Ordering::Relaxed);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..jobs.get().min(settings.len()) {
                // The system may refuse a thread; the others then make all runs.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        Some(Results {
            capacity_bps: self.capacity.as_bps(),
            stream: self.shape.len,
            spread: self.shape.spread,
            share: self.share,
            seed: self.seed,
            rows: rows.into_iter().collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests;
