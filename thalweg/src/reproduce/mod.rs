//! `thalweg reproduce`.

mod gallery;
mod store;

use crate::args::Reproduce;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::progress::Whole;
use lab::reproduce::record;
use lab::reproduce::{self, Artefact, Planned, Scale};
use lab::runner::{self, Stopped};
use report::Drawn;
use scenario::Machine;
use scenario::reason;
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;
use std::{fs, io};
use store::{Kept, Store};

/// Lists the papers' tables and figures, or runs those that are named.
pub fn reproduce(args: &Reproduce) -> Result<(), Failure> {
    let catalogue = reproduce::catalogue().map_err(Failure::Failed)?;
    let scale = args.scale();
    let store = Store::of(&args.out, scale);
    if args.ids.is_empty() && !args.all && args.markdown.is_none() {
        return list(&catalogue, &store, scale);
    }
    let wanted = chosen(&catalogue, args)?;
    store.prepare(&args.out)?;
    if let Some(page) = &args.markdown {
        prepare_page(page)?;
    }
    let machine = Machine::this(args.jobs);
    let interrupt = Interrupt::catch();
    // Those that need no run count a little, too.
    let expected = |artefact: &Artefact| artefact.seconds.at(scale).max(0.1);
    let missing = wanted.iter().filter(|artefact| store.find(artefact).is_none());
    let mut whole = Whole::new(missing.map(|artefact| expected(artefact)).sum(), args.quiet);
    let mut refused = Vec::new();
    let mut unexplained = 0;
    // Verdicts that nobody reads (`| head`) are no reason to stop: the pages have them, too.
    let mut heard = true;
    for (i, artefact) in wanted.iter().enumerate() {
        let Kept { drawn, .. } = match store.find(artefact) {
            Some(kept) => kept,
            None => {
                let planned =
                    reproduce::plan(artefact, scale, &machine, |path| reproduce::file(path).map(str::to_string));
                let planned = match planned {
                    Ok(planned) => planned,
                    // Such as one that needs more memory than is free: the others can do without it.
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
                let kept = make(artefact, scale, planned, &machine, &store, &interrupt, &show)?;
                whole.finish(expected(artefact));
                kept
            }
        };
        unexplained += drawn.record.claims.iter().filter(|claim| claim.unexplained()).count();
        if heard {
            match whole.aside(|| print::text(&record::text(&drawn.record))) {
                Err(Failure::Unread) => heard = false,
                printed => printed?,
            }
        }
    }
    drop(whole);
    // The pages show whatever is kept, whichever call made it.
    let kept: Vec<Kept> = catalogue.iter().filter_map(|artefact| store.find(artefact)).collect();
    let seconds = kept.iter().map(|it| it.wall_seconds).sum();
    let records: Vec<Drawn> = kept.into_iter().map(|it| it.drawn).collect();
    let folder = args.out.join(scale.to_string());
    gallery::publish(&folder, scale, &catalogue, &records).map_err(|e| unwritable(&folder, &e))?;
    if let Some(file) = &args.markdown {
        let made = gallery::made(seconds, machine.jobs.get(), scale);
        let page = record::markdown(scale, &records, catalogue.len(), Some(&made));
        store::write(file, |out| out.write_all(page.as_bytes())).map_err(|e| unwritable(file, &e))?;
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

fn make(
    artefact: &Artefact,
    scale: Scale,
    planned: Vec<Planned>,
    machine: &Machine,
    store: &Store,
    interrupt: &Interrupt,
    show: &(dyn Fn(&str, f64) + Sync),
) -> Result<Kept, Failure> {
    let begin = Instant::now();
    let files = store.runs(&planned);
    let seconds: f64 = planned.iter().map(|it| runner::total_seconds(&it.plan)).sum();
    show("", 0.0);
    let reproduced = reproduce::make(artefact, scale, planned, machine, store, &|progress| {
        let text = format!(", {} of {} runs", progress.runs, files.len());
        show(&text, progress.simulated_seconds / seconds);
        !interrupt.came()
    });
    let reproduced = reproduced.map_err(|stopped| match stopped {
        Stopped::Cancelled => Failure::Interrupted,
        Stopped::Refused(why) => Failure::Failed(why),
    })?;
    let earlier = store.found_seconds() / machine.jobs.get().min(files.len().max(1)) as f64;
    let kept =
        Kept { wall_seconds: begin.elapsed().as_secs_f64() + earlier, drawn: Drawn::new(artefact, scale, reproduced) };
    store.keep(artefact, &kept).map_err(|e| unwritable(store.folder(), &e))?;
    // The record stands for them now.
    files.iter().for_each(|file| drop(fs::remove_file(file)));
    Ok(kept)
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

fn list(catalogue: &[Artefact], store: &Store, scale: Scale) -> Result<(), Failure> {
    let mut text = String::new();
    let newest = store.newest();
    for artefact in catalogue {
        let last = match (store.find(artefact), newest.get(&artefact.id)) {
            (Some(kept), _) => record::verdicts(&kept.drawn.record.claims),
            (None, Some(drawn)) => format!("{} (earlier)", record::verdicts(&drawn.record.claims)),
            (None, None) => "not run".into(),
        };
        let seconds = artefact.seconds.at(scale).max(1.0);
        let time = if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) };
        let _ = writeln!(text, "{:24} {time:>7}  {last:28}  {}", artefact.id, artefact.title);
    }
    print::text(&text)
}
