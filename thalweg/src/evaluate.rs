//! `thalweg evaluate`.

use crate::args::{Evaluate, Format};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::progress::Bar;
use lab::cache::{MOST_CACHED, RunFolder};
use lab::evaluate::{self, Block, Evaluation, Task, Verdict};
use lab::process::{self, CacheOfOthers};
use lab::runner::Stopped;
use scenario::{Machine, reason};

/// Compares controllers with a baseline, prints the verdicts, and writes the reports.
pub fn evaluate(args: &Evaluate) -> Result<(), Failure> {
    let known = evaluate::blocks().map_err(Failure::Failed)?;
    if args.list {
        return list(&known);
    }
    for process in &args.processes {
        let wrong = |why: String| Failure::Wrong(vec![format!("--process {process}: {why}")]);
        let (name, command) = process
            .split_once('=')
            .filter(|(name, _)| is_name(name))
            .ok_or_else(|| wrong("has no name before a `=`; write NAME=COMMAND, like mine='python3 mine.py'".into()))?;
        process::add(name, command).map_err(wrong)?;
    }
    let tasks = tasks(args, &known)?;
    let machine = Machine::this(args.jobs);
    let planned =
        tasks.iter().map(|task| task.plan(&machine)).collect::<Result<Vec<_>, _>>().map_err(Failure::Wrong)?;
    let cache = RunFolder::of(args.out.join("cache"));
    let unwritable = |e| {
        let (out, why) = (args.out.display(), reason(&e));
        Failure::Wrong(vec![format!("--out {out}: cannot be written ({why}); name another folder")])
    };
    cache.prepare().map_err(unwritable)?;
    let interrupt = Interrupt::catch();
    let mut evaluations = Vec::new();
    for planned in &planned {
        let bar = Bar::new(planned.runs(), planned.seconds(), args.quiet);
        let made = planned.make(&machine, &CacheOfOthers(&cache), &|progress| {
            bar.show(progress);
            !interrupt.came() && process::failure().is_none()
        });
        drop(bar);
        if let Some(why) = process::failure() {
            return Err(Failure::Failed(why));
        }
        cache.shrink(MOST_CACHED);
        let evaluation = made.map_err(|stopped| match stopped {
            Stopped::Cancelled => Failure::Interrupted,
            Stopped::Refused(why) => Failure::Failed(why),
        })?;
        evaluate::write(&args.out, &evaluation).map_err(unwritable)?;
        let page = args.out.join(format!("{}.html", evaluation.subject));
        let html = report::evaluation(&evaluation);
        lab::files::write(&page, |out| out.write_all(html.as_bytes())).map_err(unwritable)?;
        if args.format == Format::Table {
            print::text(&format!("{}\n{}\n", evaluate::table(&evaluation), page.display()))?;
        }
        evaluations.push(evaluation);
    }
    if args.format == Format::Json {
        print::json(&evaluations)?;
    }
    if let Some(file) = &args.markdown {
        let table = evaluate::markdown(&evaluations);
        lab::files::write(file, |out| out.write_all(table.as_bytes())).map_err(|e| {
            let (file, why) = (file.display(), reason(&e));
            Failure::Wrong(vec![format!("--markdown {file}: cannot be written ({why}); name another file")])
        })?;
    }
    let broken = |one: &&Evaluation| one.rows.iter().any(|row| row.verdict == Verdict::Broken);
    let broken: Vec<&str> = evaluations.iter().filter(broken).map(|one| one.subject.as_str()).collect();
    if broken.is_empty() { Ok(()) } else { Err(Failure::Failed(format!("broken in a row: {}", broken.join(", ")))) }
}

/// Whether `name` can name a controller, and a file.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Prints the names of all blocks, and their titles.
fn list(blocks: &[Block]) -> Result<(), Failure> {
    let widest = blocks.iter().map(|block| block.id.len()).max().unwrap_or(0);
    let line = |block: &Block| format!("{:widest$}  {}", block.id, block.title);
    print::text(&blocks.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// What the arguments ask for: a task for each controller.
fn tasks(args: &Evaluate, known: &[Block]) -> Result<Vec<Task>, Failure> {
    let mut wrong = Vec::new();
    for (i, name) in args.controllers.iter().enumerate() {
        if let Err(why) = scenario::controller(name) {
            wrong.push(why);
        } else if args.controllers[..i].contains(name) {
            wrong.push(format!("`{name}` is there twice; remove one of the two"));
        }
    }
    wrong.extend(scenario::controller(&args.baseline).err().map(|why| format!("--baseline: {why}")));
    for set in &args.sets {
        let key = set.path.to_string();
        wrong.extend(evaluate::unsettable(&key, &args.baseline).map(|why| format!("--set {key}: {why}")));
    }
    let mut blocks: Vec<Block> = Vec::new();
    for name in &args.blocks {
        match evaluate::block(name, known) {
            Ok(block) if blocks.iter().any(|other| other.id == block.id) => {
                wrong.push(format!("--blocks: there are two blocks `{}`; remove or rename one", block.id));
            }
            Ok(block) => blocks.push(block),
            Err(why) => wrong.push(format!("--blocks: {why}")),
        }
    }
    if !wrong.is_empty() {
        return Err(Failure::Wrong(wrong));
    }
    if args.blocks.is_empty() {
        blocks = known.to_vec();
    }
    let task = |subject: &String| Task {
        subject: subject.clone(),
        baseline: args.baseline.clone(),
        blocks: blocks.clone(),
        scale: args.scale(),
        sets: args.sets.clone(),
    };
    Ok(args.controllers.iter().map(task).collect())
}
