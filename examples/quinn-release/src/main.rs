//! Evaluates the CUBIC of an older release of quinn, and prints the rows in which it differs from that of the newest.
//!
//! `thalweg evaluate quinn-cubic --blocks loss --out results/new`, then
//! `cargo run --release -- ../../results/new/quinn-cubic.json loss` here; without names, all blocks of the file. Both
//! were run with the same seeds. A row differs if the interval of the difference between the two, corrected for the
//! number of rows that are compared, does not have zero.

use control::registry;
use control::{EcnSupport, Family};
use lab::evaluate::{self, Block, CaseResult, Difference, Evaluation, Row, Task, blocks, difference, value};
use lab::reproduce::Scale;
use quinn_proto::congestion::CubicConfig;
use scenario::Machine;
use serde_json::Value;
use std::sync::Arc;

// The adapter of `thalweg-quinn`, with this crate's release of quinn-proto.
#[allow(dead_code)]
#[path = "../../../quinn/src/simulated/mod.rs"]
mod simulated;

/// The probability that any row differs by chance.
const ALPHA: f64 = 0.05;

pub fn main() {
    let file = std::env::args().nth(1).expect("the JSON file of an evaluation of quinn-cubic");
    let new: Value = serde_json::from_slice(&std::fs::read(&file).expect(&file)).expect(&file);
    let known = blocks().unwrap();
    let named: Vec<Block> = std::env::args().skip(2).map(|name| evaluate::block(&name, &known).unwrap()).collect();
    let blocks: Vec<Block> = match named.is_empty() {
        true => known.into_iter().filter(|block| is_in(block, &new)).collect(),
        false => named,
    };
    let older = run(&new, blocks.clone());
    println!("{:8} {:72} {:>17} {:>17} {:>20}", "block", "what differs", "older", "newest", "difference");
    let rows: Vec<(&Block, &Row)> =
        blocks.iter().flat_map(|block| block.rows.iter().map(move |row| (block, row))).collect();
    let mut differing = 0;
    for (block, row) in &rows {
        let Some((one, other, it)) = compare(block, row, &older, &new, ALPHA / rows.len() as f64) else { continue };
        if it.mean.abs() > it.half_width {
            differing += 1;
            let ends = [it.mean - it.half_width, it.mean + it.half_width];
            let ends =
                ends.map(|end| if row.floor.is_some() { format!("x{:.3}", end.exp()) } else { format!("{end:+.3}") });
            println!("{:8} {:72} {one:>17} {other:>17} {:>20}", block.id, row.says, ends.join(" to "));
        }
    }
    println!("{differing} of {} rows differ", rows.len());
}

/// Whether `new` has `block`.
fn is_in(block: &Block, new: &Value) -> bool {
    new["blocks"].as_array().is_some_and(|all| all.iter().any(|it| it["block"] == *block.id))
}

/// `blocks` with the older release, beside the same baseline as `new`.
pub fn run(new: &Value, blocks: Vec<Block>) -> Evaluation {
    let (cubic, ecn) = (Arc::new(CubicConfig::default()), EcnSupport::Classic);
    let older = simulated::controller("quinn-cubic-older", Family::LossWindow, ecn, "CUBIC of an older quinn", cubic);
    registry::add(older).expect("no other controller has this name");
    let (subject, baseline) = ("quinn-cubic-older".into(), new["baseline"].as_str().unwrap_or("cubic").into());
    let task = Task { subject, baseline, blocks, scale: Scale::Quick, sets: vec![] };
    let machine = Machine::this(None);
    task.plan(&machine).unwrap().make(&machine, &(), &|_| true).unwrap()
}

/// The older release's mean in `row` of `block` with its verdict, the same of the newest, and the difference between
/// them (of logarithms, if the row compares ratios). None where a measure has no value.
fn compare(
    block: &Block,
    row: &Row,
    older: &Evaluation,
    new: &Value,
    alpha: f64,
) -> Option<(String, String, Difference)> {
    let one = older.rows.iter().find(|it| it.block == block.id && it.says == row.says)?;
    let other = new["rows"].as_array()?.iter().find(|it| it["block"] == *block.id && it["says"] == *row.says)?;
    let scaled = |x: f64| row.floor.map_or(x, |floor| (x.max(0.0) + floor).ln());
    let mean_of_seeds = |cases: Vec<Vec<f64>>| -> Vec<f64> {
        let seeds = cases.iter().map(Vec::len).min().unwrap_or(0);
        (0..seeds).map(|i| cases.iter().map(|case| scaled(case[i])).sum::<f64>() / cases.len() as f64).collect()
    };
    let of_older = mean_of_seeds(one.cases.iter().map(|case: &CaseResult| case.subject.clone()).collect());
    let numbers =
        |case: &Value| -> Option<Vec<f64>> { case["subject"].as_array()?.iter().map(Value::as_f64).collect() };
    let of_new = mean_of_seeds(other["cases"].as_array()?.iter().map(numbers).collect::<Option<_>>()?);
    let said = |x: Option<f64>, verdict: &str| format!("{} {verdict}", value(x));
    let newest = said(other["subject"].as_f64(), other["verdict"].as_str()?);
    Some((said(one.subject, one.verdict.name()), newest, difference(&of_older, &of_new, alpha)))
}
