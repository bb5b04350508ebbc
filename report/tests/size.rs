//! Pages stay small enough to be sent and opened.

#[path = "../../lab/tests/common/mod.rs"]
mod common;

use common::finished;
use std::fs;

#[test]
fn reports_of_many_runs_stay_small() {
    let dir = tempfile::tempdir().unwrap();
    let runs: Vec<_> = (0..100).map(|i| finished(&format!("run {i}"), 2, true)).collect();
    thalweg_report::write(dir.path(), "t", 1, &runs).unwrap();
    let size = fs::metadata(dir.path().join("report.html")).unwrap().len();
    assert!(size < 3_000_000, "{size} bytes");
}
