//! The chart that CONTRIBUTING.md adds, word for word.

use super::chart::{Bin, Chart, Unit};
use super::common::Common;
use super::{compared, one};
use experiment::FlowSeries;

#[path = "../../../lab/tests/common/mod.rs"]
mod made_up;

const CHART: Chart<FlowSeries> = include!("../../tests/contributing/chart.rs");

#[test]
fn the_example_is_the_one_that_compiles() {
    let text = include_str!("../../../CONTRIBUTING.md");
    let entry = include_str!("../../tests/contributing/chart.rs").trim_end();
    assert!(text.contains(&format!("```rust\n{entry},\n```")), "CONTRIBUTING.md shows another entry than\n{entry},");
}

#[test]
fn the_example_works() {
    let runs = [made_up::finished("one", 2, false), made_up::finished("other", 2, false)];
    let common = Common::new(&runs);
    let of_one = one::figure(&common, &runs[0], &CHART);
    assert_eq!((of_one.axis.as_str(), of_one.lines.len()), ("Available bandwidth (Mbps)", 2));
    // Two flows that share a gigabit evenly estimate a tenth more than their share.
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let late = mean(&of_one.lines[0].values.0[100..]);
    assert!((400.0..560.0).contains(&late), "{late}");
    let together = compared::figure(&common, &runs, &CHART, "median ", |flows| flows[0].clone());
    assert_eq!((together.axis.as_str(), together.lines.len()), ("Median available bandwidth (Mbps)", 2));
    assert_eq!(together.lines[0].values.0[100], of_one.lines[0].values.0[100]);
}

/// A controller that makes no estimate has no such figure.
#[test]
fn a_chart_without_samples_is_not_shown() {
    let run = made_up::finished("reno", 2, true);
    let figure = one::figure(&Common::new(std::slice::from_ref(&run)), &run, &CHART);
    assert!(crate::figure::Figure::with_values(vec![figure]).is_empty());
}
