//! `thalweg bench estimators`.

use crate::args::{BenchEstimators, Format};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::progress::Bar;
use control::Rate;
use control::pstream::check_range;
use lab::estimators::{self, Bench, Shape, Traffic};
use scenario::Machine;

/// The least number of packets that a stream may have: a line through delays needs as many.
const SHORTEST: u16 = 10;
/// The most packets in a stream.
const LONGEST: u16 = 1000;
/// The most streams for each row.
const MOST_STREAMS: u32 = 100_000;

/// Measures how well estimators find the available bandwidth, and prints a table.
pub fn bench(args: &BenchEstimators) -> Result<(), Failure> {
    let bench = checked(args).map_err(Failure::Wrong)?;
    let interrupt = Interrupt::catch();
    let bar = Bar::new(bench.runs(), bench.seconds(), args.quiet);
    let results = bench.run(Machine::this(args.jobs).jobs, &|progress| {
        bar.show(progress);
        !interrupt.came()
    });
    drop(bar);
    let results = results.ok_or(Failure::Interrupted)?;
    match args.format {
        Format::Table => print::text(&estimators::table(&results)),
        Format::Json => print::json(&results),
    }
}

/// What the arguments ask for; or what is wrong with them, a line each.
fn checked(args: &BenchEstimators) -> Result<Bench, Vec<String>> {
    let BenchEstimators { rate, stream, spread, share, count, seed, beside, .. } = args;
    let mut wrong = Vec::new();
    let mut unless = |right: bool, why: String| {
        if !right {
            wrong.push(why);
        }
    };
    let (least, most) = (Rate::from_mbps(1.0), Rate::from_gbps(100.0));
    unless(
        (least..=most).contains(rate),
        format!("--rate: {rate} is not within {least} and {most}; write one like 1Gbps"),
    );
    unless(
        (SHORTEST..=LONGEST).contains(stream),
        format!("--stream: {stream} packets are not within {SHORTEST} and {LONGEST}; write one like 60"),
    );
    unless(
        (1.0001..=4.0).contains(spread) && check_range(*stream, *spread).is_ok(),
        format!(
            "--spread: {spread} is not within 1.0001 and 4, or too much for {stream} packets; write one like 1.025"
        ),
    );
    unless((0.01..=1.0).contains(share), format!("--share: {share} is not within 0.01 and 1; write one like 0.5"));
    unless(
        (2..=MOST_STREAMS).contains(count),
        format!("--count: {count} streams are not within 2 and {MOST_STREAMS}; write one like 300"),
    );
    let mut kinds = Vec::new();
    for name in beside {
        match Traffic::ALL.into_iter().find(|traffic| traffic.name() == name) {
            Some(traffic) if kinds.contains(&traffic) => {
                unless(false, format!("--beside: `{name}` is there twice; remove one of the two"));
            }
            Some(traffic) => kinds.push(traffic),
            None => {
                let names = Traffic::ALL.map(Traffic::name).join(", ");
                unless(false, format!("--beside: there is no traffic `{name}`; write one of {names}"));
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    Ok(Bench {
        capacity: *rate,
        shape: Shape { len: *stream, spread: *spread },
        beside: if kinds.is_empty() { Traffic::ALL.to_vec() } else { kinds },
        share: *share,
        streams: *count as usize,
        seed: *seed,
    })
}
