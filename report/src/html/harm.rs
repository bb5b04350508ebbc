//! The harm of an evaluation in one figure: what others lose when the subject takes the baseline's place.

use super::verdict::badge;
use crate::markup::escape;
use lab::evaluate::{Evaluation, Harm};
use std::fmt::Write;

/// The ends of the axis, as shares: what is beyond them is drawn at the end, and its number says how far.
const END: f64 = 1.0;

/// The rows that measure what others get, each with its harm; nothing if there is none.
pub(super) fn harm(evaluation: &Evaluation) -> String {
    let (subject, baseline) = (escape(&evaluation.subject), escape(&evaluation.baseline));
    let rows: Vec<_> = evaluation.rows.iter().filter_map(|row| Some((row, row.harm.as_ref()?))).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut html = format!(
        "<section class=\"artefact\" id=\"harm\">\n<h2>Harm to others</h2>\n<p class=\"said\">What others lose when \
         {subject} takes the place of {baseline}, as a part of what they have beside {baseline}. Of goodput, 100\u{a0}% is \
         all of it; of delays and losses, 100\u{a0}% is twice as much. Left of the middle they gain.</p>\n\
         <table class=\"strips harm\">\n"
    );
    for (row, harm) in rows {
        let _ = writeln!(
            html,
            "<tr><th>{} <a href=\"#{}\">{} {}</a></th><td><span class=\"strip middle\">{}</span></td><td>{}</td></tr>",
            badge(row.verdict),
            escape(&row.block),
            escape(&row.criterion),
            escape(&row.says),
            marks(harm),
            percent(harm.mean),
        );
    }
    html += "<tr><th><span class=\"key strip\"><i class=\"dot subject\" style=\"left:50%\"></i></span> mean and interval \
             <span class=\"key strip\"><i class=\"tick\" style=\"left:50%\"></i></span> cases</th><td>\
             <span class=\"ends\"><span>gain −100\u{a0}%</span><span>0</span><span>harm 100\u{a0}%</span></span></td><td></td></tr>\n\
             </table>\n</section>\n";
    html
}

/// The interval, the cases and the mean.
fn marks(harm: &Harm) -> String {
    let [low, high] = harm.interval.map(place);
    let mut html = String::new();
    for case in harm.cases.iter().flatten() {
        let _ = write!(html, "<i class=\"tick\" style=\"left:{:.1}%\"></i>", place(*case));
    }
    let _ = write!(
        html,
        "<i class=\"range subject\" style=\"left:{low:.1}%;width:{:.1}%\"></i><i class=\"dot subject\" style=\"left:{:.1}%\">\
         </i>",
        high - low,
        place(harm.mean)
    );
    html
}

/// Where a harm is, in per cent of the axis.
fn place(harm: f64) -> f64 {
    50.0 + 50.0 * (harm / END).clamp(-1.0, 1.0)
}

/// A harm in words.
fn percent(harm: f64) -> String {
    let percent = (100.0 * harm).round();
    match percent {
        0.0 => "0\u{a0}%".into(),
        x if x < 0.0 => format!("−{}\u{a0}%", -x),
        x => format!("+{x}\u{a0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_right_of_the_middle_and_gains_are_left_of_it() {
        assert_eq!([0.0, 1.0, -1.0, 0.5].map(place), [50.0, 100.0, 0.0, 75.0]);
        assert_eq!([7.0, -3.0].map(place), [100.0, 0.0], "beyond the ends");
        assert_eq!([0.001, 0.731, -2.0].map(percent), ["0\u{a0}%", "+73\u{a0}%", "−200\u{a0}%"]);
    }
}
