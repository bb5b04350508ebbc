//! The second part of `thalweg bench pacing`: how short a gap this host keeps.

use super::micros::{micros, shown};
use control::{Duration, Rate};
use std::io;
use wire::quantum::{Kept, Plan, best, measure, measure_beside_busy};

/// The rates that are measured if none is given.
const RATES: [Rate; 6] = [
    Rate::from_gbps(0.1),
    Rate::from_gbps(0.5),
    Rate::from_gbps(1.0),
    Rate::from_gbps(2.0),
    Rate::from_gbps(5.0),
    Rate::from_gbps(10.0),
];
/// The quanta that are measured.
const QUANTA: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_micros(20),
    Duration::from_micros(50),
    Duration::from_micros(100),
    Duration::from_micros(200),
    Duration::from_micros(500),
];

/// How one run is made: what to send, and for how long.
type Measure = fn(Plan, Duration) -> io::Result<Kept>;

/// Measures bursts at each rate and quantum, and returns tables. Fails if loopback sockets do.
pub(super) fn tables(rates: &[Rate], length: Duration) -> io::Result<String> {
    let mut rates = if rates.is_empty() { RATES.to_vec() } else { rates.to_vec() };
    rates.sort_by(|a, b| a.as_bps().total_cmp(&b.as_bps()));
    let mut text = "\nBursts: packets that are to leave less than a quantum apart leave together (generic segmentation offload).\n\
         Gaps between bursts are kept if 99 % are within a tenth by the kernel's timestamps, and 95 % of the rate is reached.\n"
        .to_string();
    let both: [(&str, &str, Measure); 2] = [
        ("As the machine is", "This host's quantum", measure),
        (
            "While two busy threads, or one for each processor, take all they get",
            "Then the quantum is",
            measure_beside_busy,
        ),
    ];
    for (title, verdict, measure) in both {
        text += &table(title, verdict, &rates, |plan| measure(plan, length))?;
    }
    Ok(text)
}

fn table(title: &str, verdict: &str, rates: &[Rate], measure: impl Fn(Plan) -> io::Result<Kept>) -> io::Result<String> {
    let mut text = format!(
        "\n{title}; misses in microseconds:\n\n{:>10} {:>10} {:>6} {:>9} {:>9} {:>11} {:>9} {:>11} {:>9} {:>5} {:>5}  {}\n",
        "quantum",
        "rate",
        "burst",
        "gap",
        "reached",
        "left median",
        "left 99 %",
        "seen median",
        "seen 99 %",
        "CPU",
        "lost",
        "kept"
    );
    let mut kept = Vec::new();
    for quantum in QUANTA {
        let mut of_rates = Vec::new();
        for &rate in rates {
            let run = measure(Plan::new(rate, quantum))?;
            of_rates.push((rate, run.is_kept(rate)));
            text += &row(quantum, rate, &run);
        }
        kept.push((quantum, of_rates));
    }
    text += &match best(kept.iter().map(|(quantum, rates)| (*quantum, &rates[..]))) {
        None => format!("\n{verdict}: none of these is kept at the lowest rate.\n"),
        Some((Duration::ZERO, rate)) => format!("\n{verdict}: 0 us (any gap); it supports {rate}.\n"),
        Some((quantum, rate)) => format!("\n{verdict}: {} us; it supports {rate}.\n", micros(quantum)),
    };
    Ok(text)
}

fn row(quantum: Duration, rate: Rate, run: &Kept) -> String {
    format!(
        "{:>7} us {:>10} {:>6} {:>9.1} {:>7.1} % {:>11} {:>9} {:>11} {:>9} {:>5} {:>5}  {}\n",
        micros(quantum),
        rate.to_string(),
        run.plan.packets,
        micros(run.plan.gap),
        100.0 * (run.rate / rate),
        shown(&run.left, 0.5),
        shown(&run.left, 0.99),
        shown(&run.seen, 0.5),
        shown(&run.seen, 0.99),
        run.busy.map_or("-".into(), |busy| format!("{:.0} %", 100.0 * busy)),
        run.sent - run.arrived.min(run.sent),
        if run.is_kept(rate) { "yes" } else { "no" },
    )
}
