//! A line per second while packets cross.

use super::outcome::{LATE_US, MANY, mean_queue};
use crate::print;
use control::Time;
use emulate::{Progress, Totals};
use std::io::{self, IsTerminal};

/// Says each second what crosses, and at once when the emulator does not keep up.
pub struct Lines {
    show: bool,
    quiet: bool,
    /// Which hops are links of the scenario.
    hops: Vec<usize>,
    warned: bool,
    failed: [u64; 3],
}

impl Lines {
    /// Lines if somebody watches, or if `verbose`; none if `quiet`. Of the queues of `hops`, they show the longest.
    pub fn new(quiet: bool, verbose: bool, hops: Vec<usize>) -> Lines {
        Lines { show: !quiet && (verbose || io::stderr().is_terminal()), quiet, hops, warned: false, failed: [0; 3] }
    }

    /// A second has passed.
    pub fn tell(&mut self, progress: &Progress) {
        let Progress { now, interval, delivered, hops, lateness, failed } = progress;
        if self.show {
            let mbps = |all: Totals| all.bytes.over(*interval).as_mbps();
            let links = || self.hops.iter().map(|&hop| (&hops.0[hop], &hops.1[hop]));
            let queue = links().map(|(before, after)| mean_queue(before, after)).fold(0.0, f64::max);
            let dropped: u64 = links().map(|(before, after)| after.dropped - before.dropped).sum();
            let late = lateness.quantile(0.99).map_or(String::new(), |late| {
                format!(", 99 % left within {:.0} us of their time", late.as_secs() * 1e6)
            });
            print::note(&format!(
                "{:5.0} s: forward {:.1} Mbps, reverse {:.1} Mbps, queue {queue:.1} packets, {dropped} dropped{late}",
                now.since(Time::ZERO).as_secs(),
                mbps(delivered[0]),
                mbps(delivered[1]),
            ));
        }
        let late = lateness.above(LATE_US) as f64 / lateness.count().max(1) as f64;
        let behind = late > MANY || *failed != self.failed;
        self.failed = *failed;
        // Once if nobody watches, each time otherwise.
        if behind && !self.quiet && (self.show || !self.warned) {
            self.warned = true;
            let [missed, unsent, refused] = failed;
            print::note(&format!(
                "NOT KEEPING UP: {:.1} % of the last second's packets left more than {LATE_US} us late; so far {missed} \
                 missed, {unsent} unsent, {refused} refused",
                100.0 * late
            ));
        }
    }
}
