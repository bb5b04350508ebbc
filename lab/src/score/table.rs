//! A score for the terminal.

use super::{Failure, Measure, Score, Scored, WorstPath};
use crate::results::{Columns, DASH, maybe};
use std::fmt::Write;

/// The measures as tables, then the worst paths and the failures of each controller.
pub fn table(score: &Score) -> String {
    let mut text = format!(
        "{} paths of seed {}; of each measure the median, and where the worst tenth begins\n\n",
        score.paths, score.seed
    );
    for table in [use_and_loss(score), delay(score), beside(score)] {
        text += &table.to_text();
        text.push('\n');
    }
    for scored in &score.controllers {
        if !scored.failures.is_empty() {
            let _ = writeln!(text, "{} fails:", scored.controller);
        }
        for failed in &scored.failures {
            let what: Vec<String> = failed.failures.iter().map(said).collect();
            let _ = writeln!(text, "{}; {}\n       {}", what.join(" and "), failed.title, failed.command);
        }
        let _ = writeln!(text, "{} does worst on (mark, weakest measure):", scored.controller);
        for WorstPath { mark, weakest, value, title, command, .. } in &scored.worst {
            let _ = writeln!(text, "{mark:.3}  {weakest} {value:.3}; {title}\n       {command}");
        }
        text.push('\n');
    }
    text
}

fn said(failure: &Failure) -> String {
    match failure {
        Failure::Panicked => "panicked".into(),
        Failure::Stopped(1) => "a flow stopped".into(),
        Failure::Stopped(n) => format!("{n} flows stopped"),
        Failure::Loss(share) => format!("{:.0} % lost", 100.0 * share),
    }
}

/// The median and the worst tenth of `measure`, times `scale`.
fn pair(scored: &Scored, measure: Measure, scale: f64, decimals: usize) -> [String; 2] {
    match scored.measures.iter().find(|(known, _)| *known == measure) {
        None => [DASH.into(), DASH.into()],
        Some((_, spread)) => [spread.median, spread.worst_tenth].map(|value| maybe(Some(value * scale), decimals)),
    }
}

/// Use, fairness and loss.
fn use_and_loss(score: &Score) -> Columns {
    let heads = [
        "use",
        "mean\nmark",
        "used\n%",
        "worst\ntenth",
        "Jain",
        "worst\ntenth",
        "loss\n%",
        "worst\ntenth",
        "resent\n%",
        "worst\ntenth",
        "fails",
    ];
    let mut table = Columns::new(&heads);
    for scored in &score.controllers {
        let name = scored.controller.clone();
        let [used, used_worst] = pair(scored, Measure::Used, 100.0, 1);
        let [jain, jain_worst] = pair(scored, Measure::Jain, 1.0, 2);
        let [loss, loss_worst] = pair(scored, Measure::Loss, 100.0, 2);
        let [resent, resent_worst] = pair(scored, Measure::Resent, 100.0, 2);
        let (mark, fails) = (format!("{:.3}", scored.mark), scored.failures.len().to_string());
        table.row([name, mark, used, used_worst, jain, jain_worst, loss, loss_worst, resent, resent_worst, fails]);
    }
    table
}

/// The 95th percentile of the queueing delay.
fn delay(score: &Score) -> Columns {
    let heads = ["delay", "p95\nms", "worst\ntenth", "p95\nRTTs", "worst\ntenth", "over\nCUBIC", "worst\ntenth"];
    let mut table = Columns::new(&heads);
    for scored in &score.controllers {
        let name = scored.controller.clone();
        let [ms, ms_worst] = pair(scored, Measure::DelayMs, 1.0, 1);
        let [rtts, rtts_worst] = pair(scored, Measure::DelayRtts, 1.0, 2);
        let [cubic, cubic_worst] = pair(scored, Measure::DelayCubic, 1.0, 2);
        table.row([name, ms, ms_worst, rtts, rtts_worst, cubic, cubic_worst]);
    }
    table
}

/// What paths with other traffic have.
fn beside(score: &Score) -> Columns {
    let mut table = Columns::new(&[
        "beside others",
        "share\n%",
        "worst\ntenth",
        "harm to\nCUBIC %",
        "worst\ntenth",
        "BBR\n%",
        "worst\ntenth",
        "Reno\n%",
        "worst\ntenth",
        "slow-\ndown",
        "worst\ntenth",
    ]);
    for scored in &score.controllers {
        let [share, share_worst] = pair(scored, Measure::Share, 100.0, 0);
        let [cubic, cubic_worst] = pair(scored, Measure::HarmCubic, 100.0, 0);
        let [bbr, bbr_worst] = pair(scored, Measure::HarmBbr, 100.0, 0);
        let [reno, reno_worst] = pair(scored, Measure::HarmReno, 100.0, 0);
        let [slow, slow_worst] = pair(scored, Measure::Slowdown, 1.0, 2);
        let name = scored.controller.clone();
        let cells = [name, share, share_worst, cubic, cubic_worst, bbr, bbr_worst, reno, reno_worst, slow, slow_worst];
        table.row(cells);
    }
    table
}
