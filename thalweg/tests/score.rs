//! `thalweg draw` and `thalweg score`, as users see them.

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

#[test]
fn a_drawn_path_is_the_same_alone_and_among_others() {
    let home = tempfile::tempdir().unwrap();
    let draw = ["draw", "--seed", "17"];
    assert_eq!(thalweg(home.path(), &[&draw[..], &["--count", "9", "--out", "paths"]].concat()).0, 0);
    assert_eq!(fs::read_dir(home.path().join("paths")).unwrap().count(), 9);
    let (code, one, _) = thalweg(home.path(), &[&draw[..], &["--path", "9"]].concat());
    assert_eq!((code, &one), (0, &fs::read_to_string(home.path().join("paths/17-9.toml")).unwrap()));
    // A file and the name of a path are the same scenario.
    let [file, name] = ["paths/17-9.toml", "draw:17/9"].map(|it| thalweg(home.path(), &["check", it]));
    assert_eq!((file.0, &file.1), (0, &name.1), "{}", file.2);
    assert!(name.1.starts_with("seed 17 path 9: "), "{}", name.1);
}

#[test]
fn wrong_paths_and_controllers_are_answered_in_a_line() {
    let home = tempfile::tempdir().unwrap();
    for (args, said) in [
        (&["draw", "--count", "2"][..], "--count: several scenarios do not fit into one file; add --out DIR"),
        (&["draw", "--path", "0"], "invalid value '0' for '--path <K>'"),
        (&["check", "draw:17"], "`draw:17` names no drawn path; write its seed and its number, like draw:17/203"),
        (&["run", "draw:1/1", "--set", "path.rte=1"], "draw:1/1: --set path.rte: there is no key `rte`"),
        (&["score"], "the following required arguments were not provided: <CONTROLLER>..."),
        (&["score", "cubik"], "there is no controller `cubik`; did you mean `cubic`?"),
        (&["score", "reno", "reno"], "`reno` is there twice; remove one of the two"),
        (&["score", "reno", "--set", "flow[0].count=3"], "--set flow[0].count: is as it was drawn; set another key"),
        (&["score", "reno", "--set", "controller.reno.x=3"], "draw:1/1: --set controller.reno.x: "),
    ] {
        let (code, out, err) = thalweg(home.path(), args);
        assert_eq!((code, out.as_str(), err.lines().count()), (2, "", 1), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}

/// Measures of two small paths; the second call finds the runs in the cache.
#[test]
fn a_score_is_printed_and_written_and_cached() {
    let home = tempfile::tempdir().unwrap();
    let args =
        ["score", "reno", "--seed", "2005", "--count", "2", "--set", "measure.from=5 s", "--out", "out", "--quiet"];
    let (code, table, err) = thalweg(home.path(), &args);
    assert!(code < 2, "{err}");
    assert!(table.starts_with("2 paths of seed 2005; ") && table.contains("\nreno does worst on"), "{table}");
    let command = "run draw:2005/2 --set 'compare.controllers=[\"reno\", \"cubic\"]' --set 'measure.from=\"5 s\"'";
    assert!(table.contains(command), "{table}");
    let score = || fs::read_to_string(home.path().join("out/score.json")).unwrap();
    let first = score();
    let runs = || fs::read_dir(home.path().join("out/cache")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(fs::read_dir(runs()).unwrap().count(), 4, "Reno and CUBIC on two paths");
    let (_, json, _) = thalweg(home.path(), &[&args[..], &["--format", "json"]].concat());
    assert_eq!((&json, &first), (&first, &score()));
    let json: Value = serde_json::from_str(&json).unwrap();
    let reno = &json["controllers"][0];
    assert_eq!((reno["controller"].as_str(), reno["measures"]["used"]["paths"].as_u64()), (Some("reno"), Some(2)));
    let used = reno["measures"]["used"]["median"].as_f64().unwrap();
    assert!((0.1..1.1).contains(&used), "{used}");
    assert!(home.path().join("out/paths.parquet").exists());
}
