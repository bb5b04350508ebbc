use super::accuracy::Accuracy;
use super::meter::{Meter, Passed};
use super::receiver::Estimated;
use super::*;
use control::{Rate, Router, Stamp, Time};
use std::sync::mpsc;

fn bench(beside: &[Traffic]) -> Bench {
    Bench {
        capacity: Rate::from_mbps(100.0),
        shape: Shape { len: 60, spread: 1.025 },
        beside: beside.to_vec(),
        share: 0.5,
        streams: 20,
        seed: 1,
    }
}

fn jobs(n: usize) -> NonZero<usize> {
    NonZero::new(n).unwrap()
}

/// A fluid queue grows from the first packet on whose rate exceeds the capacity, and rates are a factor of 1.025 apart:
/// `onset` is the last rate below the capacity, and pathChirp the same, as there is no excursion that ends. The line
/// of `regression` is exact.
#[test]
fn alone_and_with_exact_clocks_each_estimator_finds_the_capacity() {
    for (len, spread) in [(60, 1.025), (90, 1.039)] {
        for ratio in [0.7, 1.0, 1.3] {
            let bench = Bench { shape: Shape { len, spread }, ..bench(&[]) };
            let accuracy = measure(&bench, &Case::plain(Traffic::None, 0.0), ratio);
            assert_eq!((accuracy.streams, accuracy.available_bps), (20, 100e6));
            for errors in &accuracy.estimators {
                let least = if errors.estimator == "regression" { -0.1 } else { 100.0 * (1.0 / spread - 1.0) };
                assert!((least..=0.1).contains(&errors.bias_percent), "{ratio}, m = {spread}: {errors:?}");
                assert!(errors.spread_percent < 0.1, "{errors:?}");
                assert_eq!((errors.estimates, errors.without_percent), (20, 0.0));
            }
        }
    }
}

/// What is available beside packets that do not react is what their rate leaves, and rises and falls with the number of
/// packets during a stream if that is random.
#[test]
fn the_truth_is_what_the_other_traffic_leaves() {
    for (traffic, load, tolerance) in
        [(Traffic::Cbr, 0.5, 0.01), (Traffic::Poisson, 0.25, 0.03), (Traffic::Streams(4), 0.5, 0.03)]
    {
        let bench = Bench { streams: 200, ..bench(&[]) };
        let accuracy = measure(&bench, &Case::plain(traffic, load), 1.0);
        let share = accuracy.available_bps / 100e6;
        assert!((share + load - 1.0).abs() < tolerance, "{traffic:?}: {share}");
        assert_eq!(accuracy.streams, 200);
    }
    // 60 packets at 75 Mbps last 6.4 ms, in which 20 packets of others arrive in the mean: sqrt(20) packets more or
    // less are 7.5 % of what is available.
    let poisson = measure(&Bench { streams: 400, ..bench(&[]) }, &Case::plain(Traffic::Poisson, 0.25), 1.0);
    assert!((6.5..8.5).contains(&poisson.available_spread_percent), "{}", poisson.available_spread_percent);
}

#[test]
fn results_depend_on_the_seed_and_on_nothing_else() {
    let bench = bench(&[Traffic::None, Traffic::Web, Traffic::Streams(4)]);
    let results = |bench: &Bench, n| serde_json::to_string(&bench.run(jobs(n), &|_| true).unwrap()).unwrap();
    let one = results(&bench, 1);
    assert_eq!(one, results(&bench, 3));
    assert_ne!(one, results(&Bench { seed: 2, ..bench }, 1));
}

#[test]
fn a_bench_that_is_stopped_has_no_results() {
    assert!(bench(&[Traffic::Cbr]).run(jobs(2), &|progress| progress.runs < 2).is_none());
}

#[test]
fn every_case_has_a_name_of_its_own_and_a_row_for_each_rate() {
    let all = Case::all(&Traffic::ALL);
    let names: std::collections::BTreeSet<String> = all.iter().map(Case::to_string).collect();
    assert_eq!(names.len(), all.len());
    let bench = bench(&Traffic::ALL);
    assert_eq!(bench.runs(), 3 * all.len());
    for case in all {
        measure(&Bench { streams: 2, ..bench.clone() }, &case, 1.0); // its scenario is right
    }
}

/// Two streams of three bursts of two packets, with 1000 bytes of others after each packet.
#[test]
fn the_meter_counts_from_the_first_packet_of_a_stream_to_the_first_of_its_last_burst() {
    let (results, all) = mpsc::channel();
    let mut meter = Meter::new(results);
    let mut now = 0;
    for (stream, index) in [(4, 0), (4, 0), (4, 1), (4, 1), (4, 2), (4, 2), (5, 0), (5, 1), (5, 2)] {
        now += 10;
        let mut probe = Stamp::Probe { stream, index, len: 3, rate: 1.0, sent: Time(0) };
        meter.on_arrival(Time(now), &mut probe, Bytes(500), Bytes(0));
        meter.on_arrival(Time(now + 5), &mut Stamp::None, Bytes(1000), Bytes(0));
    }
    let passed =
        |stream, from, span, others| Passed { stream, from: Time(from), span: Duration(span), others: Bytes(others) };
    assert_eq!(all.try_iter().collect::<Vec<_>>(), [passed(4, 10, 40, 4000), passed(5, 70, 20, 2000)]);
}

/// Beside 2 and 6 Mbps on a link of 10 Mbps, 8 and 4 Mbps are available, 6 in the mean; a third stream has no estimate.
#[test]
fn errors_are_per_stream_and_in_per_cent_of_the_mean() {
    let second = Duration::from_millis(1000);
    let passed = |stream, bytes| Passed { stream, from: Time::ZERO, span: second, others: Bytes(bytes) };
    let estimated = |stream, mbps: f64| Estimated { stream, rates: [Some(mbps * 1e6), None, None] };
    let all = [passed(1, 250_000), passed(2, 750_000), passed(3, 500_000)];
    let accuracy = Accuracy::of(&all, &[estimated(2, 5.2), estimated(1, 8.6)], Rate::from_mbps(10.0));
    assert_eq!(accuracy.available_bps, 6e6);
    assert!((accuracy.available_spread_percent - 100.0 / 3.0).abs() < 1e-9, "2 Mbps of 6");
    let [onset, pathchirp, ..] = &accuracy.estimators[..] else { panic!() };
    assert!((onset.bias_percent - 15.0).abs() < 1e-9 && (onset.median_percent - 10.0).abs() < 1e-9, "{onset:?}");
    assert!((onset.spread_percent - 50f64.sqrt()).abs() < 1e-9, "10 and 20: {onset:?}");
    assert!((onset.without_percent - 100.0 / 3.0).abs() < 1e-9 && onset.estimates == 2);
    assert_eq!((pathchirp.estimates, pathchirp.without_percent), (0, 100.0));
    assert!(pathchirp.bias_percent.is_nan());
}
