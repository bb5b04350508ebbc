//! The figures of an artefact are drawn from the runs that were made of it.

use lab::reproduce::{self, Artefact, Scale};
use report::Drawn;

/// Jain's index over windows of several lengths has an axis of its own, the length of the window.
#[test]
fn a_figure_over_windows_has_the_windows_lengths_as_its_axis() {
    let artefact = r#"
        title = "Windows"
        about = "Two flows."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "one", file = "one.toml" }]
        figure = [{ scenario = "one" }, { scenario = "one", windows = [0.5, 2, 60], measures = ["jain"] }]
        [[claim]]
        says = "nothing is lost"
        measure = "drops"
        most = 0
    "#;
    let scenario = r#"
        duration = "5 s"
        path = { rate = "20 Mbps", rtt = "100 ms", buffer = "1000 packets" }
        flow = [{ controller = "vegas" }, { controller = "vegas" }]
    "#;
    let artefact = Artefact::read("test/windows", artefact).unwrap();
    let machine = scenario::Machine::this(None);
    let planned = reproduce::plan(&artefact, Scale::Quick, &machine, |_| Some(scenario.into())).unwrap();
    let reproduced = reproduce::make(&artefact, Scale::Quick, planned, &machine, &(), &|_| true).unwrap();
    let drawn = Drawn::new(&artefact, Scale::Quick, reproduced);
    assert_eq!(drawn.figures.len(), 2);
    assert!(drawn.figures[0].contains("Throughput") && !drawn.figures[0].contains("Timescale (s)"));
    assert!(drawn.figures[1].contains("Timescale (s)"));
}
