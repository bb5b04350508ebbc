//! The catalogue of the papers' tables and figures, and how claims are judged.

use lab::reproduce::{self, Artefact, Record, Scale, Verdict, judge};
use lab::scenario::Machine;
use std::num::NonZero;

/// A machine that refuses nothing.
fn machine() -> Machine {
    Machine { memory: u64::MAX, jobs: NonZero::new(2).unwrap() }
}

fn file(path: &str) -> Option<String> {
    reproduce::file(path).map(str::to_string)
}

fn make(artefact: &Artefact, file: impl Fn(&str) -> Option<String>) -> Record {
    let planned = reproduce::plan(artefact, Scale::Quick, &machine(), file).unwrap_or_else(|lines| panic!("{lines:?}"));
    reproduce::make(artefact, Scale::Quick, planned, &machine(), &|_| true).unwrap()
}

/// Every artefact can be run at either scale, and what its claims and figures name is there.
#[test]
fn the_catalogue_is_sound() {
    let catalogue = reproduce::catalogue().unwrap();
    assert!(catalogue.len() >= 19);
    for artefact in &catalogue {
        for scale in [Scale::Quick, Scale::Full] {
            let planned = reproduce::plan(artefact, scale, &machine(), file);
            let planned = planned.unwrap_or_else(|lines| panic!("{}, {scale}: {lines:?}", artefact.id));
            let told = artefact.claims.iter().filter(|claim| claim.scale.is_none_or(|only| only == scale));
            for quantity in told.flat_map(judge::quantities) {
                let id = &artefact.id;
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
                    let names: Vec<_> = found.plan.runs.iter().map(|it| &it.name).collect();
                    assert!(names.contains(&run), "{id}, {scale}: no run `{run}` among {names:?}");
                }
            }
            for figure in artefact.figures.iter() {
                assert!(planned.iter().any(|it| it.name == figure.scenario), "{}: {}", artefact.id, figure.scenario);
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
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Miss, Verdict::Pass, Verdict::Miss, Verdict::Untold]);
    assert_eq!(record.claims[0].because, None);
    assert_eq!(record.claims[1].because.as_deref(), Some("the link is full"));
    assert_eq!(record.claims[1].wanted(), "at most 50, our band");
    let unexplained: Vec<bool> = record.claims.iter().map(|claim| claim.unexplained()).collect();
    assert_eq!(unexplained, [false, false, false, true, false], "one misses, and says not why");
    assert_eq!(record.figures.len(), 1);
}

#[test]
fn an_id_that_is_nearly_right_is_suggested() {
    let catalogue = reproduce::catalogue().unwrap();
    assert!(reproduce::unknown("rapid/tabel2", &catalogue).contains("did you mean `rapid/table2`?"));
    assert!(reproduce::unknown("nothing-like-it", &catalogue).contains("`thalweg reproduce` lists it"));
}

/// Some of the catalogue, and the same bytes each time.
#[test]
fn a_sample_of_the_catalogue_comes_out_as_the_documentation_says() {
    let catalogue = reproduce::catalogue().unwrap();
    for (id, passes, misses) in [("rrr/fig4", 6, 0), ("rapid/table3", 3, 9)] {
        let artefact = catalogue.iter().find(|it| it.id == id).unwrap();
        let record = make(artefact, file);
        println!("{}", reproduce::record::text(&record));
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
}
