//! Evaluates the CUBIC of an older release of quinn, and prints the rows in which it differs from the newest one.
//!
//! `thalweg evaluate quinn-cubic --blocks loss,fairness --out results/new`, then
//! `cargo run --release -- results/new/quinn-cubic.json` here. A difference is one beyond the intervals of both.

use control::registry;
use control::{EcnSupport, Family};
use lab::evaluate::{Block, RowResult, Task, blocks};
use lab::reproduce::Scale;
use quinn_proto::congestion::CubicConfig;
use scenario::Machine;
use serde_json::Value;
use std::sync::Arc;

// The adapter of `thalweg-quinn`, with this crate's release of quinn-proto.
#[allow(dead_code)]
#[path = "../../../quinn/src/simulated/mod.rs"]
mod simulated;

pub fn main() {
    let file = std::env::args().nth(1).expect("the JSON file of an evaluation of quinn-cubic");
    let new: Value = serde_json::from_slice(&std::fs::read(&file).expect(&file)).expect(&file);
    println!("{:74} {:>10} {:>10}", "what differs", "older", "newest");
    for (row, interval) in differing(&evaluate(&new), &new) {
        let of = |[low, high]: [f64; 2]| {
            format!("{:.3}", if row.by_ratio { (low * high).sqrt() } else { (low + high) / 2.0 })
        };
        println!("{:74} {:>10} {:>10}", row.says, row.interval.map_or("-".into(), of), of(interval));
    }
}

/// The rows of the blocks that `new` has, of the older release beside the same baseline.
pub fn evaluate(new: &Value) -> Vec<RowResult> {
    let (cubic, ecn) = (Arc::new(CubicConfig::default()), EcnSupport::Classic);
    let older = simulated::controller("quinn-cubic-older", Family::LossWindow, ecn, "CUBIC of an older quinn", cubic);
    registry::add(older).expect("no other controller has this name");
    let is_asked =
        |block: &Block| new["blocks"].as_array().is_some_and(|all| all.iter().any(|it| it["block"] == *block.id));
    let blocks = blocks().unwrap().into_iter().filter(is_asked).collect();
    let (subject, baseline) = ("quinn-cubic-older".into(), new["baseline"].as_str().unwrap_or("cubic").into());
    let task = Task { subject, baseline, blocks, scale: Scale::Quick, sets: vec![] };
    let machine = Machine::this(None);
    task.plan(&machine).unwrap().make(&machine, &(), &|_| true).unwrap().rows
}

/// Rows whose interval does not meet that of the same row in `new`, with the latter.
pub fn differing<'r>(rows: &'r [RowResult], new: &Value) -> Vec<(&'r RowResult, [f64; 2])> {
    let all = new["rows"].as_array().cloned().unwrap_or_default();
    let other = |row: &RowResult| {
        let found = all.iter().find(|it| it["says"] == *row.says && it["block"] == *row.block)?;
        Some([found["interval"][0].as_f64()?, found["interval"][1].as_f64()?])
    };
    let apart = |[low, high]: [f64; 2], [a, b]: [f64; 2]| high < a || b < low;
    rows.iter()
        .filter_map(|row| Some((row, other(row)?)))
        .filter(|(row, it)| row.interval.is_some_and(|own| apart(own, *it)))
        .collect()
}
