//! The arguments of `thalweg bench`.

use clap::Subcommand;
use control::{Duration, Rate};

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// How exactly packets leave at constant rates: the difference between actual and planned gaps, on loopback; and
    /// how short a gap between bursts of packets this host keeps (its quantum).
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
}
