//! A mix of connections like that on the link of a campus or a company, for users who have no trace: most connections
//! are small, a few carry most of the bytes, and round-trip times are from 10 ms to a second.
//!
//! Decided, after what the traces of Tmix look like (Weigle et al., CCR 36(3), 2006, and RAPID-2009, figure 7: a
//! majority of mice, a few heavy elephants, round-trip times from 10 ms up): a connection has one exchange or more, of
//! a small request and a response; 49 responses in 50 are distributed lognormally around a kilobyte, the fiftieth has a
//! Pareto tail.
//!
//! The load is the wanted one by construction, since the mean of such a heavy tail is not reached in any affordable
//! time: time is divided into blocks, and connections are drawn until each block has its share of the bytes. Over
//! several blocks, the load therefore varies less than that of a trace.

use super::{Arrivals, Connection, Message, Population, Random, Side, Stream};
use control::{Bytes, Duration, Rate, Time};

/// Mean number of exchanges of a connection, geometrically distributed.
const EXCHANGES: f64 = 2.0;
/// Size of a request: lognormal, mean in bytes and sigma.
const REQUEST: (f64, f64) = (500.0, 0.8);
/// Size of 49 responses in 50: lognormal, mean in bytes and sigma.
const RESPONSE: (f64, f64) = (2000.0, 1.2);
/// The other responses: their share, and a Pareto distribution with its least size in bytes and its shape.
const ELEPHANT: (f64, f64, f64) = (0.02, 30_000.0, 1.1);
/// No response is larger than what the wanted load sends in this time.
const LARGEST: Duration = Duration::from_millis(1000);
/// The acceptor's time to answer: lognormal, mean in seconds and sigma.
const ANSWER: (f64, f64) = (0.04, 1.0);
/// The initiator's time until the next request: lognormal, mean in seconds and sigma.
const THINK: (f64, f64) = (1.0, 1.0);
/// The least round-trip time.
const LEAST_RTT: Duration = Duration::from_millis(10);
/// Round-trip time beyond the least: lognormal, mean in seconds and sigma.
const RTT: (f64, f64) = (0.08, 0.9);
/// The largest round-trip time.
const MOST_RTT: Duration = Duration::from_millis(1000);
/// Both sides' receive window: the most without window scaling.
const WINDOW: Bytes = Bytes(65_535);
/// The most blocks of time, which all have the same load.
const BLOCKS: u64 = 30;
/// The least length of a block.
const LEAST_BLOCK: Duration = Duration::from_millis(5000);
/// Picoseconds in a microsecond.
const MICROSECOND: u64 = 1_000_000;

/// A mix of connections.
#[derive(Clone, Debug)]
pub struct Mix {
    /// The seed: everything random follows from it and from `index`.
    pub seed: u64,
    /// The number of this mix among several with the same seed.
    pub index: u64,
    /// The mean load in the direction of the responses, headers and acknowledgments included.
    pub load: Rate,
    /// How long connections arrive.
    pub duration: Duration,
    /// Size of a full packet on the wire.
    pub packet: Bytes,
    /// Bytes of a packet that are its header; also the size of an acknowledgment.
    pub header: Bytes,
}

impl Mix {
    /// The least round-trip time of a connection.
    pub const LEAST_RTT: Duration = LEAST_RTT;

    /// Bytes that `connection` sends in the direction of the responses: the responses, the acknowledgments of the
    /// requests, and the answer to the request to open the connection.
    fn load_of(&self, connection: &Connection) -> f64 {
        let room = (self.packet - self.header).0.max(1);
        let bytes = connection.messages.iter().map(|message| {
            let headers = message.size.0.div_ceil(room) * self.header.0;
            headers + if message.from == Side::Acceptor { message.size.0 } else { 0 }
        });
        (self.header.0 + bytes.sum::<u64>()) as f64
    }

    /// Draws a connection except for its start. Times are whole microseconds, so that they can be written to a file.
    fn draw(&self, random: &mut Random, connection: &mut Connection) {
        let us = |seconds: f64| Duration((seconds * 1e6).min(1e12) as u64 * MICROSECOND);
        let most = self.load.as_bps() / 8.0 * LARGEST.as_secs();
        connection.clear();
        connection.rtt = (LEAST_RTT + us(random.lognormal(RTT.0, RTT.1))).min(MOST_RTT);
        connection.window = [Some(WINDOW); 2];
        for i in 0..random.geometric(EXCHANGES) {
            let wait = if i == 0 { Duration::ZERO } else { us(random.lognormal(THINK.0, THINK.1)) };
            let size = Bytes((random.lognormal(REQUEST.0, REQUEST.1) as u64).max(1));
            connection.messages.push(Message { from: Side::Initiator, wait, size });
            let wait = us(random.lognormal(ANSWER.0, ANSWER.1));
            let (share, least, shape) = ELEPHANT;
            let size = if random.uniform() <= share {
                random.pareto(least * shape / (shape - 1.0), shape)
            } else {
                random.lognormal(RESPONSE.0, RESPONSE.1)
            };
            let size = Bytes((size.min(most) as u64).max(1));
            connection.messages.push(Message { from: Side::Acceptor, wait, size });
        }
    }
}

impl Population for Mix {
    fn arrivals(&self) -> Result<Box<dyn Arrivals>, String> {
        let random = |what| Random::new(self.seed, Stream::Mix, &[self.index, what]);
        let blocks = (self.duration.0 / LEAST_BLOCK.0).clamp(1, BLOCKS);
        Ok(Box::new(Drawn {
            mix: self.clone(),
            connections: random(0),
            starts: random(1),
            blocks,
            block: 0,
            left: 0,
            now: Time::ZERO,
            planned: 0.0,
            excess: 0.0,
            scratch: Connection::default(),
        }))
    }
}

/// The state of drawing a mix.
struct Drawn {
    mix: Mix,
    connections: Random,
    starts: Random,
    blocks: u64,
    /// Number of blocks that have begun.
    block: u64,
    /// Number of connections that are left in the current block.
    left: u64,
    now: Time,
    /// Bytes of all connections up to the end of the current block.
    planned: f64,
    /// Bytes by which the connections up to the end of the current block exceed the wanted load.
    excess: f64,
    scratch: Connection,
}

impl Drawn {
    fn end_of_block(&self) -> Time {
        Time((self.mix.duration.0 as u128 * self.block as u128 / self.blocks as u128) as u64)
    }

    /// Counts the connections of the next block, by drawing them once.
    fn begin_block(&mut self) {
        self.now = self.end_of_block();
        self.block += 1;
        let target = self.mix.load.as_bps() / 8.0 * self.end_of_block().as_secs();
        let mut random = self.connections.clone();
        while self.planned < target {
            self.mix.draw(&mut random, &mut self.scratch);
            self.planned += self.mix.load_of(&self.scratch);
            self.left += 1;
        }
        self.excess = self.planned - target;
    }
}

impl Arrivals for Drawn {
    fn next(&mut self, connection: &mut Connection) -> Result<bool, String> {
        while self.left == 0 {
            if self.block == self.blocks {
                return Ok(false);
            }
            self.begin_block();
        }
        self.mix.draw(&mut self.connections, connection);
        // The first of `left` times that are uniform in the rest of the block.
        let remaining = self.end_of_block().since(self.now).as_secs();
        let share = 1.0 - libm::pow(self.starts.uniform(), 1.0 / self.left as f64);
        self.now += Duration::from_secs(remaining * share);
        connection.start = Time(self.now.0 / MICROSECOND * MICROSECOND);
        self.left -= 1;
        if self.left == 0 && self.block == self.blocks {
            // The last connection is cut to the bytes that are missing.
            let largest = connection.messages.iter_mut().filter(|message| message.from == Side::Acceptor);
            if let Some(largest) = largest.max_by_key(|message| message.size) {
                largest.size = Bytes(largest.size.0.saturating_sub(self.excess as u64).max(1));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mix: &Mix) -> Vec<Connection> {
        let mut arrivals = mix.arrivals().unwrap();
        let (mut all, mut connection) = (Vec::new(), Connection::default());
        while arrivals.next(&mut connection).unwrap() {
            all.push(connection.clone());
        }
        all
    }

    fn mix(mbps: f64, seconds: u64) -> Mix {
        let (packet, header) = (Bytes(1000), Bytes(40));
        Mix {
            seed: 1,
            index: 0,
            load: Rate::from_mbps(mbps),
            duration: Duration::from_millis(1000 * seconds),
            packet,
            header,
        }
    }

    #[test]
    fn the_load_is_what_was_asked_for() {
        for (mbps, seconds) in [(70.0, 120), (2.0, 20), (1000.0, 10)] {
            let mix = mix(mbps, seconds);
            let all = all(&mix);
            let bytes: f64 = all.iter().map(|connection| mix.load_of(connection)).sum();
            let load = bytes * 8.0 / seconds as f64 / 1e6;
            println!("{} connections, {load:.3} of {mbps} Mbps", all.len());
            assert!((load / mbps - 1.0).abs() < 0.01, "{load} of {mbps}");
            assert!(all.is_sorted_by_key(|connection| connection.start));
            assert!(all.last().unwrap().start < Time::ZERO + mix.duration);
        }
    }

    #[test]
    fn mice_are_many_and_elephants_have_the_bytes() {
        let all = all(&mix(70.0, 120));
        let mut sizes: Vec<u64> = all.iter().map(|c| c.messages.iter().map(|m| m.size.0).sum()).collect();
        sizes.sort();
        let mice = sizes.partition_point(|&size| size < 10_000) as f64 / sizes.len() as f64;
        let bytes: u64 = sizes.iter().sum();
        let elephants: u64 = sizes.iter().rev().take(sizes.len() / 100).sum();
        let share = elephants as f64 / bytes as f64;
        println!("{mice:.2} are under 10 kB; the largest hundredth has {share:.2} of the bytes");
        assert!(mice > 0.6 && share > 0.4);
        let rtt = |quantile: f64| {
            let mut all: Vec<f64> = all.iter().map(|c| c.rtt.as_millis()).collect();
            all.sort_by(f64::total_cmp);
            all[(quantile * (all.len() - 1) as f64) as usize]
        };
        println!("round-trip times {:.0} to {:.0} ms, median {:.0}", rtt(0.0), rtt(1.0), rtt(0.5));
        assert!(rtt(0.0) >= 10.0 && rtt(0.0) < 20.0 && rtt(1.0) <= 1000.0 && rtt(1.0) > 500.0);
    }
}
