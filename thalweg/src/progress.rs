//! The progress bar.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::runner::Progress;
use std::fmt::Write;

/// A bar on standard error: simulated time, the rate at which it passes, and the time left. It is not there if standard error
/// is no terminal.
pub struct Bar {
    bar: ProgressBar,
    runs: usize,
}

const PER_SECOND: f64 = 1000.0;

impl Bar {
    /// A bar for `runs` runs of `seconds` of simulated time in all, hidden if `quiet`.
    pub fn new(runs: usize, seconds: f64, quiet: bool) -> Bar {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some((seconds * PER_SECOND) as u64), target);
        let template = "{elapsed_precise} [{wide_bar}] {percent}% {msg}, {rate}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            let rate = |state: &ProgressState, text: &mut dyn Write| {
                let _ = write!(text, "{:.1} simulated s/s", state.per_sec() / PER_SECOND);
            };
            bar.set_style(style.progress_chars("=> ").with_key("rate", rate));
        }
        Bar { bar, runs }
    }

    /// Shows how far the runs are.
    pub fn show(&self, progress: Progress) {
        if !self.bar.is_hidden() {
            self.bar.set_message(format!("{} of {} runs", progress.runs, self.runs));
            self.bar.set_position((progress.simulated_seconds * PER_SECOND) as u64);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
