//! The command line as a user sees it: exit codes, standard output, standard error and files.

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SHORT: &str = r#"
title = "Short"
duration = "2 s"
sample = "10 ms"

[path]
rate = "10 Mbps"
rtt = "20 ms"
buffer = "1 bdp"

[compare]
controllers = ["reno", "newreno"]

[[flow]]
size = "100 kB"
"#;

/// A folder that holds `short.toml` with the text of `SHORT`.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("short.toml"), SHORT).unwrap();
    home
}

/// Runs thalweg in `home`, and returns its exit code, standard output and standard error.
fn thalweg(home: &Path, args: &[&str]) -> (i32, String, String) {
    let output = cargo_bin_cmd!("thalweg").current_dir(home).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios")
}

#[test]
fn json_has_the_fields_that_the_documentation_lists() {
    let home = home();
    let (code, out, err) = thalweg(home.path(), &["run", "short.toml", "--format", "json", "--set", "seed=7"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let summary: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((summary["title"].as_str(), summary["seed"].as_u64()), (Some("Short"), Some(7)));
    let runs = summary["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["name"].as_str().unwrap()).collect::<Vec<_>>(), ["reno", "newreno"]);
    for run in runs {
        for key in ["name", "controller", "parameters", "packets_delivered", "wall_seconds", "links", "flows", "jain"] {
            assert!(run.get(key).is_some(), "{key}");
        }
        for key in ["name", "utilization", "mean_queue_packets", "max_queue_packets", "drops"] {
            assert!(run["links"][0].get(key).is_some(), "{key}");
        }
        let flow = &run["flows"][0];
        for key in ["id", "controller", "rtt_ms", "throughput_mbps", "retransmitted_packets", "loss_events"] {
            assert!(flow.get(key).is_some_and(|value| !value.is_null()), "{key}");
        }
        assert!(flow.get("acquire_rtts").is_some());
        assert!(flow["completion_seconds"].as_f64().unwrap() > 0.08, "100 kB at 10 Mbps");
    }
    assert_eq!(names(home.path()), ["short.toml"], "without --out no files");
}

#[test]
fn jobs_do_not_change_results() {
    let home = home();
    for jobs in ["1", "2"] {
        let (code, _, err) = thalweg(home.path(), &["run", "short.toml", "--quiet", "--out", jobs, "--jobs", jobs]);
        assert_eq!((code, err.as_str()), (0, ""));
    }
    for name in names(&home.path().join("1")) {
        let read = |jobs| fs::read(home.path().join(jobs).join(&name)).unwrap();
        assert_eq!(read("1"), read("2"), "{name}");
    }
}

/// In builds that check arithmetic, an overflow ends the program.
#[test]
fn a_round_trip_of_weeks_overflows_nothing() {
    let home = home();
    let (code, _, err) = thalweg(
        home.path(),
        &["run", "short.toml", "--quiet", "--set", "path.rtt=2000000s", "--set", "path.buffer=100 packets"],
    );
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn results_are_written_into_the_folder_that_is_named() {
    let home = home();
    // The results of the second run replace those of the first.
    for _ in 0..2 {
        let (code, out, err) = thalweg(home.path(), &["run", "short.toml", "--out", "results/short"]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("newreno"), "{out}");
        assert_eq!(err, format!("report: {}\n", Path::new("results/short/report.html").display()));
    }
    assert_eq!(names(&home.path().join("results")), ["short"]);
    let results = home.path().join("results/short");
    assert!(names(&results).contains(&"summary.json".to_string()));
    assert!(names(&results).contains(&"report.html".to_string()));
    let summary: Value = serde_json::from_slice(&fs::read(results.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn mistakes_are_answered_in_a_line() {
    let home = home();
    fs::write(home.path().join("file"), "").unwrap();
    fs::create_dir(home.path().join("thesis")).unwrap();
    fs::write(home.path().join("thesis/draft.tex"), "").unwrap();
    let broken = SHORT.replace("rtt", "rrt");
    fs::write(home.path().join("broken.toml"), broken).unwrap();
    fs::write(home.path().join("radio.toml"), SHORT.replace("rate = \"10 Mbps\"", "trace = \"radio.trace\"")).unwrap();
    fs::write(home.path().join("radio.trace"), "1\n2\nthree\n").unwrap();
    for (args, said) in [
        (&["run", "broken.toml"][..], "broken.toml:8:1: path.rrt: there is no key `rrt`; did you mean `rtt`?\n"),
        (&["check", "broken.toml"], "broken.toml:8:1: path.rrt: there is no key `rrt`; did you mean `rtt`?\n"),
        (
            &["run", "short.toml", "--set", "path.rate=-1 Gbps"],
            "short.toml: --set path.rate: `-1 Gbps` is negative; a rate must be zero or more, like \"1 Gbps\"\n",
        ),
        (
            &["run", "none.toml"],
            "none.toml: cannot be read (no such file or directory); check its name and permissions\n",
        ),
        (
            &["run", "radio.toml"],
            "radio.toml:7:9: path.trace: radio.trace:3: `three` is not a whole number; write one whole number of milliseconds per line, none less than the one before\n",
        ),
        (&["run", "short.toml", "--out", "file"], "--out file: is a file; name a folder\n"),
        (
            &["run", "short.toml", "--out", "file/results"],
            "--out file/results: cannot be written (not a directory); name another folder\n",
        ),
        (
            &["run", "short.toml", "--out", "thesis"],
            "--out thesis: is there and holds no earlier results; name another folder, or remove it\n",
        ),
        (
            &["run", "short.toml", "--set", "path.rate"],
            "invalid value 'path.rate' for '--set <KEY=VALUE>': `path.rate` has no `=`; write KEY=VALUE, like path.rate=10Gbps\n",
        ),
        (
            &["run", "short.toml", "--sett", "seed=1"],
            "unexpected argument '--sett' found; tip: a similar argument exists: '--set'; \
             Usage: thalweg run --set <KEY=VALUE> <FILE>\n",
        ),
        (&["run"], "the following required arguments were not provided: <FILE>; Usage: thalweg run <FILE>\n"),
        (
            &["controllers", "--markdown", "file/pages"],
            "--markdown file/pages: cannot be written (not a directory); name another folder\n",
        ),
        (&["controllers", "rneo"], "rneo: there is no controller `rneo`; did you mean `reno`?\n"),
    ] {
        let (code, out, err) = thalweg(home.path(), args);
        assert_eq!((code, out.as_str(), err.as_str()), (2, "", said), "{args:?}");
    }
    let (code, _, err) = thalweg(home.path(), &["run", "short.toml", "--set", "path.buffer=1e6 TB"]);
    assert_eq!(code, 2);
    assert!(err.starts_with("short.toml: --set path.buffer: this needs about") && err.lines().count() == 1, "{err}");
    assert_eq!(names(home.path()), ["broken.toml", "file", "radio.toml", "radio.trace", "short.toml", "thesis"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing_behind() {
    let home = home();
    // The scenario takes so long that it still runs when the signal arrives.
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("thalweg"))
        .current_dir(home.path())
        .args(["run", "short.toml", "--out", "new/results", "--set", "duration=100 h", "--set", "sample=1 s"])
        .args(["--set", "path.rate=1 Gbps", "--set", "flow[0].size=900 TB"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The run has begun to prepare its results once the parent of their folder is there.
    let begin = Instant::now();
    while !home.path().join("new").exists() {
        assert!(begin.elapsed() < Duration::from_secs(20) && child.try_wait().unwrap().is_none(), "it did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(names(&home.path().join("new")).len(), 1, "only a temporary folder so far");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begin.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("it did not stop");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(130));
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "");
    assert_eq!(names(home.path()), ["short.toml"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_closes_standard_output_is_no_error() {
    for args in [&["schema"][..], &["completions", "bash"], &["controllers"]] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("thalweg"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{args:?}");
    }
}

#[test]
fn the_schema_accepts_shipped_scenarios_and_refuses_wrong_ones() {
    let (code, out, _) = thalweg(&scenarios(), &["schema"]);
    assert_eq!(code, 0);
    let schema: Value = serde_json::from_str(&out).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors = |text: &str| -> Vec<String> {
        let scenario: Value = toml::from_str(text).unwrap();
        validator.iter_errors(&scenario).map(|error| error.to_string()).collect()
    };
    for name in names(&scenarios()) {
        let found = errors(&fs::read_to_string(scenarios().join(&name)).unwrap());
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    assert!(errors(SHORT).is_empty());
    for (from, to) in [
        ("rate = \"10 Mbps\"", "trace = \"cell.trace\""),
        ("\"1 bdp\"", "\"1 bdp\"\nqueue = \"fq-codel\"\npacket-error = 1e-6"),
        ("\"1 bdp\"", "\"1 bdp\"\nqueue = { kind = \"ared\", bottom = 0.001 }\nduplicate = 0.1"),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\npacket-error = { p = 0.1, r = 0.1 }\nreorder = { probability = 0.1, delay = \"1 ms\" }",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nreverse = { rate = \"1 Mbps\", queue = \"codel\", packet-error = 0.01, change = [] }",
        ),
        ("\"1 bdp\"", "\"1 bdp\"\nchange = [{ at = \"1 s\", rate = \"1 Mbps\" }]"),
    ] {
        assert_eq!(errors(&SHORT.replacen(from, to, 1)), Vec::<String>::new(), "{to}");
    }
    for (from, to) in [
        ("10 Mbps", "10 Mb"),
        ("rtt", "rrt"),
        ("1 bdp", "1 bpd"),
        ("rate = \"10 Mbps\"", ""),
        ("rate = \"10 Mbps\"", "rate = \"10 Mbps\"\ntrace = \"cell.trace\""),
        ("\"1 bdp\"", "\"1 bdp\"\nreverse = { rate = \"1 Mbps\", trace = \"cell.trace\" }"),
        ("\"1 bdp\"", "\"1 bdp\"\nqueue = \"coddle\""),
        ("\"1 bdp\"", "\"1 bdp\"\nqueue = { target = \"5 ms\" }"),
        ("\"reno\"", "\"rneo\""),
        ("[compare]", "[controller.reno]\nnonsense = 1\n[compare]"),
        ("\"100 kB\"", "\"100 kB\"\nstart = { uniform = [\"1 s\"] }"),
    ] {
        assert!(!errors(&SHORT.replacen(from, to, 1)).is_empty(), "{to}");
    }
}

#[test]
fn shipped_scenarios_pass_the_check() {
    for name in names(&scenarios()) {
        let (code, out, err) = thalweg(&scenarios(), &["check", &name]);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.lines().count() > 1, "{out}");
    }
}

#[test]
fn controllers_are_listed_and_described() {
    let (code, out, _) = thalweg(&scenarios(), &["controllers"]);
    assert_eq!(code, 0);
    for controller in control::registry::all() {
        assert!(out.contains(controller.name) && out.contains(controller.source), "{}", controller.name);
        assert!(out.contains(controller.family.summary()), "{}", controller.name);
        let (code, out, _) = thalweg(&scenarios(), &["controllers", controller.name]);
        assert_eq!(code, 0);
        for (name, default) in controller.defaults().as_object().unwrap() {
            assert!(out.contains(&format!("{name} = {default}")), "{name}: {out}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_error_causes_no_panic() {
    for args in [&["run", "none.toml"][..], &["run", "--frobnicate"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = Command::new(assert_cmd::cargo::cargo_bin!("thalweg")).args(args).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn more_jobs_than_the_system_has_threads_are_no_error() {
    let home = home();
    let (code, _, err) = thalweg(home.path(), &["run", "short.toml", "--jobs", "1000000000", "--quiet"]);
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn vectors_are_written_and_replayed() {
    let home = home();
    let write = |seed: &str, out: &str| {
        let args = ["vectors", "--load", "5Mbps", "--duration", "10s", "--seed", seed, "--out", out];
        let (code, out, err) = thalweg(home.path(), &args);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
        assert!(err.contains(" connections, ") && err.lines().count() == 1, "{err}");
    };
    write("7", "a.cvec");
    write("7", "b.cvec");
    write("8", "c.cvec");
    let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    assert!(read("a.cvec") == read("b.cvec") && read("a.cvec") != read("c.cvec"));
    let (code, printed, _) = thalweg(home.path(), &["vectors", "--load", "5Mbps", "--duration", "10s", "--seed", "7"]);
    assert!(code == 0 && printed == read("a.cvec"));
    assert_eq!(names(home.path()), ["a.cvec", "b.cvec", "c.cvec", "short.toml"], "and nothing else");

    let huge = thalweg(home.path(), &["vectors", "--load", "900Tbps", "--duration", "1000h"]);
    assert!(huge.0 == 2 && huge.1.is_empty() && huge.2.starts_with("--load: 900 Tbps for 3600000 s are"), "{huge:?}");

    // Vectors that were written and are read again are the connections that a run draws itself, so that the results are
    // the same.
    let scenario = |traffic: &str| {
        let path = "path = { rate = \"10 Mbps\", rtt = \"10 ms\", buffer = \"1 bdp\", delay = \"2 ms\" }";
        fs::write(
            home.path().join("mix.toml"),
            format!("duration = \"10 s\"\nseed = 7\n{path}\ntraffic = [{traffic}]\n"),
        )
        .unwrap();
        let (code, out, err) = thalweg(home.path(), &["run", "mix.toml", "--format", "json"]);
        assert_eq!((code, err.as_str()), (0, ""));
        let mut summary: Value = serde_json::from_str(&out).unwrap();
        summary["runs"][0].as_object_mut().unwrap().remove("wall_seconds");
        summary
    };
    let file = scenario(r#"{ kind = "tmix", file = "a.cvec" }"#);
    assert!(file["runs"][0]["traffic"][0]["connections"].as_u64().unwrap() > 100);
    assert_eq!(file, scenario(r#"{ kind = "tmix", load = "5 Mbps" }"#));
}

#[test]
fn wrong_vectors_are_refused_in_a_line() {
    let home = home();
    for (args, said) in [
        (&["--load", "0Mbps", "--duration", "1s"][..], "--load: is zero; write one like 70Mbps\n"),
        (&["--load", "1Mbps", "--duration", "0s"], "--duration: is zero; write one like 30min\n"),
        (&["--load", "1Mbps", "--duration", "1s", "--packet", "40B"], "--packet: 40 B is no size for a packet"),
        (&["--load", "1Mbit", "--duration", "1s"], "has the unit `Mbit`"),
        (&["--load", "1Mbps", "--duration", "1s", "--out", "none/x"], "--out none/x: cannot be written"),
    ] {
        let (code, out, err) = thalweg(home.path(), &[&["vectors"], args].concat());
        assert!(out.is_empty() && err.contains(said) && err.lines().count() == 1, "{args:?}: {err}");
        assert_eq!(code, if said.contains("cannot") { 1 } else { 2 }, "{args:?}");
    }
    fs::write(home.path().join("bad.cvec"), "SEQ 5 1 1 1\nr 100\n> 10\nSEQ 4 1 1 1\nr 100\n> 10\n").unwrap();
    let set = "traffic=[{ kind = \"tmix\", file = \"bad.cvec\" }]";
    let (code, _, err) = thalweg(home.path(), &["run", "short.toml", "--set", set]);
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
    assert!(
        err.contains("bad.cvec:4: `SEQ 4 1 1 1` starts before the connection above it; sort the file by start"),
        "{err}"
    );
}

#[test]
fn pacing_is_measured_and_mistakes_are_answered_in_a_line() {
    let home = tempfile::tempdir().unwrap();
    let (code, out, _) = thalweg(home.path(), &["bench", "pacing", "--rate", "20Mbps", "--duration", "20ms"]);
    assert_eq!(code, 0);
    assert!(out.contains("Arrival times: ") && out.contains("20 Mbps"), "{out}");
    let rows =
        out.lines().filter(|line| line.contains(" us ") && line.contains("20 Mbps") && !line.contains("quantum"));
    assert_eq!(rows.count(), 2 * 6, "{out}");
    assert!(out.contains("This host's quantum: ") && out.contains("Then the quantum is: "), "{out}");
    for (option, value) in [("--rate", "0Mbps"), ("--rate", "1Pbps"), ("--duration", "0s"), ("--duration", "1h")] {
        let (code, out, err) = thalweg(home.path(), &["bench", "pacing", option, value]);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{err}");
        assert!(err.contains(option), "{err}");
    }
}

#[test]
fn estimators_are_measured_and_mistakes_are_answered_in_a_line() {
    let home = tempfile::tempdir().unwrap();
    let bench = ["bench", "estimators", "--rate", "10Mbps", "--count", "2", "--beside", "p-stream", "--quiet"];
    let (code, out, err) = thalweg(home.path(), &bench);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.starts_with("p-streams of 60 packets, m = 1.025, through a link of 10 Mbps; seed 1.\n"), "{out}");
    assert!(out.contains("\n1 p-stream 75 %"), "{out}");
    let (_, json, _) = thalweg(home.path(), &[&bench[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let row = &json["rows"][8];
    assert_eq!((json["rows"].as_array().unwrap().len(), row["traffic"].as_str()), (9, Some("p-stream")));
    assert_eq!((row["load"].as_f64(), row["ratio"].as_f64()), (Some(0.75), Some(1.3)));
    assert_eq!(row["estimators"][2]["estimator"].as_str(), Some("regression"));
    for (option, value, said) in [
        ("--rate", "1kbps", "--rate: 1 kbps is not within 1 Mbps and 100 Gbps; write one like 1Gbps"),
        ("--stream", "9", "--stream: 9 packets are not within 10 and 1000; write one like 60"),
        ("--spread", "1", "--spread: 1 is not within 1.0001 and 4, or too much for 60 packets; write one like 1.025"),
        ("--spread", "1.6", "--spread: 1.6 is not within 1.0001 and 4, or too much for 60 packets"),
        ("--share", "0", "--share: 0 is not within 0.01 and 1; write one like 0.5"),
        ("--count", "1", "--count: 1 streams are not within 2 and 100000; write one like 300"),
        ("--beside", "webs", "--beside: there is no traffic `webs`; write one of none, cbr, poisson, onoff, web, "),
        ("--beside", "cbr", "--beside: `cbr` is there twice; remove one of the two"),
    ] {
        let (code, out, err) = thalweg(home.path(), &["bench", "estimators", "--beside", "cbr", option, value]);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{option} {value}: {err}");
        assert!(err.contains(said), "{option} {value}: {err}");
    }
}
