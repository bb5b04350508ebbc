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
    drawn_from(artefact, scenario)
}

/// The figures of an artefact whose scenarios are all `scenario`.
fn drawn_from(artefact: &str, scenario: &str) -> Drawn {
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

/// The paper's numbers are those of the claims, drawn where a figure shows what they are about: over the claim's span
/// on a figure over time, at the swept value on a figure across a key, and nowhere if the paper does not print them.
#[test]
fn the_papers_numbers_are_marked_in_the_figures() {
    let artefact = r#"
        title = "Marks"
        about = "Two speeds."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "one", file = "one.toml" }]
        span.late = { quick = [2, 5], full = [2, 5] }
        span.all = { quick = [0, 5], full = [0, 5] }
        [[figure]]
        scenario = "one"
        axes = ["Throughput"]
        [[figure]]
        scenario = "one"
        across = "path.rate"
        span = "late"
        measures = ["utilization"]
        [[figure]]
        scenario = "one"
        every = 1
        panels = [{ title = "Loss", axis = "Loss (%)", of = { measure = "loss" } }]
        [[figure]]
        scenario = "one"
        across = "path.rate"
        [[figure.panels]]
        title = "Use of the end over use of all"
        axis = "Ratio"
        of = { measure = "utilization", span = "late", relative-to = { span = "all" } }
        [[claim]]
        says = "one over the other"
        measure = "utilization"
        run = { "path.rate" = "10 Mbps" }
        span = "late"
        relative-to = { span = "all" }
        paper = 1.1
        within = 0.5
        [[claim]]
        says = "a number that the paper prints"
        measure = "throughput"
        run = { "path.rate" = "20 Mbps" }
        span = "late"
        paper = 12
        within = 0.5
        [[claim]]
        says = "one that follows from its words"
        measure = "throughput"
        run = { "path.rate" = "10 Mbps" }
        paper = 10
        within = 0.5
        derived = true
        [[claim]]
        says = "the paper's own band"
        measure = "utilization"
        run = { "path.rate" = "10 Mbps" }
        span = "late"
        least = 80
        most = 90
        [[claim]]
        says = "our band"
        measure = "utilization"
        run = { "path.rate" = "20 Mbps" }
        span = "late"
        least = 50
        most = 100
        ours = true
        [[claim]]
        says = "acquired after ten round trips"
        measure = "acquire-rtts"
        run = { "path.rate" = "20 Mbps" }
        paper = 10
        within = 0.5
        [[claim]]
        says = "lost in the end"
        measure = "loss"
        span = "late"
        run = { "path.rate" = "20 Mbps" }
        paper = 1
        within = 0.5
    "#;
    let scenario = r#"
        duration = "5 s"
        path = { rate = "20 Mbps", rtt = "100 ms", buffer = "1 bdp" }
        flow = [{ controller = "reno" }]
        sweep = { "path.rate" = ["10 Mbps", "20 Mbps"] }
    "#;
    let drawn = drawn_from(artefact, scenario);
    let marks = |i: usize| {
        let group = &drawn.figures[i].groups[0];
        let marks = group.figures.iter().flat_map(|figure| figure.stated.clone()).collect::<Vec<_>>();
        (marks, group.legend.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>())
    };
    let (over_time, legend) = marks(0);
    let [throughput, acquired] = &over_time[..] else { panic!("{over_time:?}") };
    assert_eq!((throughput.values, throughput.along), ([12.0, 12.0], [2.0, 5.0]));
    assert_eq!((acquired.values, acquired.along), ([19.0, 19.0], [1.0, 1.0]), "95 % of 20 Mbps after 10 times 100 ms");
    assert_eq!(throughput.entry, Some(1), "in the colour of the second run");
    assert_eq!(legend.last().unwrap(), "the paper");
    let (across, legend) = marks(1);
    let [band] = &across[..] else { panic!("{across:?}") };
    assert_eq!((band.values, band.at), ([80.0, 90.0], 10.0));
    assert_eq!(legend.last().unwrap(), "the paper's range");
    let (panel, _) = marks(2);
    assert!(panel.len() == 1 && panel[0].along == [2.0, 5.0], "{panel:?}");
    let (ratio, _) = marks(3);
    let of_ratio = &drawn.figures[3].groups[0].figures[0].lines;
    assert!(ratio.len() == 1 && ratio[0].values == [1.1, 1.1] && ratio[0].at == 10.0, "{ratio:?}");
    assert!(of_ratio.iter().any(|line| line.values.0.iter().all(|x| (0.9..1.5).contains(x))), "{of_ratio:?}");
    for (name, svg) in thalweg_report::svgs(&drawn) {
        assert!(svg.contains(">the paper"), "{name} has no legend of it");
    }
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
