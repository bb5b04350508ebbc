//! `thalweg run --shard` and `thalweg merge`, as users see them.

use assert_cmd::cargo::cargo_bin_cmd;
use std::fs;
use std::path::Path;

const SWEEP: &str = r#"
duration = "1 s"
path = { rate = "10 Mbps", rtt = "20 ms", buffer = "1 bdp" }

[compare]
controllers = ["reno", "rapid"]

[sweep]
seed = [1, 2, 3, 4]
"#;

/// A folder that holds `sweep.toml` with the text of `SWEEP`.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("sweep.toml"), SWEEP).unwrap();
    home
}

/// Runs thalweg in `home`, and returns its exit code and standard error. Standard output must be empty.
fn thalweg(home: &Path, args: &[&str]) -> (i32, String) {
    let output = cargo_bin_cmd!("thalweg").current_dir(home).args(args).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{args:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn shard(home: &Path, shard: &str, out: &str) -> (i32, String) {
    thalweg(home, &["run", "sweep.toml", "--shard", shard, "--out", out])
}

/// The names of the files in `folder`, without the hash of the plan.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.map(|name| name.split('.').next().unwrap().to_string()).collect();
    names.sort();
    names
}

#[test]
fn shards_in_any_order_and_merged_are_the_run_as_a_whole() {
    let home = home();
    for number in ["2/3", "3/3", "1/3"] {
        let (code, err) = shard(home.path(), number, "results/three");
        assert_eq!(code, 0, "{err}");
        assert!(err.starts_with(&format!("shard {number}: results/three/shard-")) && err.lines().count() == 1, "{err}");
    }
    let folder = home.path().join("results/three");
    assert_eq!(names(&folder), ["shard-1-of-3", "shard-2-of-3", "shard-3-of-3"]);
    let merged = thalweg(home.path(), &["merge", "results/three"]);
    assert_eq!(merged, (0, "summary: results/three/summary.parquet\n".into()));

    assert_eq!(shard(home.path(), "1/1", "one").0, 0);
    assert_eq!(thalweg(home.path(), &["merge", "one"]).0, 0);
    let read = |folder: &Path| fs::read(folder.join("summary.parquet")).unwrap();
    assert!(read(&folder) == read(&home.path().join("one")));
    // Once more, in place of the earlier file.
    assert_eq!(thalweg(home.path(), &["merge", "one"]).0, 0);
}

#[test]
fn a_shard_that_is_there_is_not_made_again() {
    let home = home();
    assert_eq!(shard(home.path(), "1/2", "out").0, 0);
    let file = fs::read_dir(home.path().join("out")).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "as it was").unwrap();
    let (code, err) = shard(home.path(), "1/2", "out");
    assert!(code == 0 && err.ends_with(".parquet is there; nothing to do\n"), "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "as it was");
    let quiet = ["run", "sweep.toml", "--shard", "1/2", "--out", "out", "--quiet"];
    assert_eq!(thalweg(home.path(), &quiet), (0, String::new()));
}

fn shard_with_series(home: &Path, shard: &str, out: &str) -> (i32, String) {
    thalweg(home, &["run", "sweep.toml", "--shard", shard, "--out", out, "--series"])
}

#[test]
fn time_series_of_shards_are_those_of_the_run_as_a_whole() {
    let home = home();
    for (out, numbers) in [("three", &["3/3", "1/3", "2/3"][..]), ("one", &["1/1"])] {
        for number in numbers {
            let (code, err) = shard_with_series(home.path(), number, out);
            assert!(code == 0 && err.lines().count() == 1, "{err}");
        }
        assert_eq!(fs::read_dir(home.path().join(out)).unwrap().count(), 3 * numbers.len());
        let said: String = ["summary", "flows", "links"].map(|it| format!("{it}: {out}/{it}.parquet\n")).concat();
        assert_eq!(thalweg(home.path(), &["merge", out]), (0, said));
    }
    cargo_bin_cmd!("thalweg")
        .current_dir(home.path())
        .args(["run", "sweep.toml", "--out", "whole", "--quiet"])
        .assert()
        .success();
    let read = |folder: &str, file: &str| fs::read(home.path().join(folder).join(file)).unwrap();
    assert!(read("three", "summary.parquet") == read("one", "summary.parquet"));
    for file in ["flows.parquet", "links.parquet"] {
        assert!(read("three", file) == read("whole", file) && read("one", file) == read("whole", file), "{file}");
    }
}

#[test]
fn a_shard_without_time_series_is_named() {
    let home = home();
    assert_eq!(shard_with_series(home.path(), "1/2", "out").0, 0);
    assert_eq!(shard(home.path(), "2/2", "out").0, 0);
    let (code, err) = thalweg(home.path(), &["merge", "out"]);
    let said = "summary: out/summary.parquet\nout: time series are not joined, because these of 2 shards have none: 2; \
                run them with --shard and --series, and merge again\n";
    assert_eq!((code, err.as_str()), (1, said));
    // Its metrics are there, so that it is made again for its series alone.
    let (code, err) = shard_with_series(home.path(), "2/2", "out");
    assert!(code == 0 && !err.contains("is there"), "{err}");
    assert_eq!(thalweg(home.path(), &["merge", "out"]).0, 0);
    for (code, err) in [shard_with_series(home.path(), "1/2", "out"), shard(home.path(), "1/2", "out")] {
        assert!(code == 0 && err.ends_with(" is there; nothing to do\n"), "{err}");
    }
}

/// The metrics come last. So a process that is killed while it writes a shard leaves one of these.
#[test]
fn a_shard_with_a_part_of_its_files_is_made_again() {
    for lost in [&[".parquet"][..], &[".parquet", ".links.parquet"], &[".flows.parquet"]] {
        let home = home();
        assert_eq!(shard_with_series(home.path(), "1/1", "out").0, 0);
        let folder = home.path().join("out");
        let metrics = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let stem = metrics.map(|name| name.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")).next().unwrap();
        for end in lost {
            fs::remove_file(folder.join(format!("{stem}{end}"))).unwrap();
        }
        let (code, err) = thalweg(home.path(), &["merge", "out"]);
        let said = if lost[0] == ".parquet" { "out: these of 1 shards are missing: 1; " } else { "have none: 1; " };
        assert!(code == 1 && err.contains(said), "{err}");
        assert_eq!(shard_with_series(home.path(), "1/1", "out").0, 0);
        assert_eq!(thalweg(home.path(), &["merge", "out"]).0, 0);
    }
}

#[test]
fn several_shards_may_be_made_at_once() {
    let home = home();
    std::thread::scope(|scope| {
        for number in ["1/2", "2/2", "1/2"] {
            scope.spawn(|| assert_eq!(shard(home.path(), number, "new/out").0, 0));
        }
    });
    assert_eq!(thalweg(home.path(), &["merge", "new/out"]).0, 0);
}

#[cfg(unix)]
#[test]
fn a_shard_that_was_killed_leaves_nothing_that_merge_takes() {
    use std::time::{Duration, Instant};
    let home = home();
    // The second run takes so long that it is still made when its process is killed.
    let long = r#"sweep={ duration = ["10 s", "1000 h"] }"#;
    let args = |number| {
        ["run", "sweep.toml", "--set", long, "--set", "compare.controllers=[\"reno\"]", "--set", "sample=10 s"]
            .into_iter()
            .chain(["--out", "out", "--shard", number])
    };
    assert_eq!(thalweg(home.path(), &args("1/2").collect::<Vec<_>>()).0, 0);
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("thalweg"))
        .current_dir(home.path())
        .args(args("2/2"))
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_millis(500) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // A process that is killed while it writes leaves such a file.
    fs::write(home.path().join("out/.thalweg-Ab3dEf"), "half of it").unwrap();
    let (code, err) = thalweg(home.path(), &["merge", "out"]);
    let said = "out: these of 2 shards are missing: 2; run them with --shard, and merge again\n";
    assert_eq!((code, err.as_str()), (1, said));
    assert!(!home.path().join("out/summary.parquet").exists());
}

#[test]
fn mistakes_are_answered_in_a_line() {
    let home = home();
    fs::write(home.path().join("file"), "").unwrap();
    fs::create_dir(home.path().join("empty")).unwrap();
    assert_eq!(shard(home.path(), "2/4", "out").0, 0);
    let run = |args: &[&'static str]| [&["run", "sweep.toml"], args].concat();
    let mut cases = vec![
        (run(&["--shard", "4/3", "--out", "o"]), "`4/3` is no shard; write K/N with K from 1 to N, like 3/10"),
        (run(&["--shard", "3", "--out", "o"]), "`3` is no shard; write K/N"),
        (run(&["--shard", "1/2"]), "the following required arguments were not provided: --out <DIR>"),
        (run(&["--shard", "1/2", "--out", "o", "--format", "json"]), "cannot be used with '--format"),
        (run(&["--shard", "1/2", "--out", "file"]), "--out file: cannot be written"),
        (run(&["--shard", "2/3", "--out", "out"]), "--out out: holds shard-2-of-4."),
        (run(&["--shard", "2/4", "--out", "out", "--set", "seed=9"]), "another scenario, other settings,"),
        (run(&["--shard", "1/2", "--out", "o", "--set", "path.rate=1"]), "sweep.toml: --set path.rate: "),
        (run(&["--series", "--out", "o"]), "the following required arguments were not provided: --shard <K/N>"),
        (run(&["--out", "s3://bucket/sweep"]), "--out s3://bucket/sweep: reports go into folders; name one, or add"),
        (vec!["merge", "empty"], "empty: holds no shards; name the folder of thalweg run --shard\n"),
        (vec!["merge", "none"], "none: cannot be read (no such file or directory); check its name and permissions\n"),
        (vec!["merge", "file"], "file: cannot be read (not a directory); check its name and permissions\n"),
        (vec!["merge"], "the following required arguments were not provided: <DIR>"),
    ];
    if cfg!(feature = "object-store") {
        cases.push((vec!["merge", "s3://"], "s3://: names no bucket; write s3://BUCKET/PREFIX\n"));
    } else {
        let said = "s3://bucket/sweep: this program was built without object stores; use the Python package,";
        cases.push((vec!["merge", "s3://bucket/sweep"], said));
        cases.push((run(&["--shard", "1/2", "--out", "s3://bucket/sweep"]), said));
    }
    if cfg!(target_os = "linux") {
        cases.push((run(&["--shard", "1/2", "--out", "o", "--real"]), "cannot be used with '--"));
    }
    for (args, said) in cases {
        let (code, err) = thalweg(home.path(), &args);
        assert!(code == 2 && err.contains(said) && err.lines().count() == 1, "{args:?}: {code} {err}");
    }
    assert_eq!(names(home.path()), ["empty", "file", "out", "sweep"]);

    let (code, err) = thalweg(home.path(), &["merge", "out"]);
    let said = "out: these of 4 shards are missing: 1,3-4; run them with --shard, and merge again\n";
    assert_eq!((code, err.as_str()), (1, said));

    // Shards of two plans come together if somebody copies them.
    assert_eq!(shard(home.path(), "1/3", "three").0, 0);
    let file = fs::read_dir(home.path().join("three")).unwrap().next().unwrap().unwrap();
    fs::copy(file.path(), home.path().join("out").join(file.file_name())).unwrap();
    let (code, err) = thalweg(home.path(), &["merge", "out"]);
    assert!(code == 2 && err.contains("are not of the same plan; remove those of one"), "{err}");
}
