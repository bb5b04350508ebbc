//! A line per second while packets cross a path in real time.

use crate::interrupt::Interrupt;
use crate::print;
use control::Rate;
use experiment::Finished;
use real::{LATE_US, Progress, Watch};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};

/// Says each second what crosses, and when the emulator does not keep up. Ctrl-C ends the run.
pub struct Status<'a> {
    interrupt: &'a Interrupt,
    show: bool,
    quiet: bool,
    /// Whether it has said that the emulator does not keep up.
    warned: AtomicBool,
}

impl<'a> Status<'a> {
    /// Says everything if standard error is a terminal or if `verbose`, warnings otherwise, and nothing if `quiet`.
    pub fn new(interrupt: &'a Interrupt, quiet: bool, verbose: bool) -> Status<'a> {
        let show = !quiet && (verbose || io::stderr().is_terminal());
        Status { interrupt, show, quiet, warned: AtomicBool::new(false) }
    }
}

impl Status<'_> {
    /// A run begins, in which warnings are said again.
    pub fn begin(&self) {
        self.warned.store(false, Ordering::Relaxed);
    }
}

impl Watch for Status<'_> {
    fn go_on(&self) -> bool {
        !self.interrupt.came()
    }

    fn progress(&self, progress: &Progress) {
        let Progress { elapsed, delivered, queue, dropped, late_p99, late_share, missed, unsent, refused, kept_up } =
            progress;
        if self.show {
            let late = late_p99.map_or(String::new(), |late| {
                format!(", 99 % left within {:.0} us of their time", late.as_secs() * 1e6)
            });
            let [forward, reverse] = delivered.map(Rate::as_mbps);
            print::note(&format!(
                "{:5.0} s: forward {forward:.1} Mbps, reverse {reverse:.1} Mbps, queue {queue:.1} packets, {dropped} \
                 dropped{late}",
                elapsed.as_secs(),
            ));
        }
        // If the lines of other seconds are not shown, one warning is enough.
        if !kept_up && !self.quiet && (self.show || !self.warned.swap(true, Ordering::Relaxed)) {
            print::note(&format!(
                "NOT KEEPING UP: {:.1} % of the last second's packets left more than {LATE_US} us late; so far {missed} \
                 missed, {unsent} unsent, {refused} refused",
                100.0 * late_share
            ));
        }
    }
}

/// Says why the results of a run in real time are not to be trusted, if they are not; if `quiet`, only of an emulator
/// that did not keep up.
pub fn say_verdict(finished: &Finished, quiet: bool) {
    let Some(emulator) = &finished.emulator else { return };
    let name = finished.run.name();
    if !emulator.kept_up {
        let remedy = if emulator.realtime { "" } else { ", or run it as root, which the system schedules in time" };
        print::note(&format!(
            "{name}: THE EMULATOR DID NOT KEEP UP: {:.2} % of packets left more than {LATE_US} us late, {} were missed, {} \
             unsent, {} refused; these results are not the path's alone: emulate a slower path, or leave it a core of \
             its own{remedy}",
            100.0 * emulator.late_share,
            emulator.missed,
            emulator.unsent,
            emulator.refused,
        ));
    }
    if emulator.host_full && !quiet {
        print::note(&format!(
            "{name}: THE HOST HAD NO TIME LEFT: all programs used {:.1} % of its processors' time, {:.0} % of a core for \
             the emulator; senders and receivers may have been slower than the path",
            100.0 * emulator.host_share.unwrap_or(1.0),
            100.0 * emulator.core_share,
        ));
    }
}
