//! `thalweg run`.

use crate::args::{Format, Run};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::interrupt::Interrupt;
use crate::print;
use crate::progress::Bar;
#[cfg(target_os = "linux")]
use crate::real::{self, Real};
use lab::results;
use lab::runner::{self, Stopped};
use scenario::{self, Machine};
use scenario::{Plan, reason};

/// Simulates a scenario and prints what came out.
pub fn run(args: &Run) -> Result<(), Failure> {
    let machine = Machine::this(args.scenario.jobs);
    let plan = plan(args, &machine)?;
    #[cfg(target_os = "linux")]
    let real = match args.real {
        true => Some(Real::prepare(&args.scenario.file.display().to_string(), &plan, &args.beside)?),
        false => None,
    };
    // Ctrl-C is caught before there is anything to clean up.
    let interrupt = Interrupt::catch();
    let folder = args.out.as_deref().map(Folder::prepare).transpose()?;

    let finished = simulate(&plan, &machine, &interrupt, args.quiet)?;
    #[cfg(target_os = "linux")]
    let finished = match real {
        Some(real) => real.run(&plan, finished, &interrupt, args.quiet)?,
        None => finished,
    };
    let Plan { title, seed, .. } = &plan;
    if let (Some(folder), Some(name)) = (folder, &args.out) {
        let written = report::write(folder.path(), title, *seed, &finished);
        written
            .map_err(|e| Failure::Failed(format!("--out {}: cannot be written ({})", name.display(), reason(&e))))?;
        if interrupt.came() {
            return Err(Failure::Interrupted);
        }
        folder.publish()?;
        if !args.quiet {
            print::note(&format!("report: {}", name.join("report.html").display()));
        }
    }
    let summary = results::summary(title, *seed, &finished);
    match args.format {
        Format::Table => print::text(&results::table(&summary)),
        Format::Json => print::json(&summary),
    }
}

/// The runs of the scenario; what is to be made for real, too, with its packets.
fn plan(args: &Run, machine: &Machine) -> Result<Plan, Failure> {
    #[allow(unused_mut)]
    let mut sets = args.scenario.sets.clone();
    #[cfg(target_os = "linux")]
    if args.real {
        sets.push(real::packets());
    }
    Ok(scenario::load(&args.scenario.file, &sets, machine)?)
}

fn simulate(
    plan: &Plan,
    machine: &Machine,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Vec<experiment::Finished>, Failure> {
    let bar = Bar::new(plan.runs.len(), runner::total_seconds(plan), quiet);
    let finished = runner::run(plan, machine.jobs, &(), &|progress| {
        bar.show(progress);
        !interrupt.came()
    });
    finished.map_err(|stopped| match stopped {
        Stopped::Cancelled => Failure::Interrupted,
        Stopped::Refused(why) => Failure::Failed(why),
    })
}
