//! How far a copy is, and what came of it, on standard error.

use crate::failure::Failure;
use crate::print;
use copy::message::Farewell;
use copy::{Event, shown_path};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The rate is that of the last seconds.
const RECENT: Duration = Duration::from_secs(5);

/// What is shown.
pub struct Show {
    bars: MultiProgress,
    file: ProgressBar,
    total: ProgressBar,
    quiet: bool,
    verbose: bool,
    begin: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Files and bytes that were found, and that are there.
    listed: (u64, u64),
    done: (u64, u64),
    /// The file that is being copied, its bytes and how many are there.
    current: Option<(PathBuf, u64, u64)>,
    /// Bytes that crossed the network, now and then.
    moved: u64,
    recent: VecDeque<(Instant, u64)>,
    problems: u64,
}

impl Show {
    /// Two lines if somebody watches, none if `quiet`.
    pub fn new(quiet: bool, verbose: bool) -> Show {
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bars = MultiProgress::with_draw_target(target);
        let (file, total) = (bars.add(ProgressBar::new(0)), bars.add(ProgressBar::new(0)));
        if let Ok(style) = ProgressStyle::with_template("{percent:>3}% [{bar:20}] {wide_msg}") {
            let style = style.progress_chars("=> ");
            file.set_style(style.clone());
            total.set_style(style);
        }
        Show { bars, file, total, quiet, verbose, begin: Instant::now(), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, line: &str) {
        self.bars.suspend(|| print::note(line));
    }

    /// Something has happened. Lines are printed here, bars drawn by [`Show::tick`].
    pub fn hear(&self, event: Event) {
        let mut state = self.lock();
        match event {
            Event::Listed(size) => state.listed = (state.listed.0 + 1, state.listed.1 + size),
            Event::At { path, size, position } => state.current = Some((path, size, position)),
            Event::Moved(more) => state.moved += more,
            Event::Done(path, size) => {
                state.done = (state.done.0 + 1, state.done.1 + size);
                state.current.take_if(|current| current.0 == path);
                drop(state);
                if self.verbose {
                    self.say(&shown_path(&path));
                }
            }
            Event::Problem(path, why) => {
                state.problems += 1;
                drop(state);
                self.say(&if path.is_empty() { why } else { format!("{path}: {why}") });
            }
            Event::Retry(why) => {
                // The list begins anew; what is there is found to be there.
                let State { moved, recent, .. } = std::mem::take(&mut *state);
                *state = State { moved, recent, ..State::default() };
                drop(state);
                self.say(&format!("{why}; trying again"));
            }
            Event::Detail(line) => {
                drop(state);
                if self.verbose {
                    self.say(&line);
                }
            }
            Event::Note(line) => {
                drop(state);
                if !self.quiet {
                    self.say(&line);
                }
            }
        }
    }

    /// Draws.
    pub fn tick(&self) {
        if self.total.is_hidden() {
            return;
        }
        let mut state = self.lock();
        if state.listed.0 == 0 {
            return; // ssh may be asking for a password
        }
        let now = Instant::now();
        let moved = state.moved;
        state.recent.push_back((now, moved));
        while state.recent.len() > 2 && now.duration_since(state.recent[0].0) > RECENT {
            state.recent.pop_front();
        }
        let (since, before) = state.recent[0];
        let rate = (moved - before) as f64 / now.duration_since(since).as_secs_f64().max(0.1);
        let here = state.current.as_ref().map_or(0, |(_, _, position)| *position);
        let there = state.done.1 + here;
        self.total.set_length(state.listed.1);
        self.total.set_position(there);
        let left = (state.listed.1.saturating_sub(there)) as f64 / rate;
        let left = if left.is_finite() && left < 1e6 { format!(", {left:.0} s left") } else { String::new() };
        self.total.set_message(format!(
            "{} of {} files, {} of {}, {:.1} Mbps{left}",
            state.done.0,
            state.listed.0,
            bytes(there),
            bytes(state.listed.1),
            rate * 8e-6
        ));
        if let Some((path, size, position)) = &state.current {
            self.file.set_length(*size);
            self.file.set_position(*position);
            self.file.set_message(shown_path(path));
        }
    }

    /// Clears the bars.
    pub fn end(&self) {
        self.file.finish_and_clear();
        self.total.finish_and_clear();
    }

    /// What came of it.
    pub fn outcome(&self, farewell: &Farewell) -> Result<(), Failure> {
        let state = self.lock();
        if !self.quiet {
            print::note(&self.summary(&state, farewell));
        }
        match state.problems {
            0 => Ok(()),
            1 => Err(Failure::Failed("1 file or folder was not copied, or not as it should be".into())),
            many => Err(Failure::Failed(format!("{many} files or folders were not copied, or not as they should be"))),
        }
    }

    fn summary(&self, state: &State, farewell: &Farewell) -> String {
        let seconds = self.begin.elapsed().as_secs_f64();
        let (files, size) = state.done;
        let there = match size.saturating_sub(state.moved) {
            0 => String::new(),
            there => format!(", {} of it there before", bytes(there)),
        };
        let Farewell { packets, lost, controller } = farewell;
        format!(
            "{files} file{}, {}{there}, in {seconds:.1} s: {:.1} Mbps; {}, {lost} of {packets} packets lost",
            if files == 1 { "" } else { "s" },
            bytes(size),
            state.moved as f64 * 8e-6 / seconds,
            copy::shown(controller)
        )
    }
}

/// Bytes for people.
fn bytes(count: u64) -> String {
    match count {
        0..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.2} GB", count as f64 / 1e9),
    }
}
