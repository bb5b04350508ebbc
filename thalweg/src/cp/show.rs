//! The display of a copy on standard error: progress bars, what could not be copied, and a summary.

use crate::failure::Failure;
use crate::print;
use copy::{Event, Summary, printable, printable_path};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time over which the displayed rate is averaged.
const RATE_WINDOW: Duration = Duration::from_secs(5);
/// The longest remaining time that is displayed, in seconds.
const LONGEST_LEFT: f64 = 1e6;

/// The display of a copy.
pub struct Show {
    bars: MultiProgress,
    file: ProgressBar,
    total: ProgressBar,
    quiet: bool,
    verbose: bool,
    begin: Instant,
    state: Mutex<State>,
}

/// A number of files and their size in bytes.
#[derive(Clone, Copy, Default)]
struct Files {
    count: u64,
    bytes: u64,
}

impl Files {
    fn add(&mut self, size: u64) {
        // The sizes are what the peer says.
        self.count += 1;
        self.bytes = self.bytes.saturating_add(size);
    }
}

/// The file that is being copied.
struct Current {
    path: PathBuf,
    /// Bytes in all.
    size: u64,
    /// Bytes that the receiver has.
    position: u64,
}

#[derive(Default)]
struct State {
    /// Files that are to be copied.
    listed: Files,
    /// Files that are complete and verified.
    done: Files,
    current: Option<Current>,
    /// Bytes of file contents that have crossed the network.
    received: u64,
    /// `received` at recent times, for the rate.
    recent: VecDeque<(Instant, u64)>,
    /// Files and folders that were not copied, or not as they should be.
    problems: u64,
}

impl Show {
    /// Displays two progress bars on a terminal, unless `quiet`. `verbose` adds lines for complete files and details.
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

    fn print(&self, line: &str) {
        self.bars.suspend(|| print::note(line));
    }

    /// Takes note of an event, and prints a line if it calls for one. The bars are drawn by [`Show::tick`].
    pub fn on_event(&self, event: Event) {
        let mut state = self.lock();
        let line = match event {
            Event::Listed { size } => {
                state.listed.add(size);
                None
            }
            Event::Progress { path, size, position } => {
                state.current = Some(Current { path, size, position });
                None
            }
            Event::Received { bytes } => {
                state.received = state.received.saturating_add(bytes);
                None
            }
            Event::Done { path, size } => {
                state.done.add(size);
                state.current.take_if(|current| current.path == path);
                self.verbose.then(|| printable_path(&path))
            }
            Event::Problem { path, reason } => {
                state.problems += 1;
                Some(if path.is_empty() { reason } else { format!("{path}: {reason}") })
            }
            Event::Retry { reason } => {
                // The sender lists all files again; those that are complete are reported as done again.
                let State { received, recent, .. } = std::mem::take(&mut *state);
                *state = State { received, recent, ..State::default() };
                Some(format!("{reason}; trying again"))
            }
            Event::Detail(line) => self.verbose.then_some(line),
            Event::Note(line) => (!self.quiet).then_some(line),
        };
        drop(state);
        if let Some(line) = line {
            self.print(&line);
        }
    }

    /// Draws the bars.
    pub fn tick(&self) {
        if self.total.is_hidden() {
            return;
        }
        let mut state = self.lock();
        if state.listed.count == 0 {
            return; // ssh may be asking for a password.
        }
        let rate = state.rate(Instant::now());
        let here = state.done.bytes.saturating_add(state.current.as_ref().map_or(0, |current| current.position));
        self.total.set_length(state.listed.bytes);
        self.total.set_position(here);
        let left = (state.listed.bytes.saturating_sub(here)) as f64 / rate;
        let left = if left.is_finite() && left < LONGEST_LEFT { format!(", {left:.0} s left") } else { String::new() };
        self.total.set_message(format!(
            "{} of {} files, {} of {}, {:.1} Mbps{left}",
            state.done.count,
            state.listed.count,
            size_text(here),
            size_text(state.listed.bytes),
            rate * 8e-6
        ));
        if let Some(Current { path, size, position }) = &state.current {
            self.file.set_length(*size);
            self.file.set_position(*position);
            self.file.set_message(printable_path(path));
        }
    }

    /// Clears the bars.
    pub fn end(&self) {
        self.file.finish_and_clear();
        self.total.finish_and_clear();
    }

    /// Prints the summary of a copy that has ended. Fails if something was not copied.
    pub fn outcome(&self, summary: &Summary) -> Result<(), Failure> {
        let state = self.lock();
        if !self.quiet {
            print::note(&self.summary_line(&state, summary));
        }
        match state.problems {
            0 => Ok(()),
            1 => Err(Failure::Failed("1 file or folder was not copied, or not as it should be".into())),
            many => Err(Failure::Failed(format!("{many} files or folders were not copied, or not as they should be"))),
        }
    }

    fn summary_line(&self, state: &State, summary: &Summary) -> String {
        let seconds = self.begin.elapsed().as_secs_f64();
        let Files { count, bytes } = state.done;
        let before = match bytes.saturating_sub(state.received) {
            0 => String::new(),
            before => format!(", {} of it there before", size_text(before)),
        };
        let Summary { packets, lost, controller } = summary;
        // The connection can be lost when everything is copied, and before the sender's last message has come.
        let packets = match controller.as_str() {
            "" => String::new(),
            controller => format!("; {}, {lost} of {packets} packets lost", printable(controller)),
        };
        format!(
            "{count} file{}, {}{before}, in {seconds:.1} s: {:.1} Mbps{packets}",
            if count == 1 { "" } else { "s" },
            size_text(bytes),
            state.received as f64 * 8e-6 / seconds
        )
    }
}

impl State {
    /// The rate at which file contents are received at time `now`, in bytes per second.
    fn rate(&mut self, now: Instant) -> f64 {
        let received = self.received;
        self.recent.push_back((now, received));
        while self.recent.len() > 2 && now.duration_since(self.recent[0].0) > RATE_WINDOW {
            self.recent.pop_front();
        }
        let (since, before) = self.recent[0];
        (received - before) as f64 / now.duration_since(since).as_secs_f64().max(0.1)
    }
}

/// A number of bytes, in kB, MB or GB.
fn size_text(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_says_nothing_of_packets_if_the_sender_has_not() {
        let show = Show::new(true, false);
        let line = |summary: &Summary| show.summary_line(&show.lock(), summary);
        let told = Summary { packets: 7, lost: 1, controller: "cubic".into() };
        assert!(line(&told).ends_with("Mbps; cubic, 1 of 7 packets lost"));
        assert!(line(&Summary::default()).ends_with("Mbps"));
    }

    #[test]
    fn sizes_that_a_peer_makes_up_do_not_overflow() {
        let show = Show::new(true, false);
        for _ in 0..3 {
            show.on_event(Event::Listed { size: u64::MAX });
            show.on_event(Event::Received { bytes: u64::MAX });
            show.on_event(Event::Progress { path: "x".into(), size: u64::MAX, position: u64::MAX });
            show.on_event(Event::Done { path: "y".into(), size: u64::MAX });
            show.tick();
        }
        let state = show.lock();
        assert_eq!((state.listed.bytes, state.received), (u64::MAX, u64::MAX));
    }
}
