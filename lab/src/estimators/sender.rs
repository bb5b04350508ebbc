//! A sender of p-streams at a fixed average rate. Unlike a controller, it reacts to nothing, so that the errors of
//! estimates are seen and not what a controller makes of them.

use control::pstream::{Layout, Outgoing, Stream};
use control::{Ack, Bytes, Conditions, Duration, Loss, Next, Phase, Pipe, Rate, Sender, Stamp, State, Time};
use experiment::traffic::Random;

/// The shape of p-streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Packets in a stream (N), or bursts on a host that sends bursts.
    pub len: u16,
    /// The rate of a packet over that of the one before it (m).
    pub spread: f64,
}

impl Shape {
    fn stream(self, id: u32, average: Rate) -> Stream {
        Stream::new(id, self.len, self.spread, average, Layout::AllRising)
    }
}

/// How a flow sends its streams.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The shape of all streams.
    pub shape: Shape,
    /// The mean rate within a stream.
    pub average: Rate,
    /// The share of the time in which a stream is being sent, above 0 and at most 1. Between two streams the sender
    /// rests, for an exponentially distributed time.
    pub busy: f64,
    /// Whether packets are stamped, so that the receiver can analyse them.
    pub stamped: bool,
}

/// See the [module](self).
pub struct SteadySender {
    plan: Plan,
    outgoing: Outgoing,
    rests: Random,
}

impl SteadySender {
    /// A sender on this host that draws its rests from `rests`.
    pub fn new(plan: Plan, host: &Conditions, rests: Random) -> SteadySender {
        SteadySender { plan, outgoing: Outgoing::new(plan.shape.stream(0, plan.average), host), rests }
    }

    /// Begins the next stream after a rest.
    fn begin_stream(&mut self, now: Time) {
        let Plan { shape, average, busy, .. } = self.plan;
        self.outgoing.begin(shape.stream(self.outgoing.next_id(), average));
        let duration = self.outgoing.stream().duration(self.outgoing.burst());
        let rest = self.rests.exponential(duration.as_secs() * (1.0 / busy - 1.0));
        if rest > 0.0 {
            self.outgoing.wait_from(now + Duration::from_secs(rest));
        }
    }
}

impl Sender for SteadySender {
    fn next(&mut self, now: Time, _: &Pipe) -> Next {
        if self.outgoing.is_over() {
            self.begin_stream(now);
        }
        self.outgoing.next(now)
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        let stamp = self.outgoing.on_send(now, size, pipe);
        if self.plan.stamped { stamp } else { Stamp::None }
    }

    fn on_ack(&mut self, _: Time, _: &Ack) {}

    fn on_loss(&mut self, _: Time, _: &Loss) {}

    fn state(&self) -> State {
        State { window: None, rate: Some(self.plan.average), phase: Phase::Probing }
    }
}
