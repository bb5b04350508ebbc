//! What the bench is to measure.

use super::case::Traffic;
use super::sender::Shape;
use control::Rate;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The bottleneck's capacity.
    pub capacity: Rate,
    /// The shape of all p-streams.
    pub shape: Shape,
    /// The kinds of other traffic.
    pub beside: Vec<Traffic>,
    /// The most of the available bandwidth that the probe takes in the mean. Below 1, what a stream leaves in the queue
    /// is gone before the next one in most cases, also if the stream is faster than the available bandwidth.
    pub share: f64,
    /// The number of streams for each row of the results.
    pub streams: usize,
    /// Everything random follows from it.
    pub seed: u64,
}
