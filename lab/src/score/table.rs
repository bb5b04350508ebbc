//! A score for the terminal.

use super::{Failure, Measure, Score, Scored};
use crate::draw::PathId;
use crate::results::{Columns, DASH, maybe};
use std::fmt::Write;

/// The measures as tables, then the worst paths and the failures of each controller.
pub fn table(score: &Score) -> String {
    let mut text = format!(
        "{} paths of seed {}; of each measure the median, and the worst tenth\n\n{}\n{}",
        score.paths,
        score.seed,
        all(score).to_text(),
        beside(score).to_text()
    );
    for scored in &score.controllers {
        let _ = write!(text, "\n{}: the worst paths\n", scored.controller);
        for worst in &scored.worst {
            let _ = write!(
                text,
                "{:.3}  {} = {:.3}; {}\n       {}\n",
                worst.mark, worst.weakest, worst.value, worst.title, worst.command
            );
        }
    }
    for scored in score.controllers.iter().filter(|scored| !scored.failures.is_empty()) {
        let _ = write!(text, "\n{} fails\n", scored.controller);
        for failed in &scored.failures {
            let what: Vec<String> = failed.failures.iter().map(said).collect();
            let id = PathId { seed: score.seed, number: failed.path };
            debug_assert!(failed.title.starts_with(&id.to_string()));
            let _ = write!(text, "{}; {}\n       {}\n", what.join(" and "), failed.title, failed.command);
        }
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
        Some((_, spread)) => {
            [spread.median, spread.worst_tenth].map(|value| maybe(Some(value * scale), decimals))
        }
    }
}

/// What every path has.
fn all(score: &Score) -> Columns {
    let mut table = Columns::new(&[
        "controller",
        "mean\nmark",
        "used\n%",
        "worst",
        "Jain",
        "worst",
        "delay\nms",
        "worst",
        "delay\nRTTs",
        "worst",
        "over\nCUBIC",
        "worst",
        "loss\n%",
        "worst",
        "fails",
    ]);
    for scored in &score.controllers {
        let [used, used_worst] = pair(scored, Measure::Used, 100.0, 1);
        let [jain, jain_worst] = pair(scored, Measure::Jain, 1.0, 2);
        let [ms, ms_worst] = pair(scored, Measure::DelayMs, 1.0, 1);
        let [rtts, rtts_worst] = pair(scored, Measure::DelayRtts, 1.0, 2);
        let [cubic, cubic_worst] = pair(scored, Measure::DelayCubic, 1.0, 2);
        let [loss, loss_worst] = pair(scored, Measure::Loss, 100.0, 2);
        table.row([
            scored.controller.clone(),
            format!("{:.3}", scored.mark),
            used,
            used_worst,
            jain,
            jain_worst,
            ms,
            ms_worst,
            rtts,
            rtts_worst,
            cubic,
            cubic_worst,
            loss,
            loss_worst,
            scored.failures.len().to_string(),
        ]);
    }
    table
}

/// What paths with other traffic have.
fn beside(score: &Score) -> Columns {
    let mut table = Columns::new(&[
        "beside others",
        "share\n%",
        "worst",
        "harm to\nCUBIC %",
        "worst",
        "BBR\n%",
        "worst",
        "Reno\n%",
        "worst",
        "slow-\ndown",
        "worst",
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
