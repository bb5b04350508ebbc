//! Compares the subject with the baseline, row by row.

use super::block::{Better, Block, Limit, Row};
use super::blocks::blocks;
use super::criteria::order;
use super::harm::Harm;
use super::statistics::{Difference, difference};
use super::task::Task;
use crate::reproduce::Scale;
use experiment::mean;
use serde::Serialize;
use serde_json::{Map, Value};

/// The probability that any row at all finds a difference where there is none.
const ALPHA: f64 = 0.05;

/// The result of an evaluation.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// The controller that was evaluated.
    pub subject: String,
    /// The one with which it was compared.
    pub baseline: String,
    /// How much was run.
    pub scale: Scale,
    /// Keys of all scenarios that were set to other values.
    pub sets: Vec<String>,
    /// The blocks, in the order of the rows.
    pub blocks: Vec<BlockResult>,
    /// The rows, in the order of the sections of RFC 9743.
    pub rows: Vec<RowResult>,
}

/// A block that was run.
#[derive(Clone, Debug, Serialize)]
pub struct BlockResult {
    /// Its name.
    pub block: String,
    /// Its title.
    pub title: String,
    /// Why it is there.
    pub about: String,
    /// Where its numbers are from.
    pub source: String,
    /// With how many seeds each scenario was run.
    pub seeds: u32,
}

/// A row of the report.
#[derive(Clone, Debug, Serialize)]
pub struct RowResult {
    /// The section of RFC 9743 that asks for it.
    pub criterion: String,
    /// The block that it belongs to.
    pub block: String,
    /// What is compared, in words.
    pub says: String,
    /// The name of the measure.
    pub measure: String,
    /// The measure with its unit in brackets.
    pub axis: String,
    /// Which direction is better.
    pub better: Better,
    /// Whether the values were compared by their ratio.
    pub by_ratio: bool,
    /// The mean of the subject over all cases; with `by_ratio`, the geometric one. None if a case has no value.
    pub subject: Option<f64>,
    /// The same of the baseline.
    pub baseline: Option<f64>,
    /// The subject's value less the baseline's, or over it with `by_ratio`.
    pub difference: Option<f64>,
    /// The interval that has the true difference, at a confidence that is corrected for the number of rows.
    pub interval: Option<[f64; 2]>,
    /// The least difference that matters: of the measure, or with `by_ratio` as a share of the baseline's value.
    pub matters: f64,
    /// Beyond which value a controller is broken.
    pub limit: Option<Limit>,
    /// What this says about the subject.
    pub verdict: Verdict,
    /// If it measures what others get beside the subject: the harm that is done to them.
    pub harm: Option<Harm>,
    /// The number of the case in which the subject is worst beside the baseline, from 0; of those in which it is broken
    /// if there are any.
    pub worst: Option<usize>,
    /// The cases.
    pub cases: Vec<CaseResult>,
}

impl Evaluation {
    /// How many rows have each verdict, in words, the worst first: "1 broken, 3 worse".
    pub fn tally(&self) -> String {
        let of = |verdict: Verdict| self.rows.iter().filter(|row| row.verdict == verdict).count();
        let counts = Verdict::ALL.into_iter().filter(|verdict| of(*verdict) > 0);
        counts.map(|verdict| format!("{} {}", of(verdict), verdict.name())).collect::<Vec<_>>().join(", ")
    }

    /// The command that makes the rows of `block` again.
    pub fn command(&self, block: &str) -> String {
        let Evaluation { subject, baseline, scale, sets, .. } = self;
        let sets: String = sets.iter().map(|set| format!(" --set '{set}'")).collect();
        format!("thalweg evaluate {subject} --baseline {baseline} --blocks {block} --scale {scale}{sets}")
    }
}

/// The values of a row in a case, one for each seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// The case.
    pub case: String,
    /// What its sweep set.
    pub settings: Map<String, Value>,
    /// The subject's values.
    pub subject: Vec<f64>,
    /// The baseline's values.
    pub baseline: Vec<f64>,
}

impl Verdict {
    /// All verdicts, the worst first.
    pub const ALL: [Verdict; 5] = [Verdict::Broken, Verdict::Worse, Verdict::Unknown, Verdict::Like, Verdict::Better];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Like => "like",
            Verdict::Worse => "worse",
            Verdict::Broken => "broken",
            Verdict::Unknown => "unknown",
        }
    }
}

/// What a row says about the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is better than the baseline, by a difference that matters.
    Better,
    /// No difference was found that matters.
    Like,
    /// It is worse than the baseline, by a difference that matters.
    Worse,
    /// In a case, it passes a limit that the baseline keeps.
    Broken,
    /// The measure has no value in a case.
    Unknown,
}

impl CaseResult {
    /// All values, of subject and baseline.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.subject.iter().chain(&self.baseline).copied()
    }

    /// What sets it apart from the block's other cases, in words.
    pub fn name(&self) -> String {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let settings = self.settings.iter().map(|(key, value)| format!("{key} = {}", plain(value)));
        [self.case.clone()].into_iter().chain(settings).collect::<Vec<_>>().join(", ")
    }
}

/// The evaluation by what was measured: for each row its block, and its values in all cases.
pub(super) fn judge(task: &Task, measured: Vec<(&Row, &Block, Vec<CaseResult>)>) -> Evaluation {
    let alpha = ALPHA / comparisons(task) as f64;
    let mut rows: Vec<RowResult> =
        measured.into_iter().map(|(row, block, cases)| judge_row(row, block, cases, alpha)).collect();
    rows.sort_by_cached_key(|row| order(&row.criterion));
    let block = |block: &Block| BlockResult {
        block: block.id.clone(),
        title: block.title.clone(),
        about: block.about.clone(),
        source: block.source.clone(),
        seeds: block.seeds.at(task.scale),
    };
    Evaluation {
        subject: task.subject.clone(),
        baseline: task.baseline.clone(),
        scale: task.scale,
        sets: task.sets.iter().map(|set| format!("{}={}", set.path, set.value)).collect(),
        blocks: task.blocks.iter().map(block).collect(),
        rows,
    }
}

/// For how many comparisons intervals are corrected (Bonferroni: each of n may err with 1/n of the probability): those
/// of all blocks of the program, and of the task's others. So the verdict of a row does not depend on the blocks
/// beside it.
fn comparisons(task: &Task) -> usize {
    let known = blocks().unwrap_or_default();
    let others = known.iter().filter(|block| task.blocks.iter().all(|other| other.id != block.id));
    task.blocks.iter().chain(others).map(|block| block.rows.len()).sum()
}

/// The values of a case, or their means over all cases, for each seed: the subject's and the baseline's.
type Pair = [Vec<f64>; 2];

fn judge_row(row: &Row, block: &Block, cases: Vec<CaseResult>, alpha: f64) -> RowResult {
    let mut result = RowResult {
        criterion: row.criterion.clone(),
        block: block.id.clone(),
        says: row.says.clone(),
        measure: row.measure.name().into(),
        axis: row.measure.axis().into(),
        better: row.better,
        by_ratio: row.floor.is_some(),
        subject: None,
        baseline: None,
        difference: None,
        interval: None,
        matters: row.matters,
        limit: row.broken,
        verdict: Verdict::Unknown,
        harm: None,
        worst: None,
        cases,
    };
    // Ratios are compared as differences of logarithms.
    let log = |x: &f64| row.floor.map_or(*x, |floor| libm::log(x.max(0.0) + floor));
    let pair = |case: &CaseResult| [&case.subject, &case.baseline].map(|all| all.iter().map(log).collect());
    let pairs: Vec<Pair> = result.cases.iter().map(pair).collect();
    if pairs.is_empty() || pairs.iter().flatten().flatten().any(|x| !x.is_finite()) {
        return result;
    }
    // A seed gives all cases the same starting times, so that they are not independent: only the seeds are.
    let of_seed = |side: usize, seed: usize| mean(&pairs.iter().map(|pair| pair[side][seed]).collect::<Vec<_>>());
    let all: Pair = [0, 1].map(|side| (0..pairs[0][side].len()).map(|seed| of_seed(side, seed)).collect());
    let Difference { mean: middle, half_width } = difference(&all[0], &all[1], alpha);
    let unlog = |x: f64| row.floor.map_or(x, |floor| libm::exp(x) - floor);
    let factor = |x: f64| if row.floor.is_some() { libm::exp(x) } else { x };
    [result.subject, result.baseline] = [0, 1].map(|side| Some(unlog(mean(&all[side]))));
    result.difference = Some(factor(middle));
    result.interval = Some([middle - half_width, middle + half_width].map(factor));
    if row.harm {
        // What others have beside the subject, as a share of what they have beside the baseline.
        let base = mean(&all[1]);
        let share = |change: f64| if row.floor.is_some() { libm::exp(change) } else { 1.0 + change / base };
        let of_case = |pair: &Pair| match row.floor {
            Some(_) => libm::exp(mean(&pair[0]) - mean(&pair[1])),
            None => mean(&pair[0]) / mean(&pair[1]),
        };
        let ends = [middle - half_width, middle + half_width].map(share);
        result.harm = Harm::of(row.better, share(middle), ends, pairs.iter().map(of_case));
    }
    let case_alpha = alpha / pairs.len() as f64;
    let gains: Vec<f64> = pairs.iter().map(|pair| signed(row.better, mean(&pair[0]) - mean(&pair[1]))).collect();
    let broken: Vec<usize> = match row.broken {
        Some(limit) => {
            (0..pairs.len()).filter(|&i| is_broken(limit, &result.cases[i], &pairs[i], case_alpha)).collect()
        }
        None => vec![],
    };
    let judged = if broken.is_empty() { (0..pairs.len()).collect() } else { broken.clone() };
    result.worst = judged.into_iter().min_by(|&a, &b| gains[a].total_cmp(&gains[b]));
    let matters = if row.floor.is_some() { libm::log1p(row.matters) } else { row.matters };
    result.verdict = match signed(row.better, middle) {
        _ if !broken.is_empty() => Verdict::Broken,
        gain if gain.abs() <= half_width || gain.abs() < matters => Verdict::Like,
        gain if gain > 0.0 => Verdict::Better,
        _ => Verdict::Worse,
    };
    result
}

/// Whether the subject passes `limit` in `case`, and the baseline does not. It must differ from the baseline by more
/// than the interval of the case: a limit between two means that are alike would be passed by chance.
fn is_broken(limit: Limit, case: &CaseResult, [subject, baseline]: &Pair, alpha: f64) -> bool {
    let it = difference(subject, baseline, alpha);
    let passes = |values: &[f64]| limit.is_passed_by(mean(values));
    passes(&case.subject) && !passes(&case.baseline) && it.mean.abs() > it.half_width
}

/// `difference` with a sign that is positive where the subject is better.
fn signed(better: Better, difference: f64) -> f64 {
    match better {
        Better::More => difference,
        Better::Less => -difference,
    }
}
