//! Progress bars on standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use lab::runner::Progress;
use std::fmt::Write;

/// A bar for the runs of a plan: simulated time, its rate, and the time left. It is hidden if standard error is no
/// terminal.
pub struct Bar {
    bar: ProgressBar,
    runs: usize,
}

/// The bars' units per second of simulated or expected time.
const PER_SECOND: f64 = 1000.0;

impl Bar {
    /// A bar for `runs` runs that simulate `seconds` in all. It is hidden if `quiet`.
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

    /// Shows `progress`.
    pub fn show(&self, progress: Progress) {
        if !self.bar.is_hidden() {
            self.bar.set_message(format!("{} of {} runs", progress.runs, self.runs));
            self.bar.set_position((progress.simulated_seconds * PER_SECOND) as u64);
        }
    }
}

/// A bar for several artefacts. Each has the share that its expected time has in all expected times.
pub struct Whole {
    bar: ProgressBar,
    done: f64,
}

impl Whole {
    /// A bar for artefacts that are expected to take `seconds` in all. It is hidden if `quiet`.
    pub fn new(seconds: f64, quiet: bool) -> Whole {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some((seconds * PER_SECOND) as u64), target);
        if let Ok(style) =
            ProgressStyle::with_template("{elapsed_precise} [{wide_bar}] {percent}% {msg}, about {eta} left")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        Whole { bar, done: 0.0 }
    }

    /// Shows that a `share` from 0 to 1 is done of the artefact `what`, which is expected to take `seconds`.
    pub fn show(&self, what: &str, seconds: f64, share: f64) {
        if !self.bar.is_hidden() {
            self.bar.set_message(what.to_string());
            self.bar.set_position(((self.done + seconds * share.clamp(0.0, 1.0)) * PER_SECOND) as u64);
        }
    }

    /// An artefact that was expected to take `seconds` is done.
    pub fn finish(&mut self, seconds: f64) {
        self.done += seconds;
    }

    /// Calls `write`, which writes to the terminal, while the bar is hidden.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
