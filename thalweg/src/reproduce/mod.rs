//! `thalweg reproduce`.

use crate::args::Reproduce;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::progress::Whole;
use lab::reproduce::paper::papers;
use lab::reproduce::record::{self, Claims, Record};
use lab::reproduce::{self, Artefact, Planned, Scale};
use lab::runner::{self, Stopped};
use lab::scenario::Machine;
use lab::{reason, report};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, io};

/// Lists the papers' tables and figures, or runs those that are named.
pub fn reproduce(args: &Reproduce) -> Result<(), Failure> {
    let catalogue = reproduce::catalogue().map_err(Failure::Failed)?;
    let scale = args.scale();
    if args.ids.is_empty() && !args.all {
        return list(&catalogue, scale, &args.out);
    }
    let wanted = chosen(&catalogue, args)?;
    let machine = Machine::this(args.jobs);
    let interrupt = Interrupt::catch();
    let store = Store { folder: args.out.join("kept"), scale };
    // Those that need no run count a little, too.
    let expected = |artefact: &Artefact| artefact.seconds.at(scale).max(0.1);
    let missing = wanted.iter().filter(|artefact| store.find(artefact).is_none());
    let mut whole = Whole::new(missing.map(|artefact| expected(artefact)).sum(), args.quiet);
    let mut refused = 0;
    let mut unexplained = 0;
    for (i, artefact) in wanted.iter().enumerate() {
        let Kept { record, .. } = match store.find(artefact) {
            Some(kept) => kept,
            None => {
                let planned =
                    reproduce::plan(artefact, scale, &machine, |path| reproduce::file(path).map(str::to_string));
                let planned = match planned {
                    Ok(planned) => planned,
                    // Such as one that needs more memory than is free: the others can do without it.
                    Err(lines) => {
                        whole.aside(|| lines.iter().for_each(|line| print::note(line)));
                        refused += 1;
                        continue;
                    }
                };
                let begin = Instant::now();
                let place = format!("{} of {}: {}", i + 1, wanted.len(), artefact.id);
                if !args.quiet {
                    whole.aside(|| print::note(&place));
                }
                let show = |text: &str, share| whole.show(&format!("{place}{text}"), expected(artefact), share);
                let record = make(artefact, scale, planned, &machine, &interrupt, &show)?;
                whole.finish(expected(artefact));
                let kept = Kept { wall_seconds: begin.elapsed().as_secs_f64(), record };
                store.keep(artefact, &kept).map_err(|e| unwritable(&args.out, &e))?;
                kept
            }
        };
        unexplained += record.claims.iter().filter(|claim| claim.unexplained()).count();
        whole.aside(|| print::text(&record::text(&record)))?;
    }
    drop(whole);
    // The pages show whatever is kept, whichever call made it.
    let kept: Vec<Kept> = catalogue.iter().filter_map(|artefact| store.find(artefact)).collect();
    let seconds = kept.iter().map(|it| it.wall_seconds).sum();
    let records: Vec<Record> = kept.into_iter().map(|it| it.record).collect();
    if let Some(file) = &args.markdown {
        let made = made(seconds, machine.jobs.get());
        fs::write(file, record::markdown(scale, &records, Some(&made))).map_err(|e| unwritable(file, &e))?;
    }
    let folder = args.out.join(scale.to_string());
    write(&folder, scale, &records).map_err(|e| unwritable(&args.out, &e))?;
    if !args.quiet {
        print::note(&format!("gallery: {}", folder.join("index.html").display()));
    }
    match (refused, unexplained) {
        (0, 0) => Ok(()),
        (0, 1) => Err(Failure::Failed("1 claim misses without an explanation".into())),
        (0, n) => Err(Failure::Failed(format!("{n} claims miss without an explanation"))),
        (n, _) => Err(Failure::Failed(format!("{n} of {} artefacts could not be run", wanted.len()))),
    }
}

fn unwritable(out: &Path, e: &io::Error) -> Failure {
    Failure::Failed(format!("{}: cannot be written ({})", out.display(), reason(e)))
}

fn make(
    artefact: &Artefact,
    scale: Scale,
    planned: Vec<Planned>,
    machine: &Machine,
    interrupt: &Interrupt,
    show: &(dyn Fn(&str, f64) + Sync),
) -> Result<Record, Failure> {
    let runs: usize = planned.iter().map(|it| it.plan.runs.len()).sum();
    let seconds: f64 = planned.iter().map(|it| runner::total_seconds(&it.plan)).sum();
    show("", 0.0);
    let record = reproduce::make(artefact, scale, planned, machine, &|progress| {
        show(&format!(", {} of {runs} runs", progress.runs), progress.simulated_seconds / seconds);
        !interrupt.came()
    });
    record.map_err(|stopped| match stopped {
        Stopped::Cancelled => Failure::Interrupted,
        Stopped::Refused(why) => Failure::Failed(why),
    })
}

/// Those that the command line names.
fn chosen<'a>(catalogue: &'a [Artefact], args: &Reproduce) -> Result<Vec<&'a Artefact>, Failure> {
    let matches = |wanted: &str, id: &str| match wanted.strip_suffix('*') {
        Some(beginning) => id.starts_with(beginning),
        None => wanted == id,
    };
    let unknown: Vec<String> = args
        .ids
        .iter()
        .filter(|wanted| !catalogue.iter().any(|it| matches(wanted, &it.id)))
        .map(|wanted| reproduce::unknown(wanted, catalogue))
        .collect();
    if !unknown.is_empty() {
        return Err(Failure::Wrong(unknown));
    }
    Ok(catalogue.iter().filter(|it| args.all || args.ids.iter().any(|wanted| matches(wanted, &it.id))).collect())
}

fn list(catalogue: &[Artefact], scale: Scale, out: &Path) -> Result<(), Failure> {
    let store = Store { folder: out.join("kept"), scale };
    let mut text = String::new();
    for artefact in catalogue {
        let last = store.find(artefact).map_or("not run".into(), |kept| record::verdicts(&kept.record.claims));
        let seconds = artefact.seconds.at(scale);
        let time = if seconds < 120.0 { format!("{seconds} s") } else { format!("{:.0} min", seconds / 60.0) };
        let _ = writeln!(text, "{:22} {time:>7}  {last:26}  {}", artefact.id, artefact.title);
    }
    print::text(&text)
}

/// Records of earlier calls, each in a file of the name that its data, scale and code give it.
struct Store {
    folder: PathBuf,
    scale: Scale,
}

/// A record, and how long it took.
#[derive(Serialize, Deserialize)]
struct Kept {
    wall_seconds: f64,
    record: Record,
}

impl Store {
    fn file(&self, artefact: &Artefact) -> PathBuf {
        self.folder.join(format!("{}.json", record::key(artefact, self.scale)))
    }

    /// The one of `artefact`, if there is one that can be read.
    fn find(&self, artefact: &Artefact) -> Option<Kept> {
        serde_json::from_slice(&fs::read(self.file(artefact)).ok()?).ok()
    }

    fn keep(&self, artefact: &Artefact, kept: &Kept) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer(&file, kept)?;
        file.persist(self.file(artefact))?;
        Ok(())
    }
}

/// `claims.json`, `claims.md`, the pages, and the figures for papers.
fn write(folder: &Path, scale: Scale, records: &[Record]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut json = serde_json::to_vec_pretty(&Claims::of(scale, records))?;
    json.push(b'\n');
    fs::write(folder.join("claims.json"), json)?;
    fs::write(folder.join("claims.md"), record::markdown(scale, records, None))?;
    let figures = folder.join("figures");
    fs::create_dir_all(&figures)?;
    for (name, svg) in records.iter().flat_map(report::paper::figures) {
        fs::write(figures.join(format!("{name}.pdf")), report::paper::pdf(&svg).map_err(io::Error::other)?)?;
        fs::write(figures.join(format!("{name}.svg")), svg)?;
    }
    fs::write(folder.join("index.html"), report::gallery::index(scale, records))?;
    for paper in papers(records) {
        fs::write(folder.join(format!("{}.html", paper.folder)), report::gallery::page(&paper, scale))?;
    }
    Ok(())
}

/// When, from what and in which time the records were made.
fn made(seconds: f64, jobs: usize) -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let date = Command::new("date").args(["-u", "+%Y-%m-%d"]).output().map(|it| it.stdout).unwrap_or_default();
    let commit = git(&["rev-parse", "--short=10", "HEAD"]).map_or(String::new(), |commit| {
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
        format!(", commit {commit}{}", if changed { " with changes" } else { "" })
    });
    format!(
        "Made on {}{commit}, in {:.0} min {:.0} s with {jobs} runs at a time. `thalweg reproduce --all --markdown docs/reproduced.md` makes it again.",
        String::from_utf8_lossy(&date).trim(),
        (seconds / 60.0).floor(),
        seconds % 60.0
    )
}
