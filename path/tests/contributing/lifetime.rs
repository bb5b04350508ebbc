//! Lifetime: drops packets that have waited for longer than `limit` when their turn comes (Author, "Title", Venue year).
use crate::queue::{Drops, Mistake, Queue, Queueing, Site};
use crate::{Buffer, Packet};
use control::{Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Parameters.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// How long a packet may wait
    pub limit: Duration,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { limit: Duration::from_millis(50) }
    }
}

impl Queueing for Parameters {
    fn check(&self, _: &Site) -> Vec<Mistake> {
        Mistake::unless([("limit", self.limit > Duration::ZERO, "is zero; write one like \"50 ms\"".into())])
    }
    fn queue<P: Packet>(&self, site: &Site, _seed: u64) -> Box<dyn Queue<P>> {
        Box::new(Lifetime { waiting: VecDeque::new(), bytes: Bytes(0), limit: self.limit, buffer: site.buffer })
    }
}

#[derive(Debug)]
struct Lifetime<P> {
    waiting: VecDeque<(Time, P)>,
    bytes: Bytes,
    limit: Duration,
    buffer: Buffer,
}

impl<P: Packet> Queue<P> for Lifetime<P> {
    fn enqueue(&mut self, now: Time, packet: &P, _idle: Duration, drops: &mut Drops<P>) {
        if self.buffer.has_room(self.len(), self.bytes, packet.size()) {
            self.bytes += packet.size();
            self.waiting.push_back((now, *packet));
        } else {
            drops.drop_full(packet);
        }
    }
    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        while let Some((since, packet)) = self.waiting.pop_front() {
            self.bytes -= packet.size();
            if now.since(since) <= self.limit {
                return Some(packet);
            }
            drops.drop_early(&packet);
        }
        None
    }
    fn len(&self) -> u64 {
        self.waiting.len() as u64
    }
    fn bytes(&self) -> Bytes {
        self.bytes
    }
}
