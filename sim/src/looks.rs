//! When flows are looked at: at the ends of the measured interval and of the sampling intervals.

use crate::pages;
use crate::record::Record;
use crate::samples::Samples;
use control::{Duration, Time};
use experiment::Experiment;
use path::prefetch;

/// See the [module](self).
pub struct Looks {
    /// When flows are looked at, in order, and what for.
    pub all: Vec<(Time, Look)>,
    /// The samples so far.
    pub samples: Samples,
    /// What else is recorded of each flow.
    pub records: Vec<Record>,
}

/// Why flows are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// The measured interval begins.
    Begin,
    /// The measured interval ends.
    End,
    /// A sampling interval ends, the one of this number.
    Sample(usize),
}

impl Looks {
    /// The looks at the flows of `experiment`.
    pub fn new(experiment: &Experiment) -> Looks {
        let all = all(experiment);
        let samples = all.iter().filter(|(_, look)| matches!(look, Look::Sample(_))).count();
        let records = Vec::with_capacity(experiment.flows.len());
        pages::large(&records);
        Looks { all, samples: Samples::new(experiment.flows.len(), samples), records }
    }

    /// When look number `number` is taken; [`Time::MAX`] if it is not.
    pub fn time(&self, number: usize) -> Time {
        self.all.get(number).map_or(Time::MAX, |&(time, _)| time)
    }

    /// What is recorded of `flow`.
    #[inline]
    pub fn record(&mut self, flow: u32) -> &mut Record {
        &mut self.records[flow as usize]
    }

    /// The time of the next look at the sink of `flow`, if such looks wait for arrivals; [`Time::MAX`] if none is left.
    pub fn next_at_sink(&self, flow: u32) -> Option<Time> {
        let record = &self.records[flow as usize];
        record.waits.then(|| self.time(record.sink_looks as usize))
    }

    /// Prefetches what is recorded of `flow`.
    #[inline]
    pub fn prefetch(&self, flow: u32) {
        if let Some(record) = self.records.get(flow as usize) {
            prefetch::lines(record);
        }
    }
}

/// See [`Looks::all`].
fn all(experiment: &Experiment) -> Vec<(Time, Look)> {
    let end = Time::ZERO + experiment.duration;
    let samples = (1..)
        .map(|number| Time::ZERO + Duration(experiment.sample.0.saturating_mul(number)))
        .take_while(|&at| at <= end)
        .enumerate()
        .map(|(number, at)| (at, Look::Sample(number)));
    let measured = [(experiment.measure.0, Look::Begin), (experiment.measure.1, Look::End)];
    let mut looks: Vec<_> = measured.into_iter().filter(|&(at, _)| at <= end).chain(samples).collect();
    looks.sort();
    looks
}
