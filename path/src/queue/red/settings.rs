//! The parameters with which a RED queue works.

use control::Duration;

/// The parameters of a queue at a link, all of them known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Average queue, in packets, below which nothing is dropped.
    pub min: f64,
    /// Average queue, in packets, at which the probability of a drop is `max_p`; more than `min`.
    pub max: f64,
    /// The probability of a drop at `max`, more than 0 and at most 1.
    pub max_p: f64,
    /// Weight of each new length in the average, more than 0 and at most 1.
    pub weight: f64,
    /// Above `max`, the probability rises to 1 at twice `max`, rather than at once.
    pub gentle: bool,
    /// The number of arrivals between drops is uniform from 1/p to 2/p rather than from 1 to 1/p.
    pub wait: bool,
    /// How long the link takes for a mean packet: idle time counts as the number of packets that could have been sent
    /// in it, each of which finds the queue empty.
    pub packet_time: Duration,
    /// How `max_p` is adapted, if it is.
    pub adaptation: Option<Adaptation>,
}

/// How `max_p` is adapted ("Adaptive RED", section 3 and figure 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptation {
    /// How often.
    pub interval: Duration,
    /// The least `max_p`.
    pub bottom: f64,
}
