//! Measures what the other traffic sends into the bottleneck while each stream does.

use control::{Bytes, Control, Duration, Rate, Router, Stamp, Time};
use std::sync::mpsc;

/// What arrived at the bottleneck's queue between the first and the last packet of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passed {
    /// The stream's number.
    pub stream: u32,
    /// When its first packet arrived.
    pub from: Time,
    /// The time from the arrival of its first packet to that of its last one.
    pub span: Duration,
    /// What arrived of other traffic in this time: after the first packet and before the last.
    pub others: Bytes,
}

/// A router that only counts. Packets with the stamp of a p-stream are the probe's, and all others are not.
pub struct Meter {
    /// Bytes of other traffic so far.
    others: Bytes,
    /// The stream whose packets are arriving, and `others` at its first packet.
    open: Option<(Passed, Bytes)>,
    /// The last stream that has ended.
    ended: Option<u32>,
    results: mpsc::Sender<Passed>,
}

impl Meter {
    /// A meter that sends what it finds to `results`.
    pub fn new(results: mpsc::Sender<Passed>) -> Meter {
        Meter { others: Bytes(0), open: None, ended: None, results }
    }
}

impl Router for Meter {
    fn on_arrival(&mut self, now: Time, stamp: &mut Stamp, size: Bytes, _: Bytes) {
        let Stamp::Probe { stream, index, len, .. } = *stamp else {
            self.others += size;
            return;
        };
        if self.ended == Some(stream) {
            return; // the rest of its last burst
        }
        let (first, others_before) = match self.open {
            Some(open) if open.0.stream == stream => open,
            _ => (Passed { stream, from: now, span: Duration::ZERO, others: Bytes(0) }, self.others),
        };
        self.open = Some((first, others_before));
        if index + 1 == len {
            self.ended = Some(stream);
            let passed = Passed { span: now.since(first.from), others: self.others - others_before, ..first };
            // Whoever no longer listens needs no results.
            let _ = self.results.send(passed);
        }
    }

    fn on_departure(&mut self, _: Time, _: &mut Stamp, _: Bytes, _: Bytes) {}

    fn next_tick(&self) -> Option<Time> {
        None
    }

    fn on_tick(&mut self, _: Time, _: Time, _: Bytes) {}

    fn on_capacity(&mut self, _: Rate) {}

    fn state(&self) -> Control {
        Control { rate: None, growth: None }
    }
}
