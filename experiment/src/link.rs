//! From the counters of a link to its results.

use crate::{LinkOutcome, LinkSeries};
use control::Control;
use path::Counters;

impl LinkOutcome {
    /// The results of a measured interval that began with the counters `from` and ended with `to`. `max_queue` is the
    /// most packets that waited in it.
    pub fn between(name: String, from: &Counters, to: &Counters, max_queue: u64, series: LinkSeries) -> LinkOutcome {
        LinkOutcome {
            name,
            utilization: utilization(from, to),
            mean_queue: mean_queue(from, to),
            max_queue,
            drops: to.dropped - from.dropped,
            early_drops: to.early - from.early,
            marks: to.marked - from.marked,
            errors: to.lost - from.lost,
            late: to.reordered - from.reordered,
            corrupted: to.corrupted - from.corrupted,
            duplicates: to.duplicated - from.duplicated,
            series,
        }
    }
}

impl LinkSeries {
    /// Adds a sampling interval that began with the counters `from` and ended with `to`. `max_queue` is the most
    /// packets that waited in it, and `router` what the link's router does at its end, if the link has one that is
    /// sampled.
    pub fn push(&mut self, from: &Counters, to: &Counters, max_queue: u64, router: Option<Control>) {
        self.queue.push(mean_queue(from, to));
        self.max_queue.push(max_queue);
        self.drops.push((to.dropped - from.dropped) as u32);
        self.utilization.push(utilization(from, to));
        if let Some(router) = router {
            self.allowed.push(router.rate.map_or(f64::NAN, |rate| rate.as_bps()));
            self.growth.push(router.growth.unwrap_or(f64::NAN));
        }
    }
}

/// Mean number of packets that waited between two observations, without the one in transmission.
pub fn mean_queue(from: &Counters, to: &Counters) -> f64 {
    (to.waiting - from.waiting) as f64 / 1e12 / to.at.since(from.at).as_secs()
}

/// Share of the time between two observations in which the link transmitted.
fn utilization(from: &Counters, to: &Counters) -> f64 {
    (to.busy - from.busy).as_secs() / to.at.since(from.at).as_secs()
}
