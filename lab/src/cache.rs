//! A cache of runs in a folder: the outcome of each run in a file, so that no run is made twice by the same code.
//!
//! The name of a run's file is a hash of its experiment, and the folder's name that of the code that decides what a
//! simulation gives ([`SIMULATION`]). A file has the run's time and its whole outcome, compressed. Nothing of an
//! outcome is left out, because any claim or figure may measure any part of it; the cache is bounded by removing whole
//! files, see [`RunFolder::shrink`].

use crate::code::SIMULATION;
use crate::files;
use crate::runner::RunCache;
use experiment::{Outcome, Run};
use snap::read::FrameDecoder;
use snap::write::FrameEncoder;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::PathBuf;
use std::sync::Mutex;

/// The most bytes that a cache has after a command is complete.
pub const MOST_CACHED: u64 = 4_000_000_000;

/// A folder of runs.
pub struct RunFolder {
    /// Has a folder for each version of the code.
    versions: PathBuf,
    /// The sum of the wall times of runs that were found since [`RunFolder::found_seconds`] was last called, in
    /// seconds.
    found: Mutex<f64>,
}

/// What [`RunFolder::shrink`] removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many runs.
    pub runs: usize,
    /// The size of their files.
    pub bytes: u64,
}

/// The name of a run's file: the same for the same experiment, whatever the run is called.
pub fn key(run: &Run) -> String {
    blake3::hash(format!("{:?}", run.experiment).as_bytes()).to_hex().to_string()
}

impl RunFolder {
    /// The cache in the folder `versions`, which need not exist yet.
    pub fn of(versions: PathBuf) -> RunFolder {
        RunFolder { versions, found: Mutex::default() }
    }

    /// Makes the folder if it is not there, and removes the runs of other code, which are of no use any more.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(self.folder())?;
        for other in fs::read_dir(&self.versions)?.flatten() {
            if other.file_name().to_str().is_some_and(|name| name != SIMULATION && names_code(name)) {
                let _ = fs::remove_dir_all(other.path());
            }
        }
        Ok(())
    }

    /// Removes runs until their files have no more than `most` bytes together. Those go first that take the least time
    /// per byte to make again, so that the time lost is small.
    pub fn shrink(&self, most: u64) -> Removed {
        let mut runs: Vec<RunFile> =
            fs::read_dir(self.folder()).into_iter().flatten().flatten().filter_map(run_file).collect();
        runs.sort_by(|a, b| (a.seconds / a.bytes as f64).total_cmp(&(b.seconds / b.bytes as f64)));
        let mut total: u64 = runs.iter().map(|run| run.bytes).sum();
        let mut removed = Removed::default();
        for run in runs {
            if total <= most {
                break;
            }
            if fs::remove_file(&run.path).is_ok() {
                removed.runs += 1;
                removed.bytes += run.bytes;
                total -= run.bytes;
            }
        }
        removed
    }

    /// The sum of the wall times of runs that were found since this was last called, in seconds.
    pub fn found_seconds(&self) -> f64 {
        self.found.lock().map_or(0.0, |mut found| std::mem::take(&mut *found))
    }

    /// Where the runs of this code are.
    pub fn folder(&self) -> PathBuf {
        self.versions.join(SIMULATION)
    }

    fn file(&self, run: &Run) -> PathBuf {
        self.folder().join(key(run))
    }
}

impl RunCache for RunFolder {
    fn find(&self, run: &Run) -> Option<(Outcome, f64)> {
        let mut file = BufReader::new(File::open(self.file(run)).ok()?);
        let seconds = read_seconds(&mut file).ok()?;
        let mut bytes = Vec::new();
        FrameDecoder::new(file).read_to_end(&mut bytes).ok()?;
        let outcome = postcard::from_bytes(&bytes).ok()?;
        if let Ok(mut found) = self.found.lock() {
            *found += seconds;
        }
        Some((outcome, seconds))
    }

    fn keep(&self, run: &Run, outcome: &Outcome, wall_seconds: f64) {
        // A run that cannot be written is made again when it is needed: no reason to give up those that are under way.
        let _ = files::write(&self.file(run), |file| {
            file.write_all(&wall_seconds.to_le_bytes())?;
            let encoder = postcard::to_io(outcome, FrameEncoder::new(file)).map_err(io::Error::other)?;
            encoder.into_inner().map_err(|e| io::Error::other(e.to_string()))?;
            Ok(())
        });
    }
}

/// The file of a run.
struct RunFile {
    path: PathBuf,
    bytes: u64,
    /// How long the run took.
    seconds: f64,
}

/// The run's file in the folder's `entry`, if it is one.
fn run_file(entry: fs::DirEntry) -> Option<RunFile> {
    let path = entry.path();
    let hidden = entry.file_name().to_str().is_none_or(|name| name.starts_with('.'));
    let seconds = File::open(&path).and_then(|mut file| read_seconds(&mut file)).unwrap_or(0.0);
    let bytes = entry.metadata().ok().filter(|it| it.is_file())?.len();
    (!hidden).then_some(RunFile { path, bytes: bytes.max(1), seconds })
}

/// The first part of a run's file.
fn read_seconds(file: &mut impl Read) -> io::Result<f64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(f64::from_le_bytes(bytes))
}

/// Whether a folder of this name could be of another version of the code; anything else is the user's, and is left
/// alone.
fn names_code(name: &str) -> bool {
    name.len() == SIMULATION.len() && name.bytes().all(|it| it.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner;
    use experiment::Finished;
    use scenario::{Machine, Plan};
    use std::num::NonZero;

    fn plan() -> Plan {
        let text = r#"
            duration = "2 s"
            path = { rate = "5 Mbps", rtt = "40 ms", buffer = "1 bdp" }
            flow = [{ controller = "rapid" }, { controller = "reno", start = "1 s" }]
            [[traffic]]
            kind = "flows"
            controller = "reno"
            load = "10 %"
            size = "5 kB"
            [sweep]
            seed = [1, 2, 3]
        "#;
        scenario::read("test.toml", text, &[], &Machine::this(None)).unwrap()
    }

    /// The outcomes of the plan's runs as text, and how many runs were not found.
    fn make(cache: &RunFolder) -> (String, usize) {
        struct Counting<'c>(&'c RunFolder, Mutex<usize>);
        impl RunCache for Counting<'_> {
            fn find(&self, run: &Run) -> Option<(Outcome, f64)> {
                self.0.find(run)
            }
            fn keep(&self, run: &Run, outcome: &Outcome, wall_seconds: f64) {
                *self.1.lock().unwrap() += 1;
                self.0.keep(run, outcome, wall_seconds);
            }
        }
        let counting = Counting(cache, Mutex::default());
        let runs = runner::run(&plan(), NonZero::<usize>::MIN, &counting, &|_| true).unwrap();
        let text = runs.iter().map(|Finished { outcome, .. }| format!("{outcome:?}")).collect();
        (text, counting.1.into_inner().unwrap())
    }

    /// A prepared cache, and the folder that it lives in as long as.
    fn cache() -> (RunFolder, tempfile::TempDir) {
        let home = tempfile::tempdir().unwrap();
        let cache = RunFolder::of(home.path().join("runs"));
        cache.prepare().unwrap();
        (cache, home)
    }

    /// The same to the last bit, also values for which JSON has no number.
    #[test]
    fn a_run_that_is_found_is_the_run_that_was_kept() {
        let (cache, _home) = cache();
        let (first, made) = make(&cache);
        assert!(made == 3 && first.contains("NaN") && first.contains("Transfer"));
        assert_eq!(cache.found_seconds(), 0.0);
        assert!(make(&cache) == (first.clone(), 0));
        assert!(cache.found_seconds() > 0.0);
    }

    #[test]
    fn a_file_that_is_cut_off_is_as_good_as_none() {
        let (cache, _home) = cache();
        let (first, _) = make(&cache);
        let file = cache.file(&plan().runs[0]);
        let bytes = fs::read(&file).unwrap();
        for length in [0, 1, 8, 9, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&file, &bytes[..length]).unwrap();
            assert!(make(&cache) == (first.clone(), 1), "{length} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn runs_of_other_code_are_removed_and_files_of_the_user_are_not() {
        let (cache, home) = cache();
        let [other, foreign] = [&"0".repeat(SIMULATION.len()), "mine"].map(|name| home.path().join("runs").join(name));
        for folder in [&other, &foreign] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("run"), "").unwrap();
        }
        make(&cache);
        cache.prepare().unwrap();
        assert!(!other.exists() && foreign.join("run").exists());
        assert_eq!(make(&cache).1, 0);
    }

    #[test]
    fn the_cheapest_runs_leave_first_when_there_are_too_many_bytes() {
        let (cache, _home) = cache();
        for (run, seconds) in plan().runs.iter().zip([5.0, 1.0, 3.0]) {
            let outcome = sim::run(&run.experiment, &mut |_| true).unwrap().unwrap();
            cache.keep(run, &outcome, seconds);
        }
        let sizes: Vec<u64> = plan().runs.iter().map(|run| fs::metadata(cache.file(run)).unwrap().len()).collect();
        let total: u64 = sizes.iter().sum();
        assert_eq!(cache.shrink(total), Removed::default());
        assert_eq!(cache.shrink(total - 1), Removed { runs: 1, bytes: sizes[1] });
        let found = plan().runs.iter().map(|run| cache.find(run).is_some()).collect::<Vec<_>>();
        assert_eq!(found, [true, false, true]);
    }

    #[test]
    fn another_experiment_is_another_run_and_another_name_is_not() {
        let [one, mut other] = [plan(), plan()].map(|mut plan| plan.runs.remove(0));
        other.identity.controllers = vec!["another name".into()];
        assert_eq!(key(&one), key(&other));
        other.experiment.seed += 1;
        assert_ne!(key(&one), key(&other));
    }
}
