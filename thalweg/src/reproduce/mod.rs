//! `thalweg reproduce`.

mod gallery;

use crate::args::Reproduce;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::progress::Whole;
use lab::cache::{MOST_CACHED, RunFolder};
use lab::files;
use lab::reproduce::record::tally_of_records;
use lab::reproduce::records::{KeptRecord, Records};
use lab::reproduce::tally::tally;
use lab::reproduce::text;
use lab::reproduce::{self, Artefact, Planned, Scale};
use lab::runner::{self, Stopped};
use report::{Drawn, Page};
use scenario::Machine;
use scenario::reason;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;
use std::{fs, io};

/// A record, with its figures.
type Kept = KeptRecord<Vec<Page>>;

/// Records and runs of earlier calls.
struct Cache {
    records: Records,
    runs: RunFolder,
}

impl Cache {
    /// The cache below `out`, with the records of `scale`.
    fn of(out: &Path, scale: Scale) -> Cache {
        let folder = out.join("cache");
        let records = Records::of(folder.join("records").join(scale.to_string()), scale);
        Cache { records, runs: RunFolder::of(folder.join("runs")) }
    }

    /// Makes sure that the cache can be written, before anything is run.
    fn prepare(&self, out: &Path) -> Result<(), Failure> {
        let tried = self
            .runs
            .prepare()
            .and_then(|()| fs::create_dir_all(self.records.folder()))
            .and_then(|()| tempfile::NamedTempFile::new_in(self.records.folder()));
        tried.map(drop).map_err(|e| {
            let (out, why) = (out.display(), reason(&e));
            Failure::Wrong(vec![format!("--out {out}: cannot be written ({why}); name another folder")])
        })
    }
}

/// Lists the papers' tables and figures, or runs those that are named.
pub fn reproduce(args: &Reproduce) -> Result<(), Failure> {
    let catalogue = reproduce::catalogue().map_err(Failure::Failed)?;
    let scale = args.scale();
    let cache = Cache::of(&args.out, scale);
    if args.ids.is_empty() && !args.all && args.markdown.is_none() {
        return list(&catalogue, &cache.records, scale);
    }
    let wanted = chosen(&catalogue, args)?;
    cache.prepare(&args.out)?;
    if let Some(page) = &args.markdown {
        prepare_page(page)?;
    }
    let machine = Machine::this(args.jobs);
    let interrupt = Interrupt::catch();
    let find = |artefact: &Artefact| cache.records.find::<Vec<Page>>(artefact);
    // Artefacts that need no run take a little time, too.
    let expected = |artefact: &Artefact| artefact.seconds.at(scale).max(0.1);
    let missing = wanted.iter().filter(|artefact| find(artefact).is_none());
    let mut whole = Whole::new(missing.map(|artefact| expected(artefact)).sum(), args.quiet);
    let mut refused = Vec::new();
    let mut judged = Vec::new();
    // A reader that closes standard output (`| head`) does not stop the runs: the pages have the verdicts, too.
    let mut heard = true;
    for (i, artefact) in wanted.iter().enumerate() {
        let kept = match find(artefact) {
            Some(kept) => kept,
            None => {
                let planned =
                    reproduce::plan(artefact, scale, &machine, |path| reproduce::file(path).map(str::to_string));
                let planned = match planned {
                    Ok(planned) => planned,
                    // An artefact that cannot be run, such as one that needs more memory than is free, does not stop
                    // the others.
                    Err(lines) => {
                        whole.aside(|| lines.iter().for_each(|line| print::note(line)));
                        refused.push(artefact.id.as_str());
                        continue;
                    }
                };
                let place = format!("{} of {}: {}", i + 1, wanted.len(), artefact.id);
                if !args.quiet {
                    whole.aside(|| print::note(&place));
                }
                let show = |text: &str, share| whole.show(&format!("{place}{text}"), expected(artefact), share);
                let kept = make(artefact, scale, planned, &machine, &cache, &interrupt, &show)?;
                whole.finish(expected(artefact));
                let removed = cache.runs.shrink(MOST_CACHED);
                if removed.runs > 0 && !args.quiet {
                    whole.aside(|| print::note(&dropped(removed)));
                }
                kept
            }
        };
        if heard {
            heard = listened(whole.aside(|| print::text(&text::text(&kept.record))))?;
        }
        judged.push(kept.record);
    }
    if heard && judged.len() > 1 {
        listened(whole.aside(|| print::text(&format!("{}\n", tally_of_records(&judged).sentences()))))?;
    }
    drop(whole);
    let unexplained = judged.iter().flat_map(|it| &it.claims).filter(|claim| claim.unexplained()).count();
    // The pages show all records, whichever call made them.
    let kept: Vec<Kept> = catalogue.iter().filter_map(find).collect();
    let seconds = kept.iter().map(|it| it.wall_seconds).sum();
    let records: Vec<Drawn> = kept.into_iter().map(|it| Drawn { record: it.record, figures: it.figures }).collect();
    let folder = args.out.join(scale.to_string());
    gallery::publish(&folder, scale, &catalogue, &records).map_err(|e| unwritable(&folder, &e))?;
    if let Some(file) = &args.markdown {
        let made = gallery::made(seconds, machine.jobs.get(), scale);
        let page = text::markdown(scale, &records, catalogue.len(), Some(&made));
        files::write(file, |out| out.write_all(page.as_bytes())).map_err(|e| unwritable(file, &e))?;
    }
    if !args.quiet {
        print::note(&format!("gallery: {}", folder.join("index.html").display()));
    }
    match (&refused[..], unexplained) {
        ([], 0) => Ok(()),
        ([], 1) => Err(Failure::Failed("1 claim misses without an explanation".into())),
        ([], n) => Err(Failure::Failed(format!("{n} claims miss without an explanation"))),
        (ids, _) => Err(Failure::Failed(format!("not run: {}", ids.join(", ")))),
    }
}

/// Whether what was printed had a reader.
fn listened(printed: Result<(), Failure>) -> Result<bool, Failure> {
    match printed {
        Err(Failure::Unread) => Ok(false),
        printed => printed.map(|()| true),
    }
}

/// Says which runs the cache has no more.
fn dropped(removed: lab::cache::Removed) -> String {
    format!(
        "cache of runs: {} removed ({:.1} GB) to stay within {} GB; they are made again if they are needed",
        removed.runs,
        removed.bytes as f64 / 1e9,
        MOST_CACHED / 1_000_000_000
    )
}

/// Makes sure that the page can be written, before anything is run.
fn prepare_page(page: &Path) -> Result<(), Failure> {
    let folder = page.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let why = match tempfile::NamedTempFile::new_in(folder) {
        Err(e) => reason(&e),
        Ok(_) if page.is_dir() => "is a folder".into(),
        Ok(_) => return Ok(()),
    };
    Err(Failure::Wrong(vec![format!("--markdown {}: cannot be written ({why}); name another file", page.display())]))
}

fn unwritable(out: &Path, e: &io::Error) -> Failure {
    Failure::Failed(format!("{}: cannot be written ({})", out.display(), reason(e)))
}

/// Makes the runs of `artefact` that the cache does not have, judges its claims, draws its figures, and keeps all of
/// it.
fn make(
    artefact: &Artefact,
    scale: Scale,
    planned: Vec<Planned>,
    machine: &Machine,
    cache: &Cache,
    interrupt: &Interrupt,
    show: &(dyn Fn(&str, f64) + Sync),
) -> Result<Kept, Failure> {
    let begin = Instant::now();
    let count: usize = planned.iter().map(|it| it.plan.runs.len()).sum();
    let seconds: f64 = planned.iter().map(|it| runner::total_seconds(&it.plan)).sum();
    show("", 0.0);
    let reproduced = reproduce::make(artefact, scale, planned, machine, &cache.runs, &|progress| {
        let text = format!(", {} of {count} runs", progress.runs);
        show(&text, progress.simulated_seconds / seconds);
        !interrupt.came()
    });
    let reproduced = reproduced.map_err(|stopped| match stopped {
        Stopped::Cancelled => Failure::Interrupted,
        Stopped::Refused(why) => Failure::Failed(why),
    })?;
    let found = cache.runs.found_seconds() / machine.jobs.get().min(count.max(1)) as f64;
    let wall_seconds = begin.elapsed().as_secs_f64() + found;
    let Drawn { record, figures } = Drawn::new(artefact, scale, reproduced);
    let kept = Kept { wall_seconds, record, figures };
    cache.records.keep(artefact, &kept).map_err(|e| unwritable(cache.records.folder(), &e))?;
    Ok(kept)
}

/// The artefacts that the command line names.
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

/// Prints the catalogue, with the last verdicts.
fn list(catalogue: &[Artefact], records: &Records, scale: Scale) -> Result<(), Failure> {
    let newest = records.newest();
    let last = |artefact: &Artefact| match (records.find::<Vec<Page>>(artefact), newest.get(&artefact.id)) {
        (Some(kept), _) => tally(&kept.record.claims).to_string(),
        (None, Some(earlier)) => format!("{} (earlier)", tally(&earlier.claims)),
        (None, None) => "not run".into(),
    };
    let verdicts: Vec<String> = catalogue.iter().map(last).collect();
    let wide = verdicts.iter().map(String::len).max().unwrap_or(0);
    let mut text = String::new();
    for (artefact, last) in catalogue.iter().zip(verdicts) {
        let seconds = artefact.seconds.at(scale).max(1.0);
        let time = if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) };
        let _ = writeln!(text, "{:24} {time:>7}  {last:wide$}  {}", artefact.id, artefact.title);
    }
    print::text(&text)
}
