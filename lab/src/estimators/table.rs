//! The results for the terminal.

use super::{Errors, Results, Row};
use crate::results::{Columns, DASH, maybe};

/// The widest table, in characters. In wider ones, the names of cases wrap.
const WIDTH: u16 = 150;

/// A row for each case and average rate: of each estimator the mean error and its standard deviation.
pub fn table(results: &Results) -> String {
    let Results { capacity_bps, stream, spread, share, seed, rows } = results;
    let streams = rows.iter().map(|row| row.accuracy.streams).min().unwrap_or_default();
    let mut text = format!(
        "p-streams of {stream} packets, m = {spread}, through a link of {:.0} Mbps; seed {seed}.\n\
         Errors of estimates in per cent of A, the available bandwidth: mean and standard deviation\n\
         over {streams} streams or more, which take {:.0} % of A at most.\n\n",
        capacity_bps / 1e6,
        100.0 * share
    );
    let heads = [
        "beside",
        "r/A",
        "A\nMbps",
        "onset\nmean",
        "sd",
        "none\n%",
        "pathchirp\nmean",
        "sd",
        "none\n%",
        "regression\nmean",
        "sd",
        "none\n%",
    ];
    let mut table = Columns::new(&heads);
    for Row { case, ratio, accuracy } in rows {
        let available = maybe(Some(accuracy.available_bps / 1e6), 0);
        let mut row = vec![case.to_string(), format!("{ratio:.1}"), available];
        row.extend(accuracy.estimators.iter().flat_map(cells));
        table.row(row);
    }
    text += &table.to_text_within(WIDTH);
    text
}

/// The mean error, the standard deviation, and the share of streams without an estimate, if there are such.
fn cells(errors: &Errors) -> [String; 3] {
    let Errors { bias_percent, spread_percent, without_percent, .. } = errors;
    let bias = if bias_percent.is_finite() { format!("{bias_percent:+.1}") } else { DASH.into() };
    let none = if *without_percent > 0.0 { format!("{without_percent:.1}") } else { DASH.into() };
    [bias, maybe(Some(*spread_percent), 1), none]
}
