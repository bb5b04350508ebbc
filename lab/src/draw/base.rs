//! What every drawn path has: a rate, a round-trip time and a duration.

use super::document::{count, table, text};
use super::random::{Random, rounded};
use control::{Bytes, Duration, Rate};
use toml::{Table, Value};

/// See the [module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// The link's capacity.
    pub rate: Rate,
    /// The round-trip time of flows that have none of their own.
    pub rtt: Duration,
    /// Size of full packets.
    pub packet: Bytes,
    /// How long the run lasts.
    pub duration: Duration,
}

/// Bits per second, log-uniform.
const RATE: (f64, f64) = (1e6, 100e9);
/// From this rate on, packets are jumbo frames.
const JUMBO_FROM: f64 = 10e9;
/// The duration in round-trip times, log-uniform.
const ROUND_TRIPS: (f64, f64) = (100.0, 400.0);
/// The duration is not shorter, in seconds, unless that takes more than [`MANY_PACKETS`].
const SHORTEST: f64 = 20.0;
/// A path carries no more packets than this, unless fewer than 100 round-trip times would remain.
const MANY_PACKETS: f64 = 3e6;
/// A path carries no more packets than this. Less than 10^7 by what rounding may add.
const MOST_PACKETS: f64 = 9.9e6;
/// The share of the run in which flows start.
const STARTS: f64 = 0.1;
/// The share of the run that is not measured, at its beginning.
const WARM_UP: f64 = 0.3;

impl Base {
    /// Round-trip times in seconds, log-uniform.
    pub const RTT: (f64, f64) = (1e-3, 0.6);

    /// Draws a path in which data crosses the link in one direction or in both. None if the draw is rejected: 100
    /// round-trip times would be more packets than a path may have.
    pub fn draw(directions: f64, random: &mut Random) -> Option<Base> {
        let rate = rounded(random.log_uniform(RATE.0, RATE.1));
        let rtt = rounded(random.log_uniform(Base::RTT.0, Base::RTT.1));
        let round_trips = random.log_uniform(ROUND_TRIPS.0, ROUND_TRIPS.1);
        let packet = if rate < JUMBO_FROM { 1500.0 } else { 9000.0 };
        let seconds_for = |packets: f64| packets * 8.0 * packet / rate / directions;
        let wanted = (round_trips * rtt).max(SHORTEST);
        let seconds = wanted.min(seconds_for(MANY_PACKETS)).max(ROUND_TRIPS.0 * rtt);
        (seconds <= seconds_for(MOST_PACKETS)).then(|| Base {
            rate: Rate::from_bps(rate),
            rtt: Duration::from_secs(rtt),
            packet: Bytes(packet as u64),
            duration: Duration::from_secs(rounded(seconds)),
        })
    }

    /// The bandwidth-delay product at `rate`, in packets.
    pub fn bdp(&self, rate: Rate) -> f64 {
        rate.as_bps() * self.rtt.as_secs() / self.packet.as_bits()
    }

    /// The time after `share` of the run.
    pub fn after(&self, share: f64) -> Duration {
        Duration::from_secs(rounded(self.duration.as_secs() * share))
    }

    /// When the measured interval begins.
    pub fn measured_from(&self) -> Duration {
        self.after(WARM_UP)
    }

    /// The times of one to three steps within the measured interval, in the order of time.
    pub fn step_times(&self, random: &mut Random) -> impl Iterator<Item = Duration> + use<> {
        let steps = 1 + random.place(3);
        let mut times: Vec<Duration> = (0..steps).map(|_| self.after(random.uniform(0.35, 0.9))).collect();
        times.sort();
        times.dedup();
        times.into_iter()
    }

    /// A `[[flow]]` of `n` flows of `controller`, or else of that which `[compare]` chooses.
    pub fn flows(&self, controller: Option<&str>, n: u64) -> Table {
        let mut flow = Table::new();
        if let Some(controller) = controller {
            flow.insert("controller".into(), text(controller));
        }
        flow.insert("count".into(), count(n));
        let starts = Value::Array(vec![text("0 s"), text(self.after(STARTS))]);
        flow.insert("start".into(), Value::Table(table([("uniform", starts)])));
        flow
    }
}
