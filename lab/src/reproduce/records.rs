//! Records in files, so that claims are not judged and figures not drawn twice from the same runs by the same code.

use super::artefact::{Artefact, Scale};
use super::catalogue::{file, traces};
use super::record::Record;
use crate::code::CODE;
use crate::files;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The records of one scale, in a folder.
pub struct Records {
    folder: PathBuf,
    scale: Scale,
}

/// A record, with what was drawn from the same runs.
#[derive(Serialize, Deserialize)]
pub struct KeptRecord<F> {
    /// How long the runs took, as if they had been made in one go, in seconds.
    pub wall_seconds: f64,
    /// The judged claims.
    pub record: Record,
    /// The figures, in the caller's form.
    pub figures: F,
}

impl Records {
    /// The records of `scale` in `folder`, which need not exist yet.
    pub fn of(folder: PathBuf, scale: Scale) -> Records {
        Records { folder, scale }
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The record of `artefact`, in its present words, if there is one that can be read.
    pub fn find<F: DeserializeOwned>(&self, artefact: &Artefact) -> Option<KeptRecord<F>> {
        let kept: KeptRecord<F> = read(&self.file(artefact))?;
        Some(KeptRecord { record: kept.record.in_words_of(artefact), ..kept })
    }

    /// The newest record of each artefact by its id, whichever code made it from whatever scenarios.
    pub fn newest(&self) -> HashMap<String, Record> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<_> =
            entries.filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path()))).collect();
        files.sort();
        // Of two with the same id, the later one stays.
        let records = files.iter().filter_map(|(_, path)| read::<IgnoredAny>(path)).map(|kept| kept.record);
        records.map(|record| (record.id.clone(), record)).collect()
    }

    /// Keeps the record of `artefact`.
    ///
    /// # Errors
    /// If its file cannot be written.
    pub fn keep<F: Serialize>(&self, artefact: &Artefact, kept: &KeptRecord<F>) -> io::Result<()> {
        files::write(&self.file(artefact), |file| Ok(serde_json::to_writer(file, kept)?))
    }

    fn file(&self, artefact: &Artefact) -> PathBuf {
        self.folder.join(format!("{}.json", key(artefact, self.scale)))
    }
}

/// The name of a record: the same for the same scenarios, measures, bands, figures, scale and code, whatever the
/// artefact's words.
pub fn key(artefact: &Artefact, scale: Scale) -> String {
    let (own, scale) = (format!("{:?}", artefact.bare()), scale.to_string());
    let paper = artefact.id.split('/').next().unwrap_or_default();
    let scenarios = artefact.scenarios.iter().map(|it| format!("{paper}/scenarios/{}", it.file));
    let scenarios = scenarios.filter_map(|path| file(&path));
    let mut hash = blake3::Hasher::new();
    for text in [&*own, CODE, &scale].into_iter().chain(scenarios).chain(traces(paper)) {
        hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
    }
    hash.finalize().to_hex()[..32].to_string()
}

/// The record in a file, if it can be read.
fn read<F: DeserializeOwned>(path: &Path) -> Option<KeptRecord<F>> {
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_found_until_what_it_depends_on_changes() {
        let home = tempfile::tempdir().unwrap();
        let text = "title = \"One\"\nabout = \"\"\nseconds = { quick = 1, full = 1 }\n[[claim]]\nsays = \"x\"\nmeasure = \"drops\"\nmost = 1\n";
        let artefact = |text: &str| Artefact::read("test/one", text).unwrap();
        let one = artefact(text);
        let record = Record { id: one.id.clone(), title: one.title.clone(), about: String::new(), claims: vec![] };
        let records = Records::of(home.path().into(), Scale::Quick);
        records.keep(&one, &KeptRecord { wall_seconds: 2.0, record, figures: vec![7] }).unwrap();
        let find = |text: &str| records.find::<Vec<u32>>(&artefact(text));
        let found = find(&text.replace("One", "Two")).unwrap();
        assert_eq!((found.record.title.as_str(), found.wall_seconds, found.figures), ("Two", 2.0, vec![7]));
        assert!(find(&text.replace("most = 1", "most = 2")).is_none());
        assert!(Records::of(home.path().into(), Scale::Full).find::<Vec<u32>>(&one).is_none());
        assert_eq!(records.newest()["test/one"].title, "One");
    }
}
