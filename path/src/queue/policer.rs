//! Policer: drops packets beyond a rate, however empty the link is (the token bucket of RFC 2475, section 2.3.3.3, as
//! networks use it: Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016).
//!
//! The bucket holds tokens for up to `burst` bytes and fills at `rate`. A packet takes tokens for its size, and is
//! dropped if there are too few. Packets that are not dropped wait first in, first out, as far as the buffer has room.

use super::buffer::Buffer;
use super::discipline::{Drops, Mistake, Queue, Queueing, Site};
use super::droptail::DropTail;
use crate::Packet;
use control::{Bytes, Duration, Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The default burst, as the time that it lasts at the policer's rate.
const USUAL_BURST: Duration = Duration::from_millis(100);

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The rate that packets may have in the long run; half of the link's if not given
    pub rate: Option<Rate>,
    /// How much may pass at once after a pause; what the rate sends in 100 ms if not given, at least ten packets
    pub burst: Option<Bytes>,
}

impl Parameters {
    /// The rate and the burst at `site`.
    fn at(&self, site: &Site) -> (Rate, Bytes) {
        let rate = self.rate.unwrap_or(site.rate * 0.5);
        let usual = Bytes((rate.as_bps() / 8.0 * USUAL_BURST.as_secs()) as u64).max(Bytes(10 * site.packet.0));
        (rate, self.burst.unwrap_or(usual))
    }
}

impl Queueing for Parameters {
    fn check(&self, site: &Site) -> Vec<Mistake> {
        let burst = self.burst.unwrap_or(site.packet);
        Mistake::unless([
            ("rate", self.rate != Some(Rate::ZERO), "is zero; write one like \"10 Mbps\"".into()),
            (
                "burst",
                burst >= site.packet,
                format!("{burst} does not pass a single packet; write at least \"{}\"", site.packet),
            ),
        ])
    }

    fn queue<P: Packet>(&self, site: &Site, _: u64) -> Box<dyn Queue<P>> {
        let (rate, burst) = self.at(site);
        Box::new(Policer::new(rate, burst, site.buffer))
    }
}

/// A token bucket in front of a drop-tail queue.
#[derive(Debug)]
struct Policer<P> {
    behind: DropTail<P>,
    bytes_per_second: f64,
    /// The most tokens, in bytes.
    burst: f64,
    /// The tokens at `filled`, in bytes.
    tokens: f64,
    filled: Time,
}

impl<P: Packet> Policer<P> {
    /// A full bucket for `burst`, which fills at `rate`, in front of an empty queue.
    fn new(rate: Rate, burst: Bytes, buffer: Buffer) -> Policer<P> {
        let burst = burst.0 as f64;
        let bytes_per_second = rate.as_bps() / 8.0;
        Policer { behind: DropTail::new(buffer), bytes_per_second, burst, tokens: burst, filled: Time::ZERO }
    }
}

impl<P: Packet> Queue<P> for Policer<P> {
    fn enqueue(&mut self, now: Time, packet: &P, idle: Duration, drops: &mut Drops<P>) {
        let earned = now.since(self.filled).as_secs() * self.bytes_per_second;
        self.tokens = (self.tokens + earned).min(self.burst);
        self.filled = now;
        let size = packet.size().0 as f64;
        if self.tokens < size {
            drops.drop_early(packet);
            return;
        }
        self.tokens -= size;
        self.behind.enqueue(now, packet, idle, drops);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        self.behind.dequeue(now, drops)
    }

    fn len(&self) -> u64 {
        Queue::len(&self.behind)
    }

    fn bytes(&self) -> Bytes {
        Queue::bytes(&self.behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Parcel;

    /// The numbers of the packets of 1000 bytes that pass a policer of 8 Mbps (1000 bytes per millisecond) with a
    /// burst of `burst` packets, if packet number i arrives at the i-th of `ms`.
    fn passed(burst: u64, ms: &[f64]) -> Vec<u64> {
        let mut queue = Policer::new(Rate::from_mbps(8.0), Bytes(1000 * burst), Buffer::UNLIMITED);
        let mut drops = Drops::default();
        for (i, ms) in ms.iter().enumerate() {
            queue.enqueue(Time((ms * 1e9) as u64), &Parcel::new(i as u64), Duration::ZERO, &mut drops);
        }
        let passed: Vec<u64> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops)).map(|packet| packet.id).collect();
        assert_eq!(drops.early + passed.len() as u64, ms.len() as u64);
        passed
    }

    #[test]
    fn a_burst_passes_a_full_bucket_and_no_more() {
        assert_eq!(passed(3, &[0.0; 5]), [0, 1, 2]);
    }

    #[test]
    fn the_bucket_fills_at_its_rate_up_to_the_burst() {
        // Empty at 0 ms. Half a packet's tokens at 0.5 ms, one packet's at 1 ms, and after a long pause two.
        assert_eq!(passed(2, &[0.0, 0.0, 0.5, 1.0, 1.5, 50.0, 50.0, 50.0]), [0, 1, 3, 5, 6]);
    }

    #[test]
    fn twice_the_rate_passes_half_of_the_packets() {
        // 2000 packets, one every 0.5 ms: 1000 earned in the second that they take, less the one that is still to come
        // at its end, and the burst of 10.
        let times: Vec<f64> = (0..2000).map(|i| f64::from(i) * 0.5).collect();
        assert!((1008..=1010).contains(&passed(10, &times).len()));
    }

    #[test]
    fn parameters_follow_from_the_link() {
        let site = Site { rate: Rate::from_mbps(100.0), buffer: Buffer::Packets(10), packet: Bytes(1000) };
        assert_eq!(Parameters::default().at(&site), (Rate::from_mbps(50.0), Bytes(625_000)));
        let slow = Parameters { rate: Some(Rate::from_mbps(0.1)), burst: None };
        assert_eq!(slow.at(&site).1, Bytes(10_000), "not less than ten packets");
        let wrong = Parameters { rate: Some(Rate::ZERO), burst: Some(Bytes(999)) };
        let keys: Vec<String> = wrong.check(&site).into_iter().map(|mistake| mistake.key).collect();
        assert_eq!(keys, ["rate", "burst"]);
    }
}
