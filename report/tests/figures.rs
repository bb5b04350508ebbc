//! The figures of an artefact are drawn from its runs.

use lab::reproduce::{self, Artefact, Scale, paper};
use thalweg_report::figure::{Page, Vertical};
use thalweg_report::{Drawn, pdf};

/// Two flows over time, and Jain's index over windows of several lengths.
fn drawn() -> Drawn {
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
    Drawn::new(&artefact, Scale::Quick, reproduced)
}

#[test]
fn a_figure_over_windows_has_their_lengths_as_its_axis() {
    let drawn = drawn();
    let figures = |page: &Page| page.groups.iter().flat_map(|group| group.figures.clone()).collect::<Vec<_>>();
    let [over_time, over_windows] = &drawn.figures[..] else { panic!("two figures, not {}", drawn.figures.len()) };
    assert!(figures(over_time).iter().all(|figure| figure.across.is_none()));
    assert!(figures(over_time)[0].axis.starts_with("Throughput"));
    let [jain] = &figures(over_windows)[..] else { panic!("one panel for the one run") };
    let across = jain.across.as_ref().unwrap();
    assert_eq!(
        (across.axis.as_str(), &across.values.0[..], across.log),
        ("Timescale (s)", &[0.5, 2.0, 60.0][..], true)
    );
    assert!(jain.band.is_some() && jain.vertical == Vertical::To(1.05));
}

/// A gallery may be written from what was kept of an earlier one.
#[test]
fn figures_that_were_kept_are_drawn_the_same() {
    let drawn = drawn();
    let kept: Drawn = serde_json::from_str(&serde_json::to_string(&drawn).unwrap()).unwrap();
    assert_eq!(thalweg_report::svgs(&kept), thalweg_report::svgs(&drawn));
    let [page, again] =
        [drawn, kept].map(|it| thalweg_report::gallery::page(&paper::papers(&[it])[0], Scale::Quick, false));
    assert!(page == again);
}

#[test]
fn figures_have_files_of_their_own_names() {
    let drawn = drawn();
    let names: Vec<String> = thalweg_report::svgs(&drawn).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["test-windows-1", "test-windows-2"]);
    for pdf in [false, true] {
        let page = thalweg_report::gallery::page(&paper::papers(std::slice::from_ref(&drawn))[0], Scale::Quick, pdf);
        for name in &names {
            assert!(page.contains(&format!("href=\"figures/{name}.svg\"")));
            assert_eq!(
                page.contains(&format!("href=\"figures/{name}.pdf\"")),
                pdf,
                "only a PDF that is there is linked"
            );
        }
    }
}

#[cfg(feature = "pdf")]
#[test]
fn pdfs_carry_their_letters() {
    for (name, svg) in thalweg_report::svgs(&drawn()) {
        let pdf = pdf::pdf(&svg).unwrap();
        assert!(pdf.starts_with(b"%PDF"), "{name}");
        let has = |word: &[u8]| pdf.windows(word.len()).any(|bytes| bytes == word);
        assert!(has(b"LiberationSans") && has(b"/FontFile2"), "{name} does not carry its letters");
    }
}

#[cfg(not(feature = "pdf"))]
#[test]
fn without_the_feature_a_line_tells_how_to_get_pdfs() {
    let why = pdf::pdf("<svg/>").unwrap_err().to_string();
    assert!(why.contains("--features pdf") && !why.contains('\n'), "{why}");
}
