//! How the source of a flow acts on the simulator: it sends packets, and asks to be called later.

use crate::event_queue::Kind;
use crate::host::Environment;
use crate::network::Network;
use crate::packet::Packet;
use control::Time;

/// What the source of one flow sees of the simulator.
pub struct FlowEnvironment<'a> {
    /// The network that carries its packets.
    pub network: &'a mut Network,
    /// The simulated time.
    pub now: Time,
    /// The flow's number.
    pub flow: u32,
}

impl Environment for FlowEnvironment<'_> {
    #[inline(always)]
    fn send(&mut self, hop: u32, size: u32, make: impl FnOnce() -> Packet) {
        if self.network.echo.answers(hop) {
            return self.network.send_echo(self.now, size, make);
        }
        let Network { topology, access_pairs, .. } = &mut *self.network;
        // Data leaves by the first lane of a pair.
        match topology.access_lane(hop).and_then(|lane| access_pairs.find(lane)) {
            Some(pair) => {
                let Packet { segment, order, .. } = make();
                self.network.send_lean(self.now, pair, segment as u32, order);
            }
            None => {
                self.network.forward(self.now, hop, size, make);
            }
        }
    }

    fn wake_at(&mut self, time: Time) {
        self.network.events.add(time, (Kind::Wake, self.flow));
    }

    fn timer_at(&mut self, time: Time) {
        self.network.events.add_timer(time, (Kind::Timeout, self.flow));
    }
}
