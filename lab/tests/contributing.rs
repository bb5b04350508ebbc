//! The examples of CONTRIBUTING.md and docs/reproduce-artefacts.md are those that compile and run here.

use scenario::Machine;
use std::num::NonZero;
use thalweg_lab::reproduce::measure::{Excerpt, Measure, Scope};
use thalweg_lab::reproduce::{Artefact, Scale, Verdict, make, plan};

const CONTRIBUTING: &str = include_str!("../../CONTRIBUTING.md");

mod measure {
    use super::Excerpt;
    use experiment::mean;

    include!("contributing/measure.rs");

    pub const EMPTY_QUEUE: super::Measure = super::Measure::of_run("empty-queue", "Empty queue (%)", empty_queue);
}

/// Block `number`, from 1, of those that begin with `fence` after the heading `section`.
fn block(page: &str, section: &str, fence: &str, number: usize) -> String {
    let page = &page[page.find(section).unwrap_or_else(|| panic!("no section {section}"))..];
    let block = page.split(fence).nth(number).unwrap_or_else(|| panic!("no block {number} in {section}"));
    block.split("```").next().unwrap().to_string()
}

fn machine() -> Machine {
    Machine { memory: u64::MAX, jobs: NonZero::new(2).unwrap() }
}

#[test]
fn the_measure_is_the_one_that_compiles() {
    assert!(CONTRIBUTING.contains(include_str!("contributing/measure.rs")));
    assert!(CONTRIBUTING.contains("Measure::of_run(\"empty-queue\", \"Empty queue (%)\", empty_queue)"));
}

/// A sender that may have one packet outstanding never lets a second one wait; one without that limit fills the buffer.
#[test]
fn the_measure_works() {
    let empty = |window: &str| {
        let text = format!(
            "duration = \"5 s\"\npath = {{ rate = \"10 Mbps\", rtt = \"40 ms\", buffer = \"1 bdp\" }}\n\
             flow = [{{ controller = \"reno\"{window} }}]"
        );
        let plan = scenario::read("test", &text, &[], &machine()).unwrap();
        let runs = thalweg_lab::runner::run(&plan, machine().jobs, &(), &|_| true).unwrap();
        measure::EMPTY_QUEUE.of(&runs[0], Scope { span: Some([1.0, 5.0]), ..Scope::default() })
    };
    assert_eq!(empty(", receive-window = 1"), 100.0);
    assert!(empty("") < 50.0);
}

/// The example's scenario and artefact, as a contributor would write them.
#[test]
fn the_artefact_works() {
    let section = "## Add an artefact";
    let (scenario, artefact) =
        (block(CONTRIBUTING, section, "```toml\n", 1), block(CONTRIBUTING, section, "```toml\n", 2));
    let artefact = Artefact::read("paper/fig1", &artefact).unwrap();
    for scale in [Scale::Quick, Scale::Full] {
        let planned =
            plan(&artefact, scale, &machine(), |path| (path == "paper/scenarios/alone.toml").then(|| scenario.clone()));
        let planned = planned.unwrap_or_else(|lines| panic!("{lines:?}"));
        let record = make(&artefact, scale, planned, &machine(), &(), &|_| true).unwrap().record;
        assert!(record.claims.iter().all(|claim| claim.verdict == Verdict::Pass), "{:?}", record.claims);
    }
}

/// The reference's example can be read, and its curves evaluated.
#[test]
fn the_reference_has_artefacts_that_can_be_read() {
    let page = include_str!("../../docs/reproduce-artefacts.md");
    let artefact = block(page, "## Add an artefact", "```toml\n", 1);
    let artefact = artefact + &block(page, "## Figures", "```toml\n", 1) + &block(page, "## Curves", "```toml\n", 1);
    let artefact = Artefact::read("paper/all", &artefact).unwrap();
    assert_eq!((artefact.claims.len(), artefact.figures.len(), artefact.curves.len()), (3, 2, 1));
    assert_eq!(artefact.claims[0].quantity.measure.name(), "max-queue");
}
