//! RED's parameters as scenarios give them, and the queue that follows from them at a link.

use super::red_queue::Red;
use super::settings::{Adaptation, Settings};
use crate::Packet;
use crate::queue::discipline::{Mistake, Queue, Queueing, Site};
use control::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RED's parameters. Those that are `None` follow from the link, as "Adaptive RED" has it (sections 4.1 and 4.2). The
/// average queue counts packets of any size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// Average queue, in packets, below which nothing is dropped; by default half of what the link sends in 5 ms, at
    /// least 5.
    pub min: Option<f64>,
    /// Average queue, in packets, at which the probability of a drop is `max-p`; by default 3 times `min`. If it is
    /// `min`, `weight` is 1 and `gentle` is false, the queue marks every packet that finds `min` packets before it, as
    /// DCTCP wants (RFC 8257).
    pub max: Option<f64>,
    /// The probability of a drop at `max`, more than 0 and at most 1; adaptive RED starts from it.
    pub max_p: f64,
    /// Weight w_q of each new length in the average, more than 0 and at most 1; by default, the average has a time
    /// constant of one second at full rate.
    pub weight: Option<f64>,
    /// Above `max`, the probability rises to 1 at twice `max`, rather than at once.
    pub gentle: bool,
    /// The number of arrivals between drops is uniform from 1/p to 2/p rather than from 1 to 1/p, as with ns-2's
    /// `wait_`, which is on there by default: a third as many are dropped at the same average queue.
    pub wait: bool,
    /// The mean packet size from which `min`, `max` and `weight` follow where they are not given; by default the
    /// scenario's. In ns-2 it is 500 bytes unless a script says otherwise.
    pub mean_packet: Option<Bytes>,
}

impl Default for Parameters {
    /// Gentle, and with a `max-p` of 0.1, as Floyd advised for RED in 1997.
    fn default() -> Parameters {
        Parameters { min: None, max: None, max_p: 0.1, weight: None, gentle: true, wait: false, mean_packet: None }
    }
}

/// Parameters of adaptive RED.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct AdaptiveParameters {
    /// RED's own.
    #[serde(flatten)]
    pub red: Parameters,
    /// `max-p` stays at this or more: 0.01 in the paper, 0.001 in BIC-2004.
    pub bottom: f64,
    /// How often `max-p` is adapted.
    pub interval: Duration,
}

impl Default for AdaptiveParameters {
    /// The values of "Adaptive RED".
    fn default() -> AdaptiveParameters {
        AdaptiveParameters { red: Parameters::default(), bottom: 0.01, interval: Duration::from_millis(500) }
    }
}

/// The average delay, in seconds, from which thresholds that are not given follow ("Adaptive RED", section 4.2).
const TARGET_DELAY: f64 = 0.005;

impl Settings {
    /// What `parameters` are at a link of `rate` with packets of mean size `packet`, unless they say otherwise.
    pub fn of(parameters: &Parameters, rate: Rate, packet: Bytes) -> Settings {
        let packet = parameters.mean_packet.unwrap_or(packet);
        let per_second = rate.as_bps() / packet.as_bits();
        let min = parameters.min.unwrap_or((TARGET_DELAY * per_second / 2.0).max(5.0));
        Settings {
            min,
            max: parameters.max.unwrap_or(3.0 * min),
            max_p: parameters.max_p,
            // 1 - e^(-1/C): a time constant of one second.
            weight: parameters.weight.unwrap_or(-libm::expm1(-1.0 / per_second)),
            gentle: parameters.gentle,
            wait: parameters.wait,
            packet_time: rate.time_for(packet),
            adaptation: None,
        }
    }
}

impl Queueing for Parameters {
    fn check(&self, site: &Site) -> Vec<Mistake> {
        let Settings { min, max, max_p, .. } = Settings::of(self, site.rate, site.packet);
        let weight = self.weight.unwrap_or(1.0);
        Mistake::unless([
            ("min", min >= 0.0, format!("{min} is negative; write packets, like 50")),
            ("max", max >= min, format!("{max} packets are less than min = {min}; write as much or more")),
            ("max-p", is_share(max_p), no_share(max_p)),
            ("weight", is_share(weight), no_share(weight)),
            ("mean-packet", self.mean_packet != Some(Bytes(0)), "is zero; write one like \"500 B\"".into()),
        ])
    }

    fn queue<P: Packet>(&self, site: &Site, seed: u64) -> Box<dyn Queue<P>> {
        Box::new(Red::new(Settings::of(self, site.rate, site.packet), site.buffer, seed))
    }
}

impl Queueing for AdaptiveParameters {
    fn check(&self, site: &Site) -> Vec<Mistake> {
        let mut mistakes = self.red.check(site);
        mistakes.extend(Mistake::unless([
            ("bottom", is_share(self.bottom), no_share(self.bottom)),
            ("interval", self.interval > Duration::ZERO, "is zero; write one like \"100 ms\"".into()),
        ]));
        mistakes
    }

    fn queue<P: Packet>(&self, site: &Site, seed: u64) -> Box<dyn Queue<P>> {
        let adaptation = Some(Adaptation { interval: self.interval, bottom: self.bottom });
        let settings = Settings { adaptation, ..Settings::of(&self.red, site.rate, site.packet) };
        Box::new(Red::new(settings, site.buffer, seed))
    }
}

fn is_share(value: f64) -> bool {
    value > 0.0 && value <= 1.0
}

fn no_share(value: f64) -> String {
    format!("{value} is not within 0 and 1; write one like 0.01")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_that_are_not_given_are_the_papers() {
        // "Adaptive RED", section 4: 15 Mbps of 500-byte packets, 3750 a second.
        let of = |mbps, size| Settings::of(&Parameters::default(), Rate::from_mbps(mbps), Bytes(size));
        let settings = of(15.0, 500);
        assert!((settings.min - 9.375).abs() < 1e-9 && (settings.max - 28.125).abs() < 1e-9, "{settings:?}");
        assert!((settings.weight - 0.000_266_6).abs() < 1e-6, "{settings:?}");
        assert_eq!(of(1.0, 1000).min, 5.0);
        // ns-2's mean packet of 500 bytes, whatever the size of packets is.
        let ns2 = Parameters { mean_packet: Some(Bytes(500)), ..Parameters::default() };
        assert_eq!(Settings::of(&ns2, Rate::from_mbps(15.0), Bytes(1000)).min, settings.min);
    }
}
