//! Evaluations of a controller beside a baseline, by the criteria of RFC 9743. docs/evaluate.md describes them.
//!
//! A [`Block`] has scenarios (cases) and rows, which say what is measured in them. `runs` makes the runs: each case
//! once with the subject and once with the baseline in the places of `subject`, with several seeds. `judge` compares
//! both, row by row, with the intervals of `statistics`, and finds the `harm` to others; `table` prints the verdicts
//! and `files` writes them.

mod block;
mod blocks;
mod criteria;
mod files;
mod harm;
mod judge;
mod runs;
mod statistics;
mod table;
mod task;

pub use block::{Better, Block, Case, Limit, Row};
pub use blocks::{block, blocks};
pub use criteria::title;
pub use files::{cases, write};
pub use harm::Harm;
pub use judge::{BlockResult, CaseResult, Evaluation, RowResult, Verdict};
pub use runs::Planned;
pub use statistics::{Difference, difference};
pub use table::{change, interval, markdown, table, unit, value};
pub use task::{Task, unsettable};

#[cfg(test)]
mod tests;
