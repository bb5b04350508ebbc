//! The ramp: how a flow gets from the few packets of slow start to the rate that these have found.
//!
//! Slow start finds how much of the path is free, but all flows that begin within a round trip find the same. If each
//! of them sent at that rate at once, a hundred flows would overload the path a hundredfold, until they hear of it a
//! round trip later, and those that began first would keep most of it. So a flow begins with [`STEP`] times what slow
//! start sent in its last round trip, and takes a step of the same factor after each estimate that is not below its
//! rate, from a stream that was sent since the step before. All flows on ramps together then overload the path by about
//! this factor at most. A flow that is alone on 100 Gbps and 100 ms, with packets of 9000 bytes, goes from 58 Mbps to
//! 33 Gbps in five steps.

use super::{Mode, ThalwegSender};
use crate::units::{Bytes, Rate};

/// The factor of each step, and of the first rate over what slow start sent.
const STEP: f64 = 4.0;

impl ThalwegSender {
    /// Goes from slow start to probing at the rate `goal`, by a ramp if that is more than its first rate. Flows of
    /// bursts have no ramp: two streams have found their goal, and what a burst finds is too uncertain for its steps.
    pub(super) fn ramp_up_to(&mut self, goal: Rate) {
        let last_stream = Bytes(self.packet.0 * u64::from(self.outgoing.stream().length()));
        let first = last_stream.over(self.rtt) * STEP;
        if self.outgoing.bursts().are_packets() && first < goal {
            self.step_to(first, goal);
        } else {
            self.mode = Mode::Probing;
            self.set_average(goal);
        }
        self.outgoing.end();
    }

    /// Sends at this rate, or at the goal of the ramp, from the next stream on.
    fn step_to(&mut self, rate: Rate, goal: Rate) {
        self.mode = Mode::Ramp { goal };
        self.set_average(if rate < goal { rate } else { goal });
        // Estimates from streams of a lower rate show less than this one.
        self.feedback.ignore_before(self.outgoing.next_id());
    }

    /// A ramp ends early with an estimate below its rate. Others have taken the last step as well then, so the rate
    /// falls to what it was before.
    pub(super) fn on_estimate_in_ramp(&mut self, estimate: Rate) {
        let Mode::Ramp { goal } = self.mode else { return };
        if estimate < self.average {
            self.mode = Mode::Probing;
            self.lower_average(self.average * (1.0 / STEP));
            self.outgoing.end();
        } else if self.average < goal {
            self.step_to(self.average * STEP, goal);
            self.outgoing.end();
        } else {
            self.mode = Mode::Probing;
        }
    }
}
