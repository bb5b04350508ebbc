//! The trace of `beyond/cellular`, and the process that it is drawn from.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use std::fmt::Write;
use std::path::Path;

/// A cellular link as Sprout models it (Winstein, Sivaraman and Balakrishnan, NSDI 2013): deliveries are a Poisson
/// process whose rate, 0 to 1000 packets per second, is itself a Brownian motion of 200 packets per second and square
/// root of a second; once it is zero, it stays there for an exponential time of a second on average. Steps of 20 ms;
/// begins in the middle.
fn trace(seed: u64, seconds: usize) -> String {
    const MOST: f64 = 1000.0;
    const STEP: f64 = 0.02;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut uniform = || ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    let (mut rate, mut outage, mut text) = (MOST / 2.0, 0.0, String::new());
    for step in 0..seconds * 50 {
        let begin = step as f64 * STEP;
        if outage > 0.0 {
            outage -= STEP;
        } else {
            // A normal deviate by Box and Muller.
            let normal = libm::sqrt(-2.0 * libm::log(uniform())) * libm::cos(std::f64::consts::TAU * uniform());
            rate = (rate + 200.0 * libm::sqrt(STEP) * normal).min(MOST);
            if rate <= 0.0 {
                (rate, outage) = (0.0, -libm::log(uniform()));
            }
        }
        let mut next = |after: f64| after - libm::log(uniform()) / rate;
        let mut at = if rate > 0.0 { next(begin) } else { f64::INFINITY };
        while at < begin + STEP {
            writeln!(text, "{}", (at * 1000.0) as u32).unwrap();
            at = next(at);
        }
    }
    // The last line is the length of the trace.
    writeln!(text, "{}", seconds * 1000).unwrap();
    text
}

/// `UPDATE_TRACE=1 cargo test -p thalweg-lab --test claims cellular` writes it.
#[test]
fn the_trace_is_what_the_process_draws() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue/beyond/scenarios/cellular.trace");
    let drawn = trace(1, 60);
    if std::env::var_os("UPDATE_TRACE").is_some() {
        std::fs::write(&file, &drawn).unwrap();
    }
    assert!(
        std::fs::read_to_string(file).unwrap() == drawn,
        "the file is not what the process draws; UPDATE_TRACE=1 writes it"
    );
    let mbps = drawn.lines().count() as f64 * 1504.0 * 8.0 / 60.0 / 1e6;
    assert!((1.0..11.0).contains(&mbps), "{mbps} Mbps on average");
}
