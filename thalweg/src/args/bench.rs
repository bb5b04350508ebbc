//! The arguments of `thalweg bench`.

#[cfg(feature = "lab")]
use super::output::Format;
use clap::Subcommand;
#[cfg(feature = "wire")]
use control::Duration;
use control::Rate;
#[cfg(feature = "lab")]
use std::num::NonZero;

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// How exactly packets leave at constant rates: the difference between actual and planned gaps, on loopback; and
    /// how short a gap between bursts of packets this host keeps (its quantum).
    #[cfg(feature = "wire")]
    #[command(after_help = "Example:\n  thalweg bench pacing --rate 2Gbps --duration 200ms")]
    Pacing {
        /// Rate of the packets, without the headers of UDP and IP; may be repeated [default: 100 Mbps, 500 Mbps and 1
        /// Gbps; for bursts also 2, 5 and 10 Gbps].
        #[arg(long = "rate", value_name = "RATE")]
        rates: Vec<Rate>,
        /// How long to send at each rate.
        #[arg(long, value_name = "TIME", default_value = "500ms")]
        duration: Duration,
    },
    /// How well the estimators of p-streams find the available bandwidth, in the simulator: the errors of estimates
    /// beside other traffic, with packets of several sizes and with noise.
    #[cfg(feature = "lab")]
    Estimators(BenchEstimators),
}

#[cfg(feature = "lab")]
const ESTIMATORS: &str = "\
Examples:
  thalweg bench estimators                              thalweg's streams
  thalweg bench estimators --stream 90 --spread 1.039   RAPID's
  thalweg bench estimators --beside none --beside poisson --count 1000
  thalweg bench estimators --format json | jq '.rows[] | {traffic, load, ratio, estimators}'

docs/estimators.md defines the measures.";

/// Arguments of `thalweg bench estimators`.
#[cfg(feature = "lab")]
#[derive(Debug, clap::Args)]
#[command(after_help = ESTIMATORS)]
pub struct BenchEstimators {
    /// The bottleneck's capacity.
    #[arg(long, value_name = "RATE", default_value = "1Gbps")]
    pub rate: Rate,
    /// Packets in a p-stream (N).
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub stream: u16,
    /// Spread factor of p-streams (m): the rate of a packet over that of the one before it.
    #[arg(long, value_name = "M", default_value_t = 1.025)]
    pub spread: f64,
    /// The most of the available bandwidth that the p-streams take in the mean. The sender rests between streams that
    /// are faster; at 1, streams up to the available bandwidth follow each other without a rest.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub share: f64,
    /// Other traffic: none, cbr, poisson, onoff, web, tmix, p-stream or p-streams; may be repeated [default: all].
    #[arg(long, value_name = "TRAFFIC")]
    pub beside: Vec<String>,
    /// How many streams to measure for each row.
    #[arg(long, value_name = "M", default_value_t = 300)]
    pub count: u32,
    /// The seed of all random numbers.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many runs to make at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZero<usize>>,
    /// How to print the results.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Print nothing but the results and errors, and show no progress.
    #[arg(long, short)]
    pub quiet: bool,
}
