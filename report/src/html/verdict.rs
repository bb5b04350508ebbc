//! The word of a verdict, on its colour.

use lab::evaluate::Verdict;

pub(super) fn badge(verdict: Verdict) -> String {
    format!("<span class=\"verdict {0}\">{0}</span>", verdict.name())
}
