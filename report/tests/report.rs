//! Opens reports in a real browser (see `browser`).

mod browser;
#[path = "../../lab/tests/common/mod.rs"]
mod common;

use browser::{in_browser, opened};
use common::finished;
use lab::reproduce::{self, Artefact, Scale, paper};
use serde_json::json;

#[test]
fn a_click_in_the_legend_hides_a_run() {
    let runs = [finished("rapid", 1, false), finished("reno", 1, true), finished("bic", 1, true)];
    in_browser("compare", "Who is first?", &runs, async |page| {
        assert_eq!(page.canvases().await, 5, "throughput, queue, window, rate, RTT");
        page.every_plot_shows_something().await;

        let before = page.ink(0, ORANGE).await;
        assert!(before > 500, "reno's curve has {before} pixels");
        page.click(".legend button:nth-child(2)").await;
        assert_eq!(page.ink(0, ORANGE).await, 0, "reno is hidden");
        assert!(page.ink(0, BLUE).await > 500, "rapid is not");
        page.click(".legend button:nth-child(2)").await;
        assert_eq!(page.ink(0, ORANGE).await, before, "reno is back");
    });
}

/// Figures over time show the same stretch of it; a distribution has an axis of its own.
#[test]
fn figures_of_traffic_zoom_with_their_own_axes() {
    let text = r#"
        duration = "5 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        compare.controllers = ["reno", "bic"]
        traffic = [{ kind = "flows", per-second = 30, size = { exponential = "20 kB" } }]
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let runs = lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap();
    in_browser("traffic", "Short flows", &runs, async |page| {
        assert_eq!(page.canvases().await, 6, "queue; throughput, connections, completion times and their means, sizes");
        page.every_plot_shows_something().await;
        let before = page.shown().await;
        let (distribution, by_size) = (before[3], before[4]);
        assert!(before[..3].iter().all(|&stretch| stretch == (0.0, 5.0)));
        assert!(
            distribution.0 > 0.05 && distribution.0 < 0.1,
            "the least is a round trip and a half: {distribution:?}"
        );

        assert!(by_size.0 < by_size.1 && by_size.1 > 20_000.0, "{by_size:?}");

        page.drag(3, 0.25, 0.5).await;
        let after = page.shown().await;
        assert!(after[..3] == before[..3] && after[3] != distribution, "{after:?}");
        page.drag(1, 0.25, 0.5).await;
        let later = page.shown().await;
        assert!(later[..3].iter().all(|stretch| *stretch == later[0] && *stretch != (0.0, 5.0)), "{later:?}");
        assert_eq!(later[3], after[3]);
        page.double_click(3, 0.5).await;
        assert_eq!(page.shown().await[3], distribution);
        page.point_at(3, 0.5).await;
        assert!(page.text(".values:not([hidden])").await.contains("bic"));
        assert!(page.text("main").await.contains("bic: flows"));
        page.point_at(4, 0.5).await;
        assert!(page.text(".values:not([hidden])").await.contains("processor sharing"));
    });
}

/// What routers allow the flows is drawn below the queue.
#[test]
fn rates_that_routers_allow_are_drawn() {
    let text = r#"
        duration = "2 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp", queue = "matching" }
        flow = [{ controller = "rcp-ac", count = 3 }]
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let runs = lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap();
    in_browser("routers", "Three flows and a router", &runs, async |page| {
        assert_eq!(page.canvases().await, 8, "throughput, queue, allowed rate and growth, window, rate, RTT, Jain");
        page.every_plot_shows_something().await;
        assert!(page.text("main").await.contains("router rcp-ac (gamma = 0.2"));
    });
}

#[test]
fn all_figures_over_time_zoom_together() {
    let runs = [finished("reno", 3, true)];
    in_browser("flows", "Three flows", &runs, async |page| {
        assert_eq!(page.canvases().await, 5, "throughput, queue, window, RTT, Jain");
        page.every_plot_shows_something().await;
        assert!(page.shown().await.iter().all(|&stretch| stretch == (0.0, 20.0)));

        page.drag(0, 0.25, 0.5).await;
        let shown = page.shown().await;
        assert!(shown.iter().all(|stretch| *stretch == shown[0]), "all plots show the same: {shown:?}");
        let (from, to) = shown[0];
        assert!((from - 5.0).abs() < 0.2 && (to - 10.0).abs() < 0.2, "{from} to {to}");
        page.screenshot("zoomed").await;

        page.double_click(2, 0.5).await;
        assert!(page.shown().await.iter().all(|&stretch| stretch == (0.0, 20.0)));

        page.point_at(0, 0.5).await;
        let values = page.text(".values:not([hidden])").await;
        for part in ["Mbps", "flow 1", "flow 2", "flow 3", "total", " s"] {
            assert!(values.contains(part), "{part} is missing: {values}");
        }
        page.screenshot("values").await;
    });
}

#[test]
fn several_runs_get_panels_and_many_flows_a_band() {
    let runs = [finished("rapid", 3, false), finished("reno", 3, true)];
    in_browser("panels", "Two runs of three flows", &runs, async |page| {
        assert_eq!(page.canvases().await, 2 + 6, "a panel per run; throughput, queue, window, rate, RTT, Jain");
        page.every_plot_shows_something().await;
    });
    in_browser("many", "Fifty flows", &[finished("reno", 50, true)], async |page| {
        assert_eq!(page.canvases().await, 6, "total, throughput, queue, window, RTT, Jain");
        page.every_plot_shows_something().await;
    });
}

#[test]
fn hostile_names_are_only_text() {
    let title = "</script><script>document.body.remove()</script>\u{2028}<!-- & \" '";
    let name = "<img src=x onerror=document.body.remove()>";
    let runs = [finished(name, 2, true), finished("</title>", 2, true)];
    in_browser("hostile", title, &runs, async |page| {
        assert_eq!(page.text("h1").await, title);
        assert_eq!(page.text(".results tbody th").await, name);
        assert_eq!(page.run("return document.images.length + document.scripts.length", vec![]).await, json!(3));
        page.every_plot_shows_something().await;
    });
}

/// A page of the gallery: claims, figures over time, and maps with a square for each pair.
#[test]
fn a_page_of_the_gallery_shows_claims_and_maps() {
    let text = r#"
        title = "Each beside each"
        about = "Two flows."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "pairs", file = "pairs.toml" }]
        claim = [
            { says = "much is lost", measure = "drops", least = 1e9, ours = true, because = "the path is slow" },
            { says = "little is lost", measure = "drops", most = 1e9 },
        ]
        figure = [
            { scenario = "pairs", axes = ["Throughput"] },
            { scenario = "pairs", map = ["flow[0].controller", "flow[1].controller"], flow = 1, measures = ["throughput", "mean-queue"] },
        ]
    "#;
    let pairs = r#"
        duration = "2 s"
        path = { rate = "2 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        flow = [{ controller = "reno" }, { controller = "reno" }]
        sweep = { "flow[0].controller" = ["reno", "bic", "rapid"], "flow[1].controller" = ["reno", "bic"] }
    "#;
    let artefact = Artefact::read("test/pairs", text).unwrap();
    let machine = scenario::Machine::this(None);
    let planned = reproduce::plan(&artefact, Scale::Quick, &machine, |_| Some(pairs.into())).unwrap();
    let reproduced = reproduce::make(&artefact, Scale::Quick, planned, &machine, &(), &|_| true).unwrap();
    let drawn = thalweg_report::Drawn::new(&artefact, Scale::Quick, reproduced);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("test.html");
    std::fs::write(&file, thalweg_report::gallery::page(&paper::papers(&[drawn])[0], Scale::Quick, false)).unwrap();
    opened("gallery", &file, async |page| {
        assert_eq!(page.canvases().await, 6, "a panel per run");
        let count = page.run("return document.querySelectorAll('.map tbody td').length", vec![]).await;
        assert_eq!(count, json!(2 * 3 * 2), "two maps of six pairs");
        let claims = page.text(".claims").await;
        for part in ["PASS", "MISS", "the path is slow", "our band"] {
            assert!(claims.contains(part), "{part} is missing: {claims}");
        }
        page.run("document.querySelector('.map td').dispatchEvent(new Event('mouseenter'))", vec![]).await;
        assert!(page.text("figure .said").await.contains("reno, beside reno"));
        page.set_width(400).await;
        assert_eq!(page.excess_width().await, 0, "only maps and wide tables are scrolled sideways");
    });
}

/// Names of runs, long or short, are whole words on a narrow screen, and only wide tables are scrolled sideways.
#[test]
fn no_word_of_a_name_is_broken_on_a_narrow_screen() {
    let names = [
        "packet-scale, path.buffer = 100 packets, path.packet-error = 0.001",
        "rcp-ac",
        "rapid-2009, flow[0].controller = packet-scale, traffic[0].per-second = 1000, path.access.delay = 10 ms",
    ];
    let runs = names.map(|name| finished(name, 2, true));
    in_browser(
        "narrow",
        "Packet-scale congestion control on a path of several buffers and packet error rates",
        &runs,
        async |page| {
            for width in [400, 500, 800] {
                page.set_width(width).await;
                for selector in ["h1", ".results th", ".setup th", ".legend button", "figcaption"] {
                    assert_eq!(page.broken_words(selector).await, [""; 0], "{selector} at {width} pixels");
                }
                assert_eq!(page.excess_width().await, 0, "at {width} pixels");
                page.screenshot(&width.to_string()).await;
            }
        },
    );
}

const BLUE: [u8; 3] = [0x00, 0x72, 0xb2];
const ORANGE: [u8; 3] = [0xd5, 0x5e, 0x00];

/// What the paper says is drawn beside the lines, and hidden by its name in the legend.
#[test]
fn the_papers_marks_are_drawn_and_hidden() {
    let text = r#"
        title = "Marks"
        about = "One flow."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "one", file = "one.toml" }]
        span.late = { quick = [2, 5], full = [2, 5] }
        figure = [{ scenario = "one", axes = ["Throughput"] }]
        claim = [{ says = "half of it", measure = "throughput", span = "late", paper = 5, within = 0.9, run = "reno" }]
    "#;
    let one = r#"
        duration = "5 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        compare.controllers = ["bic", "reno"]
    "#;
    let artefact = Artefact::read("test/marks", text).unwrap();
    let machine = scenario::Machine::this(None);
    let planned = reproduce::plan(&artefact, Scale::Quick, &machine, |_| Some(one.into())).unwrap();
    let reproduced = reproduce::make(&artefact, Scale::Quick, planned, &machine, &(), &|_| true).unwrap();
    let drawn = thalweg_report::Drawn::new(&artefact, Scale::Quick, reproduced);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("test.html");
    std::fs::write(&file, thalweg_report::gallery::page(&paper::papers(&[drawn])[0], Scale::Quick, false)).unwrap();
    opened("marks", &file, async |page| {
        let whole = page.ink(0, ORANGE).await;
        page.click(".legend button:nth-child(3)").await; // the paper
        let without = page.ink(0, ORANGE).await;
        // The level is a row of pixels over three of the five seconds, which are some 820 pixels wide.
        assert!(whole > without + 450, "{whole} pixels with the mark, {without} without it");
        page.click(".legend button:nth-child(3)").await;
        assert_eq!(page.ink(0, ORANGE).await, whole);
        page.click(".legend button:nth-child(2)").await; // the line that it is said of
        assert_eq!(page.ink(0, ORANGE).await, 0);
    });
}
