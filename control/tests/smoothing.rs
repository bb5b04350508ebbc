//! What p-streams find behind noisy hosts, with and without smoothing (PACKET-SCALE-2017, sections VI-A and VI-B):
//! streams of 90 packets, sent without pause at 95 % of what constant traffic leaves of 1 Gbps, to receivers that
//! coalesce interrupts in two ways and from senders that are late at random. `cargo test -p thalweg-control --test
//! smoothing -- --nocapture` prints the table.

use thalweg_control::pstream::{Analysis, Estimator, Layout, Stream};
use thalweg_control::rapid::RapidReceiver;
use thalweg_control::{Bytes, Duration, Rate, Receiver, Report, Stamp, Time};

const CAPACITY: Rate = Rate::from_gbps(1.0);
const PACKET: Bytes = Bytes(1000);
const STREAMS: u32 = 120;

/// How a network card tells its host of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Card {
    /// A packet starts a timer; when that expires, the host is told of all packets that arrived.
    Timer,
    /// Two interrupts are at least this far apart.
    Throttle,
}

struct Noise {
    card: Card,
    coalesce: Duration,
    jitter: Duration,
}

/// Random numbers, uniform in 0..1 and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The packets' stamps, and when the host is told of them. `spare` of the capacity is left by constant traffic.
fn arrivals(len: u16, spare: Rate, noise: &Noise) -> Vec<(Stamp, Time)> {
    let mut random = Random(1);
    let (mut planned, mut left) = (Time::ZERO, Time::ZERO);
    let service = CAPACITY.time_for(PACKET);
    let between = (CAPACITY - spare).time_for(PACKET);
    let mut cross = Time::ZERO + between.scale(random.next());
    let mut busy = Time::ZERO;
    let mut out = Vec::new();
    for id in 1..=STREAMS {
        let mut stream = Stream::new(id, len, 1.039, spare * 0.95, Layout::AllRising);
        while !stream.is_over() {
            planned += stream.gap(PACKET);
            left = left.max(planned + noise.jitter.scale(random.next()));
            while cross <= left {
                busy = busy.max(cross) + service;
                cross += between;
            }
            busy = busy.max(left) + service;
            out.push((stream.send(planned), busy));
        }
    }
    // Into the card and out of it.
    let (mut from, mut told) = (0, Time::ZERO);
    while noise.coalesce > Duration::ZERO && from < out.len() {
        let first = out[from].1;
        told = match noise.card {
            Card::Timer => first + noise.coalesce,
            Card::Throttle => first.max(told + noise.coalesce),
        };
        while from < out.len() && out[from].1 <= told {
            out[from].1 = told;
            from += 1;
        }
    }
    out
}

/// The 5th, 50th and 95th percentile of the ratio of estimate and truth.
fn estimates(len: u16, spare: Rate, noise: &Noise, estimator: Estimator, smoothing: Duration) -> [f64; 3] {
    let analysis = Analysis::new(estimator, Duration(50), len as usize);
    let mut receiver = RapidReceiver::new(analysis, smoothing, len as usize);
    let mut found = Vec::new();
    for (stamp, time) in arrivals(len, spare, noise) {
        if let Some(Report::Available { stream, rate, .. }) = receiver.on_arrival(time, &stamp, PACKET)
            && stream > 2
        {
            found.push(rate as f64 / spare.as_bps());
        }
    }
    found.sort_by(f64::total_cmp);
    assert!(found.len() >= STREAMS as usize - 3, "an estimate per stream, not {}", found.len());
    [0.05, 0.5, 0.95].map(|share| found[(share * found.len() as f64) as usize])
}

const SPARES: [f64; 5] = [100.0, 250.0, 500.0, 750.0, 1000.0];

/// Prints a line of the table; returns the medians of the raw and of the smoothed estimates.
fn compare(len: u16, mbps: f64, noise: &Noise) -> (f64, f64) {
    let spare = Rate::from_mbps(mbps);
    let raw = estimates(len, spare, noise, Estimator::Onset, Duration::ZERO);
    let smoothed = estimates(len, spare, noise, Estimator::Onset, Duration::from_micros(1));
    let show = |[low, median, high]: [f64; 3]| format!("{median:.2} [{low:.2} {high:.2}]");
    let us = |time: Duration| time.as_secs() * 1e6;
    println!(
        "N = {len:3}, {:>8} {:3.0} us, jitter {:2.0} us, {mbps:4.0} Mbps: raw {}, smoothed {}",
        format!("{:?}", noise.card),
        us(noise.coalesce),
        us(noise.jitter),
        show(raw),
        show(smoothed),
    );
    (raw[1], smoothed[1])
}

fn noise(card: Card, coalesce: u64, jitter: u64) -> Noise {
    Noise { card, coalesce: Duration::from_micros(coalesce), jitter: Duration::from_micros(jitter) }
}

fn within_a_tenth(median: f64) -> bool {
    (0.9..=1.1).contains(&median)
}

/// Compares medians over the streams. From 50 us on, the median of raw estimates is more than twice the truth, and the
/// median of smoothed ones is within 10 % of it.
#[test]
fn smoothed_estimates_are_within_a_tenth_where_raw_ones_fail() {
    for us in [10, 25, 50, 100] {
        for jitter in [0, 10] {
            for mbps in SPARES {
                let (raw, smoothed) = compare(90, mbps, &noise(Card::Timer, us, jitter));
                // Packets further apart than the timer is long are told of one by one: there is nothing to smooth.
                if mbps * us as f64 >= 2500.0 {
                    assert!(!within_a_tenth(raw) && within_a_tenth(smoothed), "{us} us, {mbps}: {raw} {smoothed}");
                    assert!(us < 50 || raw > 2.0, "{us} us, {mbps}: {raw}");
                }
            }
        }
    }
}

/// At 200 us and 1 Gbps, a stream of 90 packets has four buffering events, which are too few for a line. A stream of
/// 180 packets has enough.
#[test]
fn longer_coalescing_takes_longer_streams() {
    for (len, mbps) in [(90, 100.0), (90, 250.0), (180, 500.0), (180, 750.0), (180, 1000.0)] {
        let (raw, smoothed) = compare(len, mbps, &noise(Card::Timer, 200, 0));
        assert!(raw > 2.0 && within_a_tenth(smoothed), "{mbps}: {raw} {smoothed}");
    }
    // What it is without.
    for mbps in [500.0, 750.0, 1000.0] {
        let (_, smoothed) = compare(90, mbps, &noise(Card::Timer, 200, 0));
        assert!(smoothed < 1.0, "rather too low than too high: {smoothed}");
    }
}

/// A card that interrupts at regular times holds every packet back for another time. The goal is MISSED at 100 Mbps,
/// where interrupts and packets are about as frequent and beat against each other: there the error is a quarter and
/// more.
#[test]
fn throttled_interrupts_are_smoothed_from_half_of_the_capacity_on() {
    for us in [25, 50, 100] {
        for mbps in SPARES {
            let (raw, smoothed) = compare(90, mbps, &noise(Card::Throttle, us, 0));
            if mbps >= 500.0 {
                assert!(raw > 1.9 && within_a_tenth(smoothed), "{us} us, {mbps}: {raw} {smoothed}");
            }
        }
    }
}

/// Jitter alone makes no bunches. A sender follows the lowest estimates, of which the onset yields many; a line through
/// all packets yields none.
#[test]
fn a_regression_sees_through_jitter() {
    for mbps in SPARES {
        let (noise, spare) = (noise(Card::Timer, 0, 10), Rate::from_mbps(mbps));
        let onset = estimates(90, spare, &noise, Estimator::Onset, Duration::ZERO);
        let line = estimates(90, spare, &noise, Estimator::Regression, Duration::ZERO);
        println!(
            "jitter 10 us, {mbps:4.0} Mbps: onset {onset:.2?}, regression {line:.2?} (5th, 50th, 95th percentile)"
        );
        assert!(line.into_iter().all(within_a_tenth), "{mbps}: {line:?}");
    }
}
