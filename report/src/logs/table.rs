//! A row for each log.

use super::Log;
use super::bins::end;
use lab::results::{Columns, DASH};
use qlog::{Event, Happened, Metric};

/// What each log has.
pub fn table(logs: &[Log]) -> Columns {
    let heads =
        ["log", "by", "qlog", "s", "events", "lost", "least\nRTT\nms", "smoothed\nRTT\nms", "largest\nwindow\nkB"];
    let mut table = Columns::new(&heads);
    for log in logs {
        let values = |metric: Metric| values(log, metric);
        let least = values(Metric::MinRtt).chain(values(Metric::LatestRtt)).fold(f64::INFINITY, f64::min);
        let smoothed: Vec<f64> = values(Metric::SmoothedRtt).collect();
        let smoothed = smoothed.iter().sum::<f64>() / smoothed.len() as f64;
        let window = values(Metric::CongestionWindow).fold(f64::NEG_INFINITY, f64::max) / 1e3;
        let lost = |event: &Event| if let Happened::Lost { packets, .. } = event.happened { packets } else { 0 };
        let text = |text: &str| if text.is_empty() { DASH.to_string() } else { text.to_string() };
        table.row([
            log.name.clone(),
            text(&log.trace.logger),
            text(&log.trace.version),
            number(end(&log.trace) / 1e3, 2),
            log.trace.total.to_string(),
            log.trace.events.iter().map(lost).fold(0u64, u64::saturating_add).to_string(),
            number(least, 2),
            number(smoothed, 2),
            number(window, 1),
        ]);
    }
    table
}

fn values(log: &Log, metric: Metric) -> impl Iterator<Item = f64> + '_ {
    log.trace.events.iter().filter_map(move |event| match &event.happened {
        Happened::Metrics(metrics) => metrics.get(metric),
        _ => None,
    })
}

fn number(x: f64, decimals: usize) -> String {
    if x.is_finite() { format!("{x:.decimals$}") } else { DASH.into() }
}
