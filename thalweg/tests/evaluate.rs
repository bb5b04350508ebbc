//! `thalweg evaluate`, as users see it.

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Runs thalweg in `home`, and returns its exit code, standard output and standard error.
fn thalweg(home: &Path, args: &[&str]) -> (i32, String, String) {
    let output = cargo_bin_cmd!("thalweg").current_dir(home).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// A block of one's own: four flows behind a shallow buffer, and what it drops.
const SHALLOW: &str = r#"
title = "A shallow buffer"
about = "Four flows on 20 Mbps behind a tenth of a BDP."
source = "RFC 9743, section 5.1.3"

[[case]]
name = "four flows"
scenario = '''
duration = "15 s"
[path]
rate = "20 Mbps"
rtt = "40 ms"
buffer = "0.1 bdp"
[[flow]]
controller = "subject"
count = 4
start = { uniform = ["0 s", "1 s"] }
'''

[[row]]
criterion = "5.1.3"
says = "packets dropped"
measure = "drop-share"
span = [5, 15]
better = "less"
matters = 0.5
floor = 0.05
broken = { above = 50 }
"#;

/// RFC 9743 itself names BBR version 1 as what fails this criterion; CUBIC is like CUBIC.
#[test]
fn a_block_of_one_s_own_tells_bbr_version_1_from_cubic() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("shallow.toml"), SHALLOW).unwrap();
    let args =
        ["evaluate", "bbr1", "cubic", "--blocks", "shallow.toml", "--out", "out", "--markdown", "table.md", "-q"];
    let (code, table, err) = thalweg(home.path(), &args);
    assert_eq!(code, 0, "{err}");
    assert!(table.contains("bbr1 beside cubic, quick scale\n") && table.contains("\n1 worse\n"), "{table}");
    assert!(table.contains("cubic beside cubic, quick scale\n") && table.contains("\n1 like\n"), "{table}");
    let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    let [json, page] = ["out/bbr1.json", "out/bbr1.html"].map(read);
    let evaluation: Value = serde_json::from_str(&json).unwrap();
    let row = &evaluation["rows"][0];
    assert_eq!((row["verdict"].as_str(), row["criterion"].as_str()), (Some("worse"), Some("5.1.3")));
    let [low, high] = [0, 1].map(|end| row["interval"][end].as_f64().unwrap());
    let factor = row["difference"].as_f64().unwrap();
    assert!(1.5 < low && low < factor && factor < high, "{row}");
    assert!(page.contains("Protection against high packet loss") && !page.contains("<script"), "{page}");
    let markdown = read("table.md");
    assert!(
        markdown.contains("| 5.1.3 | packets dropped | **worse** x ") && markdown.ends_with("| 1 worse | 1 like |\n")
    );
    // The same again, from the cache, is the same byte for byte.
    assert_eq!(thalweg(home.path(), &args).0, 0);
    assert_eq!([json, page], ["out/bbr1.json", "out/bbr1.html"].map(read));
    assert!(home.path().join("out/bbr1.parquet").exists());
}

#[test]
fn what_is_wrong_is_answered_in_a_line() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("empty.toml"), "title = 1").unwrap();
    for (args, said) in [
        (&["evaluate"][..], "the following required arguments were not provided"),
        (&["evaluate", "cubik"], "there is no controller `cubik`; did you mean `cubic`?"),
        (&["evaluate", "reno", "reno"], "`reno` is there twice; remove one of the two"),
        (&["evaluate", "reno", "--baseline", "cubik"], "--baseline: there is no controller `cubik`"),
        (&["evaluate", "reno", "--blocks", "los"], "--blocks: there is no block `los`; did you mean `loss`?"),
        (&["evaluate", "reno", "--blocks", "loss,loss"], "--blocks: there are two blocks `loss`"),
        (&["evaluate", "reno", "--blocks", "none.toml"], "none.toml: cannot be read"),
        (&["evaluate", "reno", "--blocks", "empty.toml"], "empty.toml:1: invalid type: integer `1`, expected a string"),
        (&["evaluate", "reno", "--scale", "huge"], "invalid value 'huge' for '--scale <SCALE>'"),
        (&["evaluate", "reno", "--set", "flow[0].count=3"], "--set flow[0].count: is what the blocks are made of"),
        (&["evaluate", "reno", "--set", "controller.cubic.beta=0.5"], "would change the baseline, too; name another"),
        (&["evaluate", "reno", "--set", "controller.reno.x=3"], "--set controller.reno.x: there is no parameter `x`"),
    ] {
        let (code, out, err) = thalweg(home.path(), args);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left behind");
}

/// The report shows what others lose. A controller that never reduces takes nearly all of the link from CUBIC, and is
/// broken.
#[test]
fn a_controller_that_never_reduces_harms_others() {
    let home = tempfile::tempdir().unwrap();
    let beside = SHALLOW.replace("count = 4\n", "").replace(
        "'''\n\n[[row]]",
        "[[flow]]\ncontroller = \"cubic\"\nstart = { uniform = [\"0 s\", \"1 s\"] }\n'''\n\n[[row]]",
    );
    let row = "[[row]]\ncriterion = \"5.2.1\"\nsays = \"goodput of CUBIC\"\nmeasure = \"share\"\nflows = [2, 2]\n\
               span = [5, 15]\nharm = true\nbetter = \"more\"\nmatters = 5\nbroken = { below = 5 }\n";
    fs::write(home.path().join("beside.toml"), format!("{beside}\n{row}")).unwrap();
    let args = ["evaluate", "aimd", "--blocks", "beside.toml", "--out", "out", "-q"];
    let (code, table, err) = thalweg(home.path(), &[&args[..], &["--set", "controller.aimd.decrease=0"]].concat());
    assert!(code == 1 && err.contains("broken in a row: aimd"), "{table}{err}");
    let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    let evaluation: Value = serde_json::from_str(&read("out/aimd.json")).unwrap();
    let harm = |row: usize| evaluation["rows"][row]["harm"]["mean"].as_f64();
    assert!(harm(0).is_none() && harm(1).is_some_and(|harm| harm > 0.8), "{:?}", evaluation["rows"][1]["harm"]);
    assert!(read("out/aimd.html").contains("<section class=\"artefact\" id=\"harm\">"));
}

/// The example's Reno in Python is like our Reno: it grows and gives up by the same rules.
#[test]
fn a_controller_can_be_a_process() {
    let home = tempfile::tempdir().unwrap();
    let block = SHALLOW.replace("count = 4", "count = 2").replace("20 Mbps\"", "2 Mbps\"").replace("0.1 bdp", "1 bdp");
    fs::write(home.path().join("shallow.toml"), format!("seeds = {{ quick = 3, full = 3 }}\n{block}")).unwrap();
    let example = concat!("mine=python3 ", env!("CARGO_MANIFEST_DIR"), "/../examples/process/reno.py");
    let evaluate = |process: &str| {
        let args = ["evaluate", "mine", "--baseline", "reno", "--blocks", "shallow.toml", "--out", "out", "-q"];
        thalweg(home.path(), &[&args[..], &["--process", process]].concat())
    };
    let (code, table, err) = evaluate(example);
    assert!(code == 0 && table.contains("\n1 like\n"), "{table}{err}");
    let cached = fs::read_dir(home.path().join("out/cache")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_dir(cached).unwrap().count(), 3, "the runs of Reno, and none of the process");
    for (process, code, said) in [
        ("mine=true", 1, "mine: its process has ended"),
        ("mine=read line; echo 7", 1, "mine: its process answered \"7\": "),
        (
            "mine=read line; echo '{\"window\":-1}'",
            1,
            "mine: its process answered \"{\\\"window\\\":-1}\": the window is -1 bytes",
        ),
        ("cubic=true", 2, "--process cubic=true: there is a controller `cubic` already; choose another name"),
        ("../mine=true", 2, "has no name before a `=`; write NAME=COMMAND"),
    ] {
        let (exit, out, err) = evaluate(process);
        assert_eq!((exit, out.as_str(), err.lines().count()), (code, "", 1), "{process}: {err}");
        assert!(err.contains(said), "{process}: {err}");
    }
}

#[test]
fn blocks_are_listed_in_the_order_of_the_sections() {
    let home = tempfile::tempdir().unwrap();
    let (code, list, _) = thalweg(home.path(), &["evaluate", "--list"]);
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!((code, &names[..3]), (0, &["collapse", "bufferbloat", "loss"][..]), "{list}");
}
