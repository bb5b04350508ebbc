//! The ramp: how a flow gets from the few packets of slow start to the rate that these have found.
//!
//! Slow start finds how much of the path is free, but all flows that begin within a round trip find the same. If each
//! of them sent at that rate at once, a hundred flows would overload the path a hundredfold, until they hear of it a
//! round trip later, and those that began first would keep most of it. So a flow begins with [`FIRST_STEP`] times what
//! slow start sent in its last round trip, and raises its rate in steps, each after an estimate from a stream that was
//! sent since the step before. The first step has the same factor, and each later one the square of the one before: the
//! longer a flow has grown without an overload, the fewer others grow at the same time. A flow that is alone has 100
//! Gbps after three steps.

use super::{Mode, ThalwegSender};
use crate::units::{Bytes, Rate};

/// The factor of the first step, and of the first rate over that of slow start.
const FIRST_STEP: f64 = 4.0;

/// The state of a ramp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ramp {
    /// The rate at which it ends.
    pub(super) goal: Rate,
    /// The factor of the next step.
    step: f64,
}

impl ThalwegSender {
    /// Goes from slow start to probing at the rate `goal`, by a ramp if that is more than its first rate. Flows of
    /// bursts have no ramp: two streams have found their goal, and what a burst finds is too uncertain for its steps.
    pub(super) fn ramp_up_to(&mut self, goal: Rate) {
        let last_stream = Bytes(self.packet.0 * u64::from(self.outgoing.stream().length()));
        let first = last_stream.over(self.rtt) * FIRST_STEP;
        if self.outgoing.bursts().are_packets() && first < goal {
            self.set_ramp(first, Ramp { goal, step: FIRST_STEP });
        } else {
            self.mode = Mode::Probing;
            self.set_average(goal);
        }
        self.outgoing.end();
    }

    /// Sends at this rate from now on, or at the goal of the ramp.
    fn set_ramp(&mut self, rate: Rate, ramp: Ramp) {
        if rate < ramp.goal {
            self.mode = Mode::Ramp(ramp);
            self.set_average(rate);
            // Estimates from streams of a lower rate show less than this one.
            self.feedback.ignore_before(self.outgoing.next_id());
        } else {
            self.mode = Mode::Probing;
            self.set_average(ramp.goal);
        }
    }

    /// A ramp ends early with an estimate below its rate. Others have taken the last step as well then, so the rate
    /// falls to what it was before, and by half after the first one.
    pub(super) fn on_estimate_in_ramp(&mut self, estimate: Rate) {
        let Mode::Ramp(ramp) = self.mode else { return };
        if estimate < self.average {
            self.mode = Mode::Probing;
            self.lower_average(self.average * (1.0 / libm::sqrt(ramp.step)));
        } else {
            self.set_ramp(self.average * ramp.step, Ramp { step: ramp.step * ramp.step, ..ramp });
        }
        self.outgoing.end();
    }
}
