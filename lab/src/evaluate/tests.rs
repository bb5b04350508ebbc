use super::judge::{CaseResult, judge};
use super::*;
use crate::reproduce::Scale;
use scenario::Machine;
use serde_json::Map;

/// A block with one case and the row that `keys` complete.
fn block(keys: &str) -> Result<Block, String> {
    let text = format!(
        "title = \"t\"\nabout = \"a\"\nsource = \"s\"\n[[case]]\nname = \"only\"\nscenario = '''\nduration = \"4 s\"\n\
         [path]\nrate = \"2 Mbps\"\nrtt = \"20 ms\"\nbuffer = \"2 bdp\"\n[[flow]]\ncontroller = \"subject\"\n\
         start = {{ uniform = [\"0 s\", \"1 s\"] }}\n[[flow]]\ncontroller = \"baseline\"\n[sweep]\n\
         \"path.rate\" = [\"1 Mbps\", \"2 Mbps\"]\n'''\n[[row]]\ncriterion = \"5.1.3\"\nsays = \"what\"\n{keys}\n"
    );
    Block::read("mine", "mine.toml", &text)
}

const ROW: &str = "measure = \"share\"\nflows = [1, 1]\nbetter = \"more\"\nmatters = 1";

fn task(subject: &str, block: Block) -> Task {
    Task { subject: subject.into(), baseline: "cubic".into(), blocks: vec![block], scale: Scale::Quick, sets: vec![] }
}

/// The row of a block when these were measured in its only case.
fn judged(keys: &str, subject: &[f64], baseline: &[f64]) -> RowResult {
    let task = task("reno", block(keys).unwrap());
    let case = CaseResult {
        case: "only".into(),
        settings: Map::new(),
        subject: subject.to_vec(),
        baseline: baseline.to_vec(),
    };
    let block = &task.blocks[0];
    judge(&task, vec![(&block.rows[0], block, vec![case])]).rows.remove(0)
}

#[test]
fn a_difference_counts_if_it_is_sure_and_matters() {
    let baseline = [50.0, 50.1, 49.9, 50.0];
    let verdict = |subject: &[f64]| judged(ROW, subject, &baseline).verdict;
    assert_eq!(verdict(&[60.0, 60.1, 59.9, 60.0]), Verdict::Better);
    assert_eq!(verdict(&[40.0, 40.1, 39.9, 40.0]), Verdict::Worse);
    assert_eq!(verdict(&[50.5, 50.5, 50.5, 50.6]), Verdict::Like, "it does not matter");
    assert_eq!(verdict(&[90.0, 10.0, 80.0, 60.0]), Verdict::Like, "it is not sure");
    assert_eq!(verdict(&[f64::NAN, 60.1, 59.9, 60.0]), Verdict::Unknown);
}

#[test]
fn ratios_are_of_values_above_the_floor() {
    let keys = "measure = \"loss\"\nbetter = \"less\"\nmatters = 0.5\nfloor = 0.1";
    let row = judged(keys, &[0.3, 0.3, 0.3], &[0.1, 0.1, 0.1]);
    assert!((row.difference.unwrap() - 2.0).abs() < 1e-9, "{row:?}");
    assert_eq!((row.by_ratio, row.verdict), (true, Verdict::Worse));
    assert_eq!(judged(keys, &[0.003; 3], &[0.001; 3]).verdict, Verdict::Like, "both are nearly zero");
}

#[test]
fn broken_is_who_passes_the_limit_and_differs_from_the_baseline() {
    let keys = format!("{ROW}\nbroken = {{ below = 20 }}");
    assert_eq!(judged(&keys, &[5.0, 5.1, 4.9, 5.0], &[50.0, 50.1, 49.9, 50.0]).verdict, Verdict::Broken);
    assert_eq!(judged(&keys, &[5.0, 5.1, 4.9, 5.0], &[10.0, 10.1, 9.9, 10.0]).verdict, Verdict::Worse);
    // 19 and 21 on average, by chance.
    assert_eq!(judged(&keys, &[10.0, 28.0, 12.0, 26.0], &[30.0, 12.0, 29.0, 13.0]).verdict, Verdict::Like);
}

/// Others lose 40 of 50; of losses, they have three times as many, which is two times more.
#[test]
fn harm_is_what_others_lose_as_a_part_of_what_they_have() {
    let harm = |keys: &str, subject: &[f64], baseline: &[f64]| judged(keys, subject, baseline).harm;
    let keys = format!("{ROW}\nharm = true");
    let it = harm(&keys, &[10.0, 10.5, 9.5], &[50.0, 50.5, 49.5]).unwrap();
    assert!((it.mean - 0.8).abs() < 1e-9 && it.interval[0] < 0.8 && it.interval[1] > 0.8, "{it:?}");
    assert_eq!(it.cases.len(), 1);
    assert!((it.cases[0].unwrap() - 0.8).abs() < 1e-9, "{it:?}");
    let gain = harm(&keys, &[60.0; 3], &[50.0; 3]).unwrap();
    assert!((gain.mean + 0.2).abs() < 1e-9, "{gain:?}");
    let losses = "measure = \"loss\"\nbetter = \"less\"\nmatters = 0.5\nfloor = 0.1\nharm = true";
    let it = harm(losses, &[0.8; 3], &[0.2; 3]).unwrap();
    assert!((it.mean - 2.0).abs() < 1e-9, "after the floor was added: {it:?}");
    assert_eq!(harm(&keys, &[1.0; 3], &[0.0; 3]), None, "they had nothing");
    assert_eq!(judged(ROW, &[1.0; 3], &[2.0; 3]).harm, None, "it is no row of harm");
}

/// Both sides of each case have a value for every seed, and the same seed gives the same.
#[test]
fn cases_are_run_with_subject_and_baseline() {
    let task = task("reno", block(ROW).unwrap());
    let machine = Machine::this(None);
    let planned = task.plan(&machine).unwrap();
    assert_eq!(planned.runs(), 2 * 2 * 10);
    let make = || planned.make(&machine, &(), &|_| true).unwrap();
    let evaluation = make();
    let row = &evaluation.rows[0];
    let names: Vec<String> = row.cases.iter().map(CaseResult::name).collect();
    assert_eq!(names, ["only, path.rate = 1 Mbps", "only, path.rate = 2 Mbps"]);
    assert!(row.cases.iter().all(|case| case.subject.len() == 10 && case.baseline.len() == 10));
    assert!(row.cases.iter().all(|case| case.subject != case.baseline), "{row:?}");
    assert_eq!(serde_json::to_string(&evaluation).unwrap(), serde_json::to_string(&make()).unwrap());
}

/// A baseline that is the subject runs with other seeds, so that it is no comparison of a run with itself.
#[test]
fn the_baseline_as_subject_has_seeds_of_its_own() {
    let task = task("cubic", block(ROW).unwrap());
    let machine = Machine::this(None);
    let evaluation = task.plan(&machine).unwrap().make(&machine, &(), &|_| true).unwrap();
    let row = &evaluation.rows[0];
    assert!(row.cases.iter().all(|case| case.subject != case.baseline), "{row:?}");
    assert_eq!(row.verdict, Verdict::Like);
}

#[test]
fn what_is_wrong_with_a_block_is_said_in_a_line() {
    let wrong = |keys: &str| match block(keys) {
        Err(why) => why,
        Ok(block) => task("reno", block).plan(&Machine::this(None)).err().unwrap_or_default().join("\n"),
    };
    for (keys, said) in [
        (
            "measure = \"shar\"\nbetter = \"more\"\nmatters = 1",
            "mine.toml:23: there is no measure `shar`; did you mean",
        ),
        ("measure = \"share\"\nbetter = \"most\"\nmatters = 1", "mine.toml:24: unknown variant `most`"),
        ("measure = \"curve\"\nbetter = \"more\"\nmatters = 1", "row \"what\": measure: is none of a run"),
        (&format!("{ROW}\ncases = [\"none\"]"), "row \"what\": cases: there is no case `none`"),
        (&format!("{ROW}\nspan = [3, 2]"), "row \"what\": span: write the beginning and the end"),
        (&format!("{ROW}\nspan = [1, 9]"), "mine: row \"what\": span: case `only` ends before it does"),
        (
            "measure = \"share\"\nbetter = \"more\"\nmatters = 1\nflows = [0, 1]",
            "row \"what\": flows: write the first and the last",
        ),
        (
            "measure = \"share\"\nbetter = \"more\"\nmatters = 1\nflows = [2, 3]",
            "mine: row \"what\": flows: case `only` has only 2 of them",
        ),
        (&format!("{ROW}\nwindow = 0"), "row \"what\": window: write a length"),
        (&format!("{ROW}\nquantile = 2"), "row \"what\": quantile: write a number from 0 to 1"),
        (&format!("{ROW}\nlevel = nan"), "row \"what\": level: write a finite number"),
        (&format!("{ROW}\nfloor = 0"), "row \"what\": floor: write a number above 0"),
        (&format!("{ROW}\nsizes = [2, 1]"), "row \"what\": sizes: write the least size"),
        (&format!("{ROW}\nnonsense = 1"), "unknown field `nonsense`"),
    ] {
        let why = wrong(keys);
        assert!(why.contains(said) && why.lines().count() == 1, "{keys}: {why}");
    }
}

/// Every block of the program can be planned at both scales, and its rows name sections that the RFC has.
#[test]
fn the_program_s_blocks_are_right() {
    let machine = Machine::this(None);
    let known = blocks().unwrap();
    for row in known.iter().flat_map(|block| &block.rows) {
        assert!(!title(&row.criterion).is_empty(), "{}: {}", row.criterion, row.says);
    }
    for scale in [Scale::Quick, Scale::Full] {
        let task = Task { subject: "bbr".into(), baseline: "cubic".into(), blocks: known.clone(), scale, sets: vec![] };
        task.plan(&machine).map(|planned| assert!(planned.runs() > 1000)).unwrap();
    }
}
