use super::observe::capacity;
use super::*;
use crate::draw;
use experiment::Outcome;

fn machine(jobs: usize) -> Machine {
    Machine { memory: u64::MAX, jobs: NonZero::new(jobs).unwrap() }
}

/// The first drawn paths that satisfy `wanted` and have few packets.
fn paths(count: usize, wanted: impl Fn(&Path) -> bool) -> Vec<Path> {
    let all = (1..).map(|number| draw::path(PathId { seed: 2, number }));
    let small = |path: &Path| path.base.duration.as_secs() * path.base.rate.as_bps() < 1e9;
    all.filter(|path| small(path) && wanted(path)).take(count).collect()
}

fn task(paths: Vec<Path>, controllers: &[&str]) -> Task {
    Task { paths, controllers: controllers.iter().map(ToString::to_string).collect(), sets: Vec::new() }
}

fn observed() -> Observed {
    Observed {
        used: 0.8,
        jain: Some(0.5),
        delay: 0.0,
        loss: 0.0,
        resent: 0.0,
        share: None,
        competitors: Vec::new(),
        stretch: None,
        stopped: 0,
    }
}

/// What a path of 10 Mbps can carry within 10 to 20 s.
#[test]
fn the_capacity_is_the_integral_of_the_rate_without_what_is_lost_or_policed() {
    let of = |keys: &str| {
        let text = format!(
            "duration = \"20 s\"\nmeasure.from = \"10 s\"\n[[flow]]\ncontroller = \"reno\"\n\
             [path]\nrate = \"10 Mbps\"\nrtt = \"10 ms\"\nbuffer = \"9 packets\"\n{keys}"
        );
        let plan = scenario::read("test.toml", &text, &[], &machine(1)).unwrap();
        capacity(&plan.runs[0].experiment) / 1e6
    };
    assert_eq!(of(""), 100.0);
    // 4 Mbps before the interval, 8 Mbps from 12 s on, 2 Mbps from 17 s on.
    let steps = "change = [{ at = \"5 s\", rate = \"4 Mbps\" }, { at = \"12 s\", rate = \"8 Mbps\" }, { at = \"17 s\", rate = \"2 Mbps\" }]";
    assert_eq!(of(steps), 2.0 * 4.0 + 5.0 * 8.0 + 3.0 * 2.0);
    assert_eq!(of(&format!("{steps}\nqueue = {{ kind = \"policer\", rate = \"3 Mbps\" }}")), 7.0 * 3.0 + 3.0 * 2.0);
    assert_eq!(of("packet-error = 0.25"), 75.0);
}

/// CUBIC gave competitors 10 Mbps and took the transfers' time twice what they need alone; the controller gave 4 Mbps
/// and took 6 times.
#[test]
fn harm_and_slowdown_are_relative_to_cubic() {
    let path = &paths(1, |_| true)[0];
    let cubic = Observed { competitors: vec![("bbr", 10e6)], stretch: Some(2.0), ..observed() };
    let own = Observed { competitors: vec![("bbr", 4e6)], stretch: Some(6.0), ..observed() };
    let measures = Measures::of(path, &own, Some(&cubic));
    assert_eq!(measures.get(Measure::HarmBbr), Some(0.6));
    assert_eq!(measures.get(Measure::Slowdown), Some(3.0));
    assert_eq!((measures.get(Measure::HarmCubic), measures.get(Measure::Share)), (None, None));
    // 0.8 used, Jain 0.5, 0.4 left of what BBR had, three times as long.
    let mark = measures.get(Measure::Mark).unwrap();
    assert!((mark - 0.8 * 0.5 * 0.4 / 3.0).abs() < 1e-12, "{mark}");
    assert_eq!(measures.weakest(path.base.rtt), Measure::Slowdown);
}

/// A queue of a round trip and 10 ms halves the mark, whatever the round-trip time is.
#[test]
fn a_queue_lowers_the_mark() {
    for path in paths(5, |_| true) {
        let delay = path.base.rtt.as_secs() + 0.01;
        let own = Observed { used: 1.0, jain: None, delay, ..observed() };
        let measures = Measures::of(&path, &own, Some(&own));
        assert!((measures.get(Measure::Mark).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(measures.weakest(path.base.rtt), Measure::DelayMs);
        assert_eq!(measures.get(Measure::DelayCubic), Some(1.0));
    }
}

#[test]
fn a_failure_is_what_neither_the_path_nor_others_cause() {
    let [alone, beside] = [false, true].map(|others| paths(1, |path| path.has_others() == others).remove(0));
    let lossy = Observed { loss: 0.3, ..observed() };
    let cubic = Observed { loss: 0.15, ..observed() };
    assert_eq!(failures(&alone, Some(&lossy), Some(&cubic)), [Failure::Loss(0.3)]);
    assert_eq!(failures(&beside, Some(&lossy), Some(&cubic)), []);
    assert_eq!(failures(&alone, Some(&Observed { stopped: 2, ..observed() }), None), [Failure::Stopped(2)]);
    assert_eq!(failures(&alone, None, None), [Failure::Panicked]);
}

#[test]
fn medians_and_worst_tenths_are_values_of_paths() {
    let task = task(paths(20, |_| true), &["cubic"]);
    let row = |i: usize| {
        let n = (i + 1) as f64;
        // Used 1 to 20 %, lost 1 to 20 %, and a failure on the last path.
        let own = Observed { used: n / 100.0, loss: n / 100.0, ..observed() };
        let failures = if i == 19 { vec![Failure::Loss(0.2)] } else { Vec::new() };
        let measures = Some(Measures::of(&task.paths[i], &own, Some(&own)));
        Row { path: i, controller: "cubic".into(), measures, failures }
    };
    let score = summary(2, &task, &(0..20).map(row).collect::<Vec<Row>>());
    let scored = &score.controllers[0];
    let spread = |measure| scored.measures.iter().find(|(known, _)| *known == measure).unwrap().1;
    assert_eq!(spread(Measure::Used), Spread { paths: 20, median: 0.10, worst_tenth: 0.02 });
    assert_eq!(spread(Measure::Loss), Spread { paths: 20, median: 0.10, worst_tenth: 0.18 });
    assert!(scored.measures.iter().all(|(measure, _)| *measure != Measure::HarmCubic), "no path has it");
    assert_eq!((scored.worst.len(), scored.worst[0].path), (10, task.paths[0].id.number));
    assert!(scored.worst.windows(2).all(|pair| pair[0].mark <= pair[1].mark));
    assert_eq!(scored.failures[0].path, task.paths[19].id.number);
    let marks: f64 = (0..19).map(|i| row(i).measures.unwrap().get(Measure::Mark).unwrap()).sum();
    assert!((scored.mark - marks / 20.0).abs() < 1e-12, "a failure has the mark 0");
    let command = format!("thalweg run {} --set 'compare.controllers=[\"cubic\"]'", task.paths[0].id.as_file());
    assert_eq!(scored.worst[0].command, command);
}

/// CUBIC harms no more than CUBIC, and the rows do not depend on the number of threads.
#[test]
fn cubic_is_like_itself_on_any_number_of_cores() {
    let beside = paths(3, |path| path.has_others());
    let task = task(beside, &["cubic", "reno"]);
    let rows = task.run(&machine(1), &(), &|_| true).unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows.iter().filter(|row| row.controller == "cubic") {
        let measures = row.measures.as_ref().unwrap();
        for harm in [Measure::HarmCubic, Measure::HarmBbr, Measure::HarmReno] {
            assert!(measures.get(harm).is_none_or(|harm| harm == 0.0));
        }
        assert!(measures.get(Measure::Slowdown).is_none_or(|slowdown| slowdown == 1.0));
        assert_eq!(measures.get(Measure::DelayCubic), Some(1.0));
    }
    let again = task.run(&machine(3), &(), &|_| true).unwrap();
    assert_eq!(format!("{rows:?}"), format!("{again:?}"));
}

#[test]
fn a_task_stops_when_it_is_told_to() {
    let stopped = task(paths(4, |_| true), &["reno"]).run(&machine(2), &(), &|_| false);
    assert!(matches!(stopped, Err(Trouble::Stopped(Stopped::Cancelled))), "{stopped:?}");
}

/// A cache that panics when it is asked for a run of Reno, in place of a controller that does.
struct Panics;

impl RunCache for Panics {
    fn find(&self, run: &Run) -> Option<(Outcome, f64)> {
        assert!(run.identity.controllers != ["reno"], "made up");
        None
    }
    fn keep(&self, _: &Run, _: &Outcome, _: f64) {}
}

#[test]
fn a_panic_is_a_failure_of_that_controller_alone() {
    let task = task(paths(2, |_| true), &["reno", "vegas"]);
    let rows = task.run(&machine(2), &Panics, &|_| true).unwrap();
    for row in &rows {
        assert_eq!(row.measures.is_none(), row.controller == "reno");
        assert_eq!(row.failures.contains(&Failure::Panicked), row.controller == "reno");
    }
    let score = summary(2, &task, &rows);
    assert_eq!((score.controllers[0].mark, score.controllers[0].failures.len()), (0.0, 2));
    assert!(table(&score).contains("reno fails:\npanicked; seed 2 path "));
}
