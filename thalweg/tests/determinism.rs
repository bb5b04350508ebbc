//! The same seed gives the same files, to the byte, for any number of runs at the same time. Another seed gives other
//! files.

use assert_cmd::cargo::cargo_bin_cmd;
use std::fs;
use std::path::Path;

/// A scenario with everything that is random: starts, round-trip times, transmission errors and traffic.
const RANDOM: &str = r#"
title = "Random"
duration = "3 s"

[path]
rate = "50 Mbps"
rtt = "30 ms"
buffer = "1 bdp"
packet-error = 1e-3

[compare]
controllers = ["reno", "bic", "rapid", "thalweg"]

[sweep]
"flow[0].count" = [1, 5]

[[flow]]
start = { uniform = ["0 s", "1 s"] }
rtt = { uniform = ["30 ms", "60 ms"] }

[[traffic]]
kind = "onoff"
rate = "5 Mbps"
on = "100 ms"
off = "100 ms"

[[traffic]]
kind = "flows"
load = "5 Mbps"
size = { lognormal = "30 kB", sigma = 1.0 }

[[traffic]]
kind = "tmix"
load = "5 Mbps"
"#;

/// The results of `RANDOM` with this seed.
fn results(home: &Path, seed: u64, jobs: u64) -> [Vec<u8>; 5] {
    let folder = format!("{seed}-{jobs}");
    cargo_bin_cmd!("thalweg")
        .current_dir(home)
        .args(["run", "random.toml", "--quiet", "--out", &folder])
        .args(["--jobs", &jobs.to_string(), "--set", &format!("seed={seed}")])
        .assert()
        .success();
    ["summary.json", "flows.parquet", "links.parquet", "transfers.parquet", "completion.parquet"]
        .map(|name| fs::read(home.join(&folder).join(name)).unwrap())
}

#[test]
fn results_depend_on_the_seed_and_on_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("random.toml"), RANDOM).unwrap();
    let first = results(home.path(), 1, 1);
    // The same folder again, and then with two runs at the same time: results must not depend on what differs between
    // executions.
    for jobs in [1, 2] {
        assert!(results(home.path(), 1, jobs) == first, "{jobs} jobs");
    }
    for (other, same) in results(home.path(), 2, 2).iter().zip(&first) {
        assert_ne!(other, same);
    }
}
