//! What earlier calls made, so that nothing is run twice: records of artefacts, and the runs of those that are not complete.

use crate::failure::Failure;
use experiment::Outcome;
use experiment::Run;
use lab::reproduce::record;
use lab::reproduce::{Artefact, CODE, Planned, Scale};
use lab::runner::Shelf;
use report::Drawn;
use scenario::reason;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, mem};
use tempfile::NamedTempFile;

/// Files whose names follow from the data, scale and code of what they hold.
pub struct Store {
    folder: PathBuf,
    /// Where in it the records of one scale are.
    records: PathBuf,
    scale: Scale,
    /// How long the runs took that were found since this was last asked, in seconds.
    found: Mutex<f64>,
}

/// A record, and how long it took.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    /// As if in one go.
    pub wall_seconds: f64,
    /// What came of the artefact.
    pub drawn: Drawn,
}

impl Store {
    /// That of the gallery in `out`.
    pub fn of(out: &Path, scale: Scale) -> Store {
        let folder = out.join("kept");
        Store { records: folder.join(scale.to_string()), folder, scale, found: Mutex::default() }
    }

    /// Makes sure that there will be room for what comes, before anything is run. Runs that other code left are of no use any more.
    pub fn prepare(&self, out: &Path) -> Result<(), Failure> {
        let tried = fs::create_dir_all(self.runs_folder())
            .and_then(|()| fs::create_dir_all(&self.records))
            .and_then(|()| NamedTempFile::new_in(&self.records));
        tried.map_err(|e| {
            let (out, why) = (out.display(), reason(&e));
            Failure::Wrong(vec![format!("--out {out}: cannot be written ({why}); name another folder")])
        })?;
        for other in fs::read_dir(self.folder.join("runs")).into_iter().flatten().flatten() {
            if other.file_name().to_str().is_some_and(|name| name != CODE && names_code(name)) {
                let _ = fs::remove_dir_all(other.path());
            }
        }
        Ok(())
    }

    fn runs_folder(&self) -> PathBuf {
        self.folder.join("runs").join(CODE)
    }

    /// The record of `artefact`, if there is one that can be read.
    pub fn find(&self, artefact: &Artefact) -> Option<Kept> {
        let kept = read(&self.record(artefact))?;
        let Drawn { record, figures } = kept.drawn;
        Some(Kept { drawn: Drawn { record: record.in_words_of(artefact), figures }, ..kept })
    }

    /// The newest record of each artefact by its id, whichever code made it of whatever scenarios.
    pub fn newest(&self) -> HashMap<String, Drawn> {
        let entries = fs::read_dir(&self.records).into_iter().flatten().flatten();
        let mut files: Vec<_> =
            entries.filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path()))).collect();
        files.sort();
        // Of two with the same id, the later one stays.
        files.iter().filter_map(|(_, path)| read(path)).map(|it| (it.drawn.record.id.clone(), it.drawn)).collect()
    }

    /// Keeps the record of `artefact`.
    pub fn keep(&self, artefact: &Artefact, kept: &Kept) -> io::Result<()> {
        write(&self.record(artefact), |file| Ok(serde_json::to_writer(file, kept)?))
    }

    /// The files of the runs of `planned`, which a record makes superfluous.
    pub fn runs(&self, planned: &[Planned]) -> Vec<PathBuf> {
        planned.iter().flat_map(|it| &it.plan.runs).map(|run| self.run(run)).collect()
    }

    /// How long the runs took that were found since this was last asked, in seconds.
    pub fn found_seconds(&self) -> f64 {
        self.found.lock().map_or(0.0, |mut found| mem::take(&mut *found))
    }

    /// Where it all is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn record(&self, artefact: &Artefact) -> PathBuf {
        self.records.join(format!("{}.json", record::key(artefact, self.scale)))
    }

    fn run(&self, run: &Run) -> PathBuf {
        self.runs_folder().join(record::run_key(run))
    }
}

impl Shelf for Store {
    fn find(&self, run: &Run) -> Option<(Outcome, f64)> {
        let (outcome, seconds) = postcard::from_bytes(&fs::read(self.run(run)).ok()?).ok()?;
        if let Ok(mut found) = self.found.lock() {
            *found += seconds;
        }
        Some((outcome, seconds))
    }

    fn keep(&self, run: &Run, outcome: &Outcome, wall_seconds: f64) {
        // One that cannot be kept is made again: no reason to give up what else is under way.
        let _ = write(&self.run(run), |file| {
            postcard::to_io(&(outcome, wall_seconds), file).map(|_| ()).map_err(io::Error::other)
        });
    }
}

/// Whether this could be a [`CODE`]: what else a user has put there is left alone.
fn names_code(name: &str) -> bool {
    name.len() == CODE.len() && name.bytes().all(|it| it.is_ascii_hexdigit())
}

/// The record in a file, if it can be read.
fn read(path: &Path) -> Option<Kept> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Writes a file that is there as a whole or not at all.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666); // less the umask, as for any new file
    #[cfg(unix)]
    builder.permissions(permissions);
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = BufWriter::new(builder.prefix(".thalweg-").tempfile_in(folder)?);
    fill(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Finished;
    use lab::runner;
    use scenario::Plan;
    use scenario::{self, Machine};
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
        "#;
        scenario::read("test.toml", text, &[], &Machine::this(None)).unwrap()
    }

    /// What came of it, and whether it was found.
    fn made(store: &Store) -> (String, bool) {
        let runs = runner::run(&plan(), NonZero::<usize>::MIN, store, &|_| true).unwrap();
        let text = runs.iter().map(|Finished { outcome, .. }| format!("{outcome:?}")).collect();
        (text, store.found_seconds() > 0.0)
    }

    /// To the last bit, and also what JSON has no number for.
    #[test]
    fn what_is_kept_of_a_run_is_what_came_of_it() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::of(home.path(), Scale::Quick);
        store.prepare(home.path()).unwrap();
        let (first, found) = made(&store);
        assert!(!found && first.contains("NaN") && first.contains("Transfer"));
        assert!(made(&store) == (first.clone(), true));

        let file = store.run(&plan().runs[0]);
        let bytes = fs::read(&file).unwrap();
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&file, &bytes[..cut]).unwrap();
            assert!(made(&store) == (first.clone(), false), "{cut} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn runs_that_other_code_left_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::of(home.path(), Scale::Quick);
        let [other, foreign] = ["0123456789abcdef", "mine"].map(|name| home.path().join("kept/runs").join(name));
        for folder in [&other, &foreign] {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join("run"), "").unwrap();
        }
        store.prepare(home.path()).unwrap();
        made(&store);
        store.prepare(home.path()).unwrap();
        assert!(!other.exists() && made(&store).1, "others are gone, ours is found");
        assert!(foreign.join("run").exists(), "what is not ours stays");
    }

    #[test]
    fn another_experiment_is_another_run() {
        let [one, mut other] = [plan(), plan()].map(|mut plan| plan.runs.remove(0));
        let key = record::run_key;
        assert_eq!(key(&one), key(&other));
        other.identity.controllers = vec!["its name is no part of it".into()];
        assert_eq!(key(&one), key(&other));
        other.experiment.seed += 1;
        assert_ne!(key(&one), key(&other));
    }
}
