//! `thalweg score`.

use crate::args::{Format, Score};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::progress::Bar;
use lab::cache::{MOST_CACHED, RunFolder};
use lab::draw::{self, PathId};
use lab::runner::Stopped;
use lab::score::{self, Task, Trouble};
use scenario::{Machine, reason};

/// Keys by which the measures go, so that they must have the values that were drawn, and all keys below them.
const DRAWN: [&str; 7] = ["compare", "sweep", "flow", "traffic", "packet", "path.rate", "path.rtt"];

/// Scores controllers on drawn paths, and prints the score.
pub fn score(args: &Score) -> Result<(), Failure> {
    let task = task(args)?;
    let cache = RunFolder::of(args.out.join("cache"));
    let unwritable = |e| {
        let (out, why) = (args.out.display(), reason(&e));
        Failure::Wrong(vec![format!("--out {out}: cannot be written ({why}); name another folder")])
    };
    cache.prepare().map_err(unwritable)?;
    let interrupt = Interrupt::catch();
    let bar = Bar::new(task.runs(), task.seconds(), args.quiet);
    let rows = task.run(&Machine::this(args.jobs), &cache, &|progress| {
        bar.show(progress);
        !interrupt.came()
    });
    drop(bar);
    cache.shrink(MOST_CACHED);
    let rows = rows.map_err(|trouble| match trouble {
        Trouble::Wrong(problems) => problems.into(),
        Trouble::Stopped(Stopped::Cancelled) => Failure::Interrupted,
        Trouble::Stopped(Stopped::Refused(why)) => Failure::Failed(why),
    })?;
    let score = score::summary(args.seed, &task, &rows);
    score::write(&args.out, &score, &task, &rows).map_err(unwritable)?;
    match args.format {
        Format::Table => print::text(&score::table(&score))?,
        Format::Json => print::json(&score)?,
    }
    let failing = score.controllers.iter().filter(|scored| !scored.failures.is_empty());
    let failing: Vec<String> =
        failing.map(|scored| format!("{} on {} paths", scored.controller, scored.failures.len())).collect();
    if failing.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("controllers fail: {}", failing.join(", ")))) }
}

/// What the arguments ask for.
fn task(args: &Score) -> Result<Task, Failure> {
    let mut wrong = Vec::new();
    for (i, name) in args.controllers.iter().enumerate() {
        if let Err(why) = scenario::controller(name) {
            wrong.push(why);
        } else if args.controllers[..i].contains(name) {
            wrong.push(format!("`{name}` is there twice; remove one of the two"));
        }
    }
    for set in &args.sets {
        let key = set.path.to_string();
        let drawn =
            |drawn: &&str| key.strip_prefix(*drawn).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if DRAWN.iter().any(drawn) {
            wrong
                .push(format!("--set {key}: is as it was drawn; set another key, such as a parameter of a controller"));
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::Wrong(wrong));
    }
    let paths = (1..=args.count.get()).map(|number| draw::path(PathId { seed: args.seed, number }));
    Ok(Task { paths: paths.collect(), controllers: args.controllers.clone(), sets: args.sets.clone() })
}
