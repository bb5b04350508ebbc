//! `thalweg bench pacing`.

use super::micros::{micros, shown};
use super::quantum;
use crate::failure::Failure;
use crate::print;
use control::{Duration, Rate};
use scenario::reason;
use std::io;
use wire::bench::{TIMESTAMPS, pacing};

/// The rates that are measured if none is given.
const RATES: [Rate; 3] = [Rate::from_mbps(100.0), Rate::from_mbps(500.0), Rate::from_mbps(1000.0)];
/// The quantiles that are printed, and their names.
const QUANTILES: [(f64, &str); 4] = [(0.5, "median"), (0.9, "90 %"), (0.99, "99 %"), (1.0, "max")];

/// Measures how exactly packets leave at these rates, each for this long, and prints a table.
pub fn bench(rates: &[Rate], duration: Duration) -> Result<(), Failure> {
    if duration == Duration::ZERO || duration > Duration::from_millis(10_000) {
        return Err(Failure::Wrong(vec![format!("--duration: {duration} is not within 10 s; write one like 500ms")]));
    }
    let (bursts, rates) = (rates, if rates.is_empty() { &RATES[..] } else { rates });
    if let Some(rate) = rates.iter().find(|rate| !(1e5..=1e11).contains(&rate.as_bps())) {
        return Err(Failure::Wrong(vec![format!(
            "--rate: {rate} is not within 100 kbps and 100 Gbps; write one like 1Gbps"
        )]));
    }
    let run = |&rate| pacing(rate, duration).map(|run| (rate, run));
    let runs: Vec<_> = rates.iter().map(run).collect::<io::Result<_>>().map_err(failed)?;
    let mut text = format!(
        "Packets of 1200 bytes on loopback. Arrival times: {}.\n\
         Differences between actual and planned gaps, microseconds:\n\n{:12} {:>9} {:>10}",
        TIMESTAMPS, "rate", "reached", "gap"
    );
    for clock in ["left", "seen"] {
        QUANTILES.iter().for_each(|(_, name)| text += &format!(" {:>12}", format!("{clock} {name}")));
    }
    text += "      lost\n";
    for (rate, run) in runs {
        let percent = 100.0 * (run.rate / rate);
        text += &format!("{:12} {percent:>7.1} % {:>10.2}", rate.to_string(), micros(run.planned));
        for errors in [&run.left, &run.seen] {
            QUANTILES.iter().for_each(|(share, _)| text += &format!(" {:>12}", shown(errors, *share)));
        }
        text += &format!(" {:>9}\n", run.sent - run.arrived);
    }
    print::bytes(text.as_bytes())?;
    print::bytes(quantum::tables(bursts, duration).map_err(failed)?.as_bytes())
}

fn failed(error: io::Error) -> Failure {
    Failure::Failed(format!("loopback: {}", reason(&error)))
}
