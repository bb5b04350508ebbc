//! `thalweg run --shard` and `thalweg merge`.

use crate::args::{Merge, Run};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::run::simulate;
use crate::source;
use lab::shards::{self, Part, Refusal};
use scenario::{Machine, Shard};
use std::path::Path;

/// Makes the runs of `shard`, and writes their metrics into the folder `out`, and their time series if they are asked
/// for, unless all that is there.
pub fn run(args: &Run, shard: Shard, out: &Path) -> Result<(), Failure> {
    let quiet = args.output.quiet;
    let machine = Machine::this(args.scenario.jobs);
    let plan = source::load(&args.scenario.file, &args.scenario.sets, &machine, Some(shard))?;
    let part = Part::prepare(out, &plan, shard, args.series).map_err(|refusal| failure(refusal, "--out "))?;
    let note = |what: &str| {
        if !quiet {
            print::note(&format!("shard {shard}: {}{what}", part.path()));
        }
    };
    if part.is_there() {
        note(" is there; nothing to do");
        return Ok(());
    }
    let interrupt = Interrupt::catch();
    let kept = part.begin().map_err(|refusal| failure(refusal, "--out "))?;
    let runs = simulate(&plan, &machine, &(), &interrupt, quiet, &|finished| kept.add(&finished))?;
    let written = shards::metrics(&plan, runs).and_then(|metrics| part.write(&plan, &kept, metrics));
    written.map_err(|refusal| failure(refusal, "--out "))?;
    note("");
    Ok(())
}

/// Joins the results of all shards.
pub fn merge(args: &Merge) -> Result<(), Failure> {
    let merged = shards::merge(&args.folder).map_err(|refusal| failure(refusal, ""))?;
    for (what, path) in merged.files {
        print::note(&format!("{what}: {path}"));
    }
    merged.lacking.map_or(Ok(()), |line| Err(Failure::Failed(line)))
}

/// The failure. A line about a folder begins with the `option` that names it.
fn failure(refusal: Refusal, option: &str) -> Failure {
    match refusal {
        Refusal::Wrong(line) => Failure::Wrong(vec![format!("{option}{line}")]),
        Refusal::Failed(line) => Failure::Failed(line),
    }
}
