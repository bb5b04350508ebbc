//! The events of a connection that congestion control is about.

use control::Duration;
use serde_json::{Map, Value};

/// Something that happened at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Milliseconds since the beginning of the log.
    pub time: f64,
    /// What it was.
    pub happened: Happened,
}

/// A time in milliseconds, to the microsecond, as logs have it.
pub fn milliseconds(time: Duration) -> f64 {
    (time.0 / 1_000_000) as f64 / 1e3
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Happened {
    /// `quic:recovery_metrics_updated`: these quantities have new values.
    Metrics(Metrics),
    /// `quic:congestion_state_updated`: the controller is in another state.
    State {
        /// The state before, if it is known.
        old: Option<String>,
        /// The state from now on.
        new: String,
        /// Why it changed, if that is known.
        trigger: Option<String>,
    },
    /// `quic:packet_lost`: packets were found lost.
    Lost {
        /// How many.
        packets: u64,
        /// Their size together, if it is known.
        bytes: Option<u64>,
        /// How they were found, if that is known.
        trigger: Option<String>,
    },
    /// `quic:ecn_state_updated`: what is known of ECN on the path.
    Ecn {
        /// What was known before.
        old: Option<String>,
        /// What is known from now on.
        new: String,
    },
    /// `quic:packet_sent`, which is read and never written: a packet of this many bytes left.
    Sent(u64),
    /// `simulation:scenario`: what is run.
    Scenario {
        /// Its name.
        name: String,
        /// What else there is to say.
        details: Map<String, Value>,
    },
    /// `simulation:marker`: the conditions of the test change.
    Marker {
        /// What kind of change it is.
        kind: String,
        /// The change, in words.
        message: String,
    },
}

/// A quantity of `quic:recovery_metrics_updated`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The smallest round-trip time so far, in milliseconds.
    MinRtt,
    /// The smoothed round-trip time (RFC 9002, section 5.3), in milliseconds.
    SmoothedRtt,
    /// The newest sample of the round-trip time, in milliseconds.
    LatestRtt,
    /// The mean deviation of the samples, in milliseconds.
    RttVariance,
    /// Timeouts since the last acknowledgment.
    PtoCount,
    /// Congestion window, in bytes.
    CongestionWindow,
    /// Bytes sent and neither acknowledged nor found lost.
    BytesInFlight,
    /// Slow-start threshold, in bytes.
    Ssthresh,
    /// Packets sent and neither acknowledged nor found lost.
    PacketsInFlight,
    /// The rate at which packets leave, in bits per second.
    PacingRate,
    /// The rate at which data was acknowledged since the last record with it, in bits per second. This quantity is not
    /// the drafts' but an extension of ours.
    DeliveryRate,
}

impl Metric {
    /// All of them, in the order in which they are written.
    pub const ALL: [Metric; 11] = [
        Metric::MinRtt,
        Metric::SmoothedRtt,
        Metric::LatestRtt,
        Metric::RttVariance,
        Metric::PtoCount,
        Metric::CongestionWindow,
        Metric::BytesInFlight,
        Metric::Ssthresh,
        Metric::PacketsInFlight,
        Metric::PacingRate,
        Metric::DeliveryRate,
    ];

    /// Its name in a file.
    pub fn name(self) -> &'static str {
        match self {
            Metric::MinRtt => "min_rtt",
            Metric::SmoothedRtt => "smoothed_rtt",
            Metric::LatestRtt => "latest_rtt",
            Metric::RttVariance => "rtt_variance",
            Metric::PtoCount => "pto_count",
            Metric::CongestionWindow => "congestion_window",
            Metric::BytesInFlight => "bytes_in_flight",
            Metric::Ssthresh => "ssthresh",
            Metric::PacketsInFlight => "packets_in_flight",
            Metric::PacingRate => "pacing_rate",
            Metric::DeliveryRate => "delivery_rate",
        }
    }

    /// Whether it is a time, which has fractions. The others are whole numbers.
    pub fn is_time(self) -> bool {
        matches!(self, Metric::MinRtt | Metric::SmoothedRtt | Metric::LatestRtt | Metric::RttVariance)
    }
}

/// Values of some of the [`Metric`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics([Option<f64>; Metric::ALL.len()]);

impl Metrics {
    /// The value of `metric`, if it is there.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.0[metric as usize]
    }

    /// Gives `metric` this value, or removes it.
    pub fn set(&mut self, metric: Metric, value: Option<f64>) {
        self.0[metric as usize] = value;
    }

    /// Those that are there, in the order of [`Metric::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Metric, f64)> + '_ {
        Metric::ALL.into_iter().filter_map(|metric| Some((metric, self.get(metric)?)))
    }

    /// Whether none is there.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// Takes over what is there in `newer`, and returns those that had another value before.
    pub(crate) fn update(&mut self, newer: &Metrics) -> Metrics {
        let mut changed = Metrics::default();
        for (metric, value) in newer.iter().filter(|&(metric, value)| self.get(metric) != Some(value)) {
            changed.set(metric, Some(value));
        }
        changed.iter().for_each(|(metric, value)| self.set(metric, Some(value)));
        changed
    }
}
