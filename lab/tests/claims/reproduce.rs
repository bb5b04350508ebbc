//! The catalogue of the papers' tables and figures, and how claims are judged.

use scenario::Machine;
use std::num::NonZero;
use thalweg_lab::reproduce::artefact::Source;
use thalweg_lab::reproduce::{self, Artefact, Record, Scale, Verdict, judge, tally, text};

/// A machine with enough memory for any run.
fn machine() -> Machine {
    Machine { memory: u64::MAX, jobs: NonZero::new(2).unwrap() }
}

fn file(path: &str) -> Option<String> {
    reproduce::file(path).map(str::to_string)
}

fn make(artefact: &Artefact, file: impl Fn(&str) -> Option<String>) -> Record {
    let planned = reproduce::plan(artefact, Scale::Quick, &machine(), file).unwrap_or_else(|lines| panic!("{lines:?}"));
    reproduce::make(artefact, Scale::Quick, planned, &machine(), &(), &|_| true).unwrap().record
}

/// The documentation's pages of verdicts give the same reasons as the catalogue.
#[test]
fn reasons_in_the_documentation_are_the_catalogues() {
    let catalogue = reproduce::catalogue().unwrap();
    let known: Vec<String> = catalogue
        .iter()
        .flat_map(|it| &it.claims)
        .filter_map(|it| Some(it.because.as_ref()?.replace('|', "\\|")))
        .collect();
    for page in ["reproduced.md", "reproduced-full.md"] {
        let text = std::fs::read_to_string(format!("{}/../docs/{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let misses = text.lines().filter(|line| line.starts_with("| MISS |"));
        for line in misses {
            let reason = line.split_once(". *").and_then(|(_, rest)| Some(rest.rsplit_once("* | ")?.0));
            let reason =
                reason.map(|it| it.split("* | ").next().unwrap_or(it)).unwrap_or_else(|| panic!("{page}: {line}"));
            assert!(reason == "As above." || known.iter().any(|it| it == reason), "{page}: {reason}");
        }
    }
}

/// Every artefact can be planned at either scale, and the scenarios, runs, spans and curves that its claims and figures
/// name exist.
#[test]
fn the_catalogue_is_sound() {
    let catalogue = reproduce::catalogue().unwrap();
    assert!(catalogue.len() >= 22);
    for artefact in &catalogue {
        for scale in [Scale::Quick, Scale::Full] {
            let planned = reproduce::plan(artefact, scale, &machine(), file);
            let planned = planned.unwrap_or_else(|lines| panic!("{}, {scale}: {lines:?}", artefact.id));
            let judged = artefact.claims.iter().filter(|claim| claim.scale.is_none_or(|only| only == scale));
            for quantity in judged.flat_map(judge::quantities) {
                let id = &artefact.id;
                for name in [&quantity.curve, &quantity.with].into_iter().flatten() {
                    assert!(artefact.curves.iter().any(|it| it.name == *name), "{id}: no curve `{name}`");
                }
                if let Some(span) = &quantity.span {
                    let [from, to] = artefact.spans.get(span).unwrap_or_else(|| panic!("{id}: span {span}")).at(scale);
                    assert!(from < to, "{id}: {span}");
                }
                let name = quantity.scenario.as_deref();
                let Some(found) = planned.iter().find(|it| name.is_none_or(|name| it.name == name)) else {
                    assert!(name.is_none() && planned.is_empty(), "{id}: no scenario {name:?}");
                    continue;
                };
                if let Some(run) = &quantity.run {
                    let run = run.find(&found.plan.runs, |it| &it.identity);
                    assert!(run.is_ok(), "{id}, {scale}: {}", run.unwrap_err());
                }
            }
            for figure in artefact.figures.iter() {
                let beside = |name: &String| artefact.scenarios.iter().any(|it| it.name == *name);
                assert!(figure.beside.iter().all(beside), "{}: {:?}", artefact.id, figure.beside);
                assert!(planned.iter().any(|it| it.name == figure.scenario), "{}: {}", artefact.id, figure.scenario);
            }
            for chart in &artefact.charts {
                let curve = |name: &String| artefact.curves.iter().any(|it| it.name == *name);
                let scenario = |name: &String| artefact.scenarios.iter().any(|it| it.name == *name);
                assert!(chart.curves.iter().all(curve) && chart.points.iter().all(scenario), "{}", artefact.id);
            }
        }
    }
}

/// A link of 10 Mbps that is full for all but the slow start: at least half of it is used, and not at most half.
#[test]
fn a_claim_that_holds_passes_and_its_opposite_misses() {
    let artefact = Artefact::read(
        "test/full",
        r#"
        title = "A full link"
        about = "One flow."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "one", file = "one.toml", quick = ["duration=5 s"] }]
        figure = [{ scenario = "one" }]
        [span]
        late = { quick = [2, 5], full = [2, 10] }
        [[claim]]
        says = "half of the link at least"
        measure = "utilization"
        span = "late"
        least = 50
        because = "never said"
        [[claim]]
        says = "half of the link at most"
        measure = "utilization"
        span = "late"
        most = 50
        ours = true
        because = "the link is full"
        [[claim]]
        says = "more at the end than in the beginning"
        measure = "utilization"
        rising = [{}, { span = "late" }]
        [[claim]]
        says = "less at the end than in the beginning"
        measure = "utilization"
        rising = [{ span = "late" }, {}]
        [[claim]]
        says = "it loses more than it queues at most, and more than it queues on average"
        measure = "drops"
        rising = [{}, { measure = "mean-queue", span = "late" }, { measure = "max-queue" }]
        because = "the queue is one BDP"
        [[claim]]
        says = "and once more"
        measure = "drops"
        most = -1
        because = "the queue is one BDP"
        [[claim]]
        says = "the whole run is below its end"
        measure = "utilization"
        above = { span = "late" }
        least = -50
        most = -1
        [[claim]]
        says = "of a flow that is not there"
        measure = "throughput"
        flow = 7
        least = 1
        because = "never said"
        [[claim]]
        says = "only at full scale"
        measure = "drops"
        scale = "full"
        most = 0
        "#,
    );
    let artefact = artefact.unwrap();
    let scenario = "duration = \"10 s\"\npath = { rate = \"10 Mbps\", rtt = \"100 ms\", buffer = \"1 bdp\" }\nflow = [{ controller = \"reno\" }]\n";
    let record = make(&artefact, |_| Some(scenario.into()));
    let verdicts: Vec<Verdict> = record.claims.iter().map(|claim| claim.verdict).collect();
    let (pass, miss) = (Verdict::Pass, Verdict::Miss);
    assert_eq!(verdicts, [pass, miss, pass, miss, miss, miss, pass, miss, Verdict::NotRun]);
    assert_eq!(record.claims[0].because, None);
    assert_eq!(record.claims[1].because.as_deref(), Some("the link is full"));
    assert_eq!(record.claims[1].wanted(), "at most 50, our band");
    let unexplained: Vec<bool> = record.claims.iter().map(|claim| claim.unexplained()).collect();
    let why = "one misses and says not why, and one could not be measured, which nothing explains";
    assert_eq!(unexplained, [false, false, false, true, false, false, false, true, false], "{why}");
    assert_eq!(
        record.claims[4].band, "Drops < Mean queue < Longest queue",
        "the span tells two of them apart, and not all"
    );
    let reasons = thalweg_lab::reproduce::record::reasons(&record.claims.iter().collect::<Vec<_>>());
    assert_eq!(reasons[1], Some("the link is full"));
    assert_eq!((reasons[4], reasons[5]), (Some("the queue is one BDP"), Some("As above.")));

    // An artefact with another title and other reasons has the same record, with its own words.
    let mut other = artefact.clone();
    other.title = "Another title".into();
    other.claims[1].because = Some("it is busy".into());
    let key = |artefact: &Artefact| thalweg_lab::reproduce::records::key(artefact, Scale::Quick);
    assert_eq!(key(&artefact), key(&other));
    let record = record.in_words_of(&other);
    assert_eq!((record.title.as_str(), record.claims[1].because.as_deref()), ("Another title", Some("it is busy")));
    assert_eq!(record.claims[0].because, None);
    other.claims[1].source = Source::Paper;
    assert_ne!(key(&artefact), key(&other));
}

/// What the paper says and what we say beside it are told apart in every text, and counted apart.
#[test]
fn the_papers_claims_and_ours_are_apart() {
    let text = r#"
        title = "A full link"
        about = "One flow."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "one", file = "one.toml" }]
        [[claim]]
        says = "we say that it loses nothing"
        measure = "drops"
        most = 0
        beyond = true
        [[claim]]
        says = "the paper says that half of the link is used"
        measure = "utilization"
        least = 50
        ours = true
        [[claim]]
        says = "the paper's words mean ten megabits"
        measure = "throughput"
        paper = 10
        derived = true
        within = 0.2
    "#;
    let scenario = "duration = \"5 s\"\npath = { rate = \"10 Mbps\", rtt = \"40 ms\", buffer = \"1 bdp\" }\nflow = [{ controller = \"vegas\" }]\n";
    let record = make(&Artefact::read("test/apart", text).unwrap(), |_| Some(scenario.into()));
    let sources: Vec<Source> = record.claims.iter().map(|claim| claim.source).collect();
    assert_eq!(sources, [Source::Ours, Source::PaperOurBand, Source::Paper]);
    assert_eq!(record.claims[2].paper_value(), "10, derived");

    let total = tally::tally(&record.claims);
    assert_eq!((total.papers.claims(), total.ours.claims()), (2, 1));
    let lines = text::text(&record);
    let (papers, ours) = lines.split_once("  Our claims:\n").unwrap();
    assert!(papers.contains("half of the link") && papers.contains("ten megabits") && ours.contains("loses nothing"));
    let page = text::markdown(Scale::Quick, std::slice::from_ref(&record), 1, None);
    let (papers, ours) = page.split_once("| | claim of ours |").unwrap();
    assert!(papers.contains("Of the papers' 2 claims 2 PASS") && papers.contains("half of the link"), "{page}");
    assert!(ours.contains("loses nothing") && !ours.contains("ten megabits"), "{page}");

    // Whatever is in this folder is ours.
    let beyond = Artefact::read("beyond/apart", text).unwrap();
    assert!(beyond.claims.iter().all(|claim| claim.source == Source::Ours));
}

/// The page has a table of the papers' claims that miss: those with one reason in a row, with what was measured. Ours
/// are not in it.
#[test]
fn a_page_has_the_misses_of_the_papers_in_one_table() {
    let text = r#"
        title = "Misses"
        about = "One flow alone."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "one", file = "one.toml" }]
        [[claim]]
        says = "the link is overused"
        measure = "utilization"
        because = "A link has 100 %."
        each = [{ says = "more than all of it", least = 101 }, { says = "twice all of it", least = 200 }]
        [[claim]]
        says = "the link is used"
        measure = "utilization"
        least = 50
        [[claim]]
        says = "our wish"
        measure = "utilization"
        beyond = true
        least = 300
        because = "A wish."
    "#;
    let scenario = "duration = \"5 s\"\npath = { rate = \"10 Mbps\", rtt = \"40 ms\", buffer = \"1 bdp\" }\nflow = [{ controller = \"vegas\" }]\n";
    let record = make(&Artefact::read("test/misses", text).unwrap(), |_| Some(scenario.into()));
    let page = text::markdown(Scale::Quick, std::slice::from_ref(&record), 1, None);
    let (_, section) = page.split_once("## What misses of the papers' claims").unwrap();
    let (table, _) = section.split_once("\n## ").unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| test/misses")).collect();
    let [row] = rows[..] else { panic!("{table}") };
    assert!(row.starts_with("| test/misses | 2 | more than all of it: "), "{row}");
    assert!(row.contains("twice all of it") && row.ends_with("| A link has 100 %. |"), "{row}");
}

#[test]
fn an_id_that_is_nearly_right_is_suggested() {
    let catalogue = reproduce::catalogue().unwrap();
    assert!(reproduce::unknown("rapid/tabel2", &catalogue).contains("did you mean `rapid/table2`?"));
    assert!(reproduce::unknown("nothing-like-it", &catalogue).contains("`thalweg reproduce` lists it"));
}

/// Two flows with 20 and 200 ms share a link unevenly, the more so the shorter one looks; beside them, transfers of one
/// packet take a round trip to open a connection and half of one to arrive.
#[test]
fn windows_and_quantiles_are_those_of_the_claim() {
    let artefact = Artefact::read(
        "test/windows",
        r#"
        title = "Windows"
        about = "Two flows and a web."
        seconds = { quick = 1, full = 1 }
        scenario = [{ name = "one", file = "one.toml" }]
        [[claim]]
        says = "fairest tenth"
        measure = "jain"
        windows = [0.5]
        rising = [{ quantile = 0.1 }, {}, { quantile = 0.9 }]
        [[claim]]
        says = "the least of several windows, without those that do not fit"
        measure = "jain"
        rising = [{ windows = [4, 60, 0.5], quantile = 0.1 }, { windows = [4], quantile = 0.1 }, {}]
        relative-to = { windows = [4] }
        [[claim]]
        says = "transfers"
        measure = "response"
        paper = 165
        within = 0.1
        ours = true
        "#,
    );
    let scenario = r#"
        duration = "40 s"
        path = { rate = "20 Mbps", rtt = "100 ms", buffer = "50 packets", delay = "1 ms" }
        flow = [{ controller = "reno", rtt = "20 ms" }, { controller = "reno", rtt = "200 ms" }]
        traffic = [{ kind = "flows", size = "1000 B", per-second = 20, rtt = "100 ms", controller = "reno" }]
    "#;
    let record = make(&artefact.unwrap(), |_| Some(scenario.into()));
    println!("{}", text::text(&record));
    assert!(record.claims.iter().all(|claim| claim.verdict == Verdict::Pass));
    assert_eq!(record.claims[2].source, Source::PaperOurBand);
}

/// Some artefacts give as many verdicts of each kind as the documentation says, and the same bytes each time.
#[test]
fn a_sample_of_the_catalogue_comes_out_as_the_documentation_says() {
    let catalogue = reproduce::catalogue().unwrap();
    for (id, passes, misses) in [("rrr/fig4", 6, 0), ("rrr/fig5", 11, 0), ("rapid/table3", 15, 9)] {
        let artefact = catalogue.iter().find(|it| it.id == id).unwrap();
        let record = make(artefact, file);
        println!("{}", text::text(&record));
        let count = |verdict| record.claims.iter().filter(|claim| claim.verdict == verdict).count();
        assert_eq!((count(Verdict::Pass), count(Verdict::Miss)), (passes, misses), "{id}");
        let bytes = |record: &Record| serde_json::to_vec(record).unwrap();
        assert_eq!(bytes(&record), bytes(&make(artefact, file)), "{id}");
    }
}

#[test]
fn what_is_wrong_with_an_artefact_is_said() {
    let wrong = |claim: &str| {
        let text = format!(
            "title = \"\"\nabout = \"\"\nseconds = {{ quick = 1, full = 1 }}\n[[claim]]\nsays = \"x\"\n{claim}"
        );
        Artefact::read("test/wrong", &text).unwrap_err()
    };
    assert!(wrong("measure = \"drops\"").contains("needs least, most, rising, or within and paper"));
    assert!(wrong("measure = \"drips\"\nmost = 0").contains("drips"));
    assert!(wrong("measure = \"drops\"\nmost = 0\nfolw = 1").contains("folw"));
    assert!(wrong("measure = \"drops\"\nleast = 2\nmost = 1").contains("least is 2, most 1"));
    assert!(wrong("measure = \"drops\"\nmost = 1\nrising = [{}, {}]").contains("has rising, and another band"));
}
