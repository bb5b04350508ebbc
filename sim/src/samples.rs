//! The samples of all flows, in columns: what is the same for all flows of a run, as that no controller shows a rate,
//! takes no memory.

use crate::host::Source;
use crate::pages;
use control::Phase;
use experiment::FlowSeries;

/// See the [module](self). In each column, what all flows show at one time is together: they are looked at at about the
/// same time, in any order, and so write to little memory.
pub struct Samples {
    /// The number of flows.
    flows: usize,
    delivered: Vec<u64>,
    window: Vec<f64>,
    rate: Rare,
    available: Rare,
    rtt: Vec<f64>,
    retransmitted: Vec<u32>,
    phase: Vec<Option<Phase>>,
}

/// A column of numbers that many runs have none of: empty while all are NaN.
#[derive(Default)]
struct Rare(Vec<f64>);

impl Rare {
    /// Sets one of `len` numbers.
    fn set(&mut self, at: usize, value: Option<f64>, len: usize) {
        if self.0.is_empty() && value.is_some() {
            self.0.resize(len, f64::NAN);
        }
        if let Some(place) = self.0.get_mut(at) {
            *place = value.unwrap_or(f64::NAN);
        }
    }
}

impl Samples {
    /// Room for so many samples of each of so many flows.
    pub fn new(flows: usize, each: usize) -> Samples {
        let len = flows * each;
        let samples = Samples {
            flows,
            delivered: vec![0; len],
            window: vec![0.0; len],
            rate: Rare::default(),
            available: Rare::default(),
            rtt: vec![0.0; len],
            retransmitted: vec![0; len],
            phase: vec![None; len],
        };
        // Nothing of these has been written to yet. Results walk across the samples of a flow, from page to page.
        pages::large(&samples.delivered);
        pages::large(&samples.window);
        pages::large(&samples.rtt);
        pages::large(&samples.retransmitted);
        samples
    }

    /// Sets what the source of `flow` shows in a sample: of what it is, nothing unless it is `active`; and since the
    /// sample before, its mean round-trip time in seconds, and how many packets it sent again.
    pub fn see(&mut self, flow: u32, sample: usize, source: &Source, active: bool, rtt: f64, retransmitted: u32) {
        let (at, len) = (self.at(flow, sample), self.window.len());
        let state = active.then(|| source.state());
        self.window[at] = state.and_then(|state| state.window).unwrap_or(f64::NAN);
        self.rate.set(at, state.and_then(|state| state.rate).map(|rate| rate.as_bps()), len);
        self.available.set(at, source.available().filter(|_| active).map(|rate| rate.as_bps()), len);
        self.rtt[at] = rtt;
        self.retransmitted[at] = retransmitted;
        self.phase[at] = state.map(|state| state.phase);
    }

    /// Sets the bytes that were delivered since the sample before.
    pub fn deliver(&mut self, flow: u32, sample: usize, bytes: u64) {
        let at = self.at(flow, sample);
        self.delivered[at] = bytes;
    }

    fn at(&self, flow: u32, sample: usize) -> usize {
        sample * self.flows + flow as usize
    }

    /// The first `len` samples of `flow`.
    pub fn series(&self, flow: u32, len: usize) -> FlowSeries {
        let places = || (0..len).map(|sample| self.at(flow, sample));
        fn of<T: Copy>(column: &[T], places: impl Iterator<Item = usize>) -> Vec<T> {
            places.map(|at| column[at]).collect()
        }
        let rare = |column: &Rare| places().map(|at| column.0.get(at).copied().unwrap_or(f64::NAN)).collect();
        FlowSeries {
            delivered: of(&self.delivered, places()),
            window: of(&self.window, places()),
            rate: rare(&self.rate),
            available: rare(&self.available),
            rtt: of(&self.rtt, places()),
            retransmitted: of(&self.retransmitted, places()),
            phase: of(&self.phase, places()),
        }
    }
}
