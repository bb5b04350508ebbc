//! What came of an artefact: kept, so that nothing is run twice, and written for programs and for the documentation.

use super::artefact::{Artefact, Scale};
use super::judge::{Judged, Verdict, number};
use super::paper::papers;
use super::{CODE, file, traces};
use experiment::Run;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// What came of an artefact. The same code and scale give the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// `PAPER/NAME`.
    pub id: String,
    /// A line.
    pub title: String,
    /// What the paper shows.
    pub about: String,
    /// Claim by claim.
    pub claims: Vec<Judged>,
}

/// What `claims.json` says.
#[derive(Serialize, Deserialize)]
pub struct Claims {
    /// Which code made the runs: [`CODE`].
    pub code: String,
    /// How much was run.
    pub scale: Scale,
    /// Artefact by artefact.
    pub artefacts: Vec<Entry>,
}

/// An artefact in it.
#[derive(Serialize, Deserialize)]
pub struct Entry {
    /// `PAPER/NAME`.
    pub id: String,
    /// A line.
    pub title: String,
    /// Claim by claim.
    pub claims: Vec<Judged>,
}

impl Claims {
    /// Those of `records`.
    pub fn of<R: AsRef<Record>>(scale: Scale, records: &[R]) -> Claims {
        let entry = |it: &R| {
            let Record { id, title, claims, .. } = it.as_ref();
            Entry { id: id.clone(), title: title.clone(), claims: claims.clone() }
        };
        Claims { code: CODE.into(), scale, artefacts: records.iter().map(entry).collect() }
    }
}

/// `3 PASS, 1 MISS`.
pub fn verdicts(claims: &[Judged]) -> String {
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let (pass, miss, untold) = (count(Verdict::Pass), count(Verdict::Miss), count(Verdict::Untold));
    let mut text = format!("{pass} PASS, {miss} MISS");
    if untold > 0 {
        let _ = write!(text, ", {untold} untold");
    }
    text
}

/// A record's name: the same for the same scenarios, measurements, bands, scale and code, in whatever words.
pub fn key(artefact: &Artefact, scale: Scale) -> String {
    let (own, scale) = (format!("{:?}", artefact.bare()), scale.to_string());
    let paper = artefact.id.split('/').next().unwrap_or_default();
    let scenarios = artefact.scenarios.iter().map(|it| format!("{paper}/scenarios/{}", it.file));
    let texts = scenarios.filter_map(|path| file(&path)).chain(traces(paper));
    hash([&*own, CODE, &scale].into_iter().chain(texts))
}

/// The name of what came of a run: the same for the same experiment. It is that of one [`CODE`].
pub fn run_key(run: &Run) -> String {
    hash([&*format!("{:?}", run.experiment)])
}

/// FNV-1a of 128 bits.
fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    for byte in texts.into_iter().flat_map(|text| text.bytes().chain([0xff])) {
        hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    format!("{hash:032x}")
}

impl AsRef<Record> for Record {
    fn as_ref(&self) -> &Record {
        self
    }
}

impl Record {
    /// With the words of `artefact`, whose record it is: they may have changed since.
    pub fn in_words_of(mut self, artefact: &Artefact) -> Record {
        self.title.clone_from(&artefact.title);
        self.about.clone_from(&artefact.about);
        for (judged, claim) in self.claims.iter_mut().zip(&artefact.claims) {
            judged.says.clone_from(&claim.says);
            judged.because = judged.explanation(claim);
        }
        self
    }
}

/// Claim by claim, for the terminal.
pub fn text(record: &Record) -> String {
    let mut text = format!("{}: {} ({})\n", record.id, record.title, verdicts(&record.claims));
    for (claim, because) in record.claims.iter().zip(reasons(&record.claims)) {
        let paper = claim.paper.map_or(String::new(), |x| format!(", the paper {}", number(x)));
        let verdict = mark(claim.verdict);
        let _ = writeln!(text, "  {verdict}  {}: {} (wanted {}{paper})", claim.says, claim.measured, claim.wanted());
        if let Some(because) = because {
            let _ = writeln!(text, "        {because}");
        }
    }
    text
}

/// All claims as Markdown. `of` is how many artefacts there are; `made`, when and from what the records were made, if that is to be
/// told.
pub fn markdown<R: AsRef<Record>>(scale: Scale, records: &[R], of: usize, made: Option<&str>) -> String {
    let all = claims(records);
    let (which, among) = match records.len() {
        all if all == of => (" --all", String::new()),
        _ => ("", format!(" of {of}")),
    };
    let mut text = format!(
        "# Reproduced\n\nWhat `thalweg reproduce{which} --scale {scale}` says: {} claims in {}{among} artefacts, {}.\n",
        all.len(),
        records.len(),
        verdicts(&all)
    );
    if let Some(made) = made {
        let _ = writeln!(text, "{made}");
    }
    text += "What the words mean, and how to run it: [reproduce.md](reproduce.md).\n\n| paper | artefacts | claims | PASS | MISS | untold |\n|---|---|---|---|---|---|\n";
    for paper in papers(records) {
        let all = claims(paper.records);
        let count = |verdict| all.iter().filter(|claim| claim.verdict == verdict).count();
        let counts = [Verdict::Pass, Verdict::Miss, Verdict::Untold].map(|verdict| count(verdict).to_string());
        let (artefacts, counts) = (paper.records.len(), counts.join(" | "));
        let _ = writeln!(text, "| {} | {artefacts} | {} | {counts} |", paper.name, all.len());
    }
    for paper in papers(records) {
        let _ = write!(text, "\n## {}\n\n{}\n", paper.name, paper.about);
        for record in paper.records {
            text += &table(record.as_ref());
        }
    }
    text
}

/// Why each of `claims` misses; what was just said is not said again.
pub fn reasons(claims: &[Judged]) -> Vec<Option<&str>> {
    let mut last = None;
    claims
        .iter()
        .map(|claim| {
            let because = claim.because.as_deref()?;
            Some(if last.replace(because) == Some(because) { "As above." } else { because })
        })
        .collect()
}

/// The claims of all `records`.
pub fn claims<R: AsRef<Record>>(records: &[R]) -> Vec<Judged> {
    records.iter().flat_map(|it| it.as_ref().claims.clone()).collect()
}

fn table(record: &Record) -> String {
    let mut text = format!("\n### {}\n\n{}. {}\n\n", record.id, record.title, verdicts(&record.claims));
    text += "| | claim | paper | wanted | measured |\n|---|---|---|---|---|\n";
    for (claim, because) in record.claims.iter().zip(reasons(&record.claims)) {
        let because = because.map_or(String::new(), |why| format!(". *{why}*"));
        let cells = [
            &format!("{}{because}", claim.says),
            &claim.paper.map_or(String::new(), number),
            &claim.wanted(),
            &claim.measured,
        ];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(text, "| {} | {} |", mark(claim.verdict).trim(), cells.join(" | "));
    }
    text
}

/// A verdict, four letters wide.
pub fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "PASS",
        Verdict::Miss => "MISS",
        Verdict::Untold => "  - ",
    }
}
