//! Runs over QUIC without the command line: at a low rate and for seconds, so that a busy machine can make them, and
//! with bounds that only a wrong run misses.

#![cfg(target_os = "linux")]

mod common;

use common::experiment;
use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use thalweg_real::{Contestant, Error, Helper, Progress, Watch};

/// No run over QUIC starts a process.
fn no_helper() -> Helper {
    Helper::new(vec![])
}

/// Counts seconds, and ends the run after a number of questions whether to go on.
struct Counting {
    seconds: AtomicUsize,
    questions: AtomicUsize,
    last: usize,
}

impl Counting {
    fn until(last: usize) -> Counting {
        Counting { seconds: AtomicUsize::new(0), questions: AtomicUsize::new(0), last }
    }
}

impl Watch for Counting {
    fn go_on(&self) -> bool {
        self.questions.fetch_add(1, Relaxed) < self.last
    }

    fn progress(&self, progress: &Progress) {
        assert!(progress.delivered[0].as_mbps() <= 21.0, "{progress:?}");
        self.seconds.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_flow_fills_the_path_and_the_results_are_those_of_a_run() {
    for controller in ["cubic", "rapid"] {
        let experiment = experiment(controller);
        let watch = Counting::until(usize::MAX);
        let measured = thalweg_real::run(&experiment, &Contestant::Ours, &no_helper(), &watch).unwrap();
        let (from, to) = measured.experiment.measure;
        let mbps = measured.outcome.flows[0].delivered.over(to.since(from)).as_mbps();
        println!("{controller}: {mbps} Mbps, {:?}", measured.emulator);
        assert!((5.0..=20.0).contains(&mbps), "{controller}: {mbps} Mbps over a link of 20 Mbps");
        assert!(measured.outcome.flows[0].mean_rtt >= 0.040, "the path takes 40 ms");
        assert!((0.2..=1.01).contains(&measured.outcome.links[0].utilization));
        assert_eq!(measured.outcome.flows[0].series.delivered.len(), measured.outcome.sampled.len());
        assert!(watch.seconds.load(Relaxed) >= 3, "the watch hears of each second");
        assert!(measured.wall_seconds >= 3.0);
    }
}

#[test]
fn the_watch_ends_a_run_early() {
    let begin = Instant::now();
    let ended = thalweg_real::run(&experiment("cubic"), &Contestant::Ours, &no_helper(), &Counting::until(20));
    assert!(matches!(ended, Err(Error::Interrupted)), "{ended:?}");
    assert!(begin.elapsed().as_secs_f64() < 3.0);
}

/// A caller's panic on the emulator's thread.
struct Panicking;

impl Watch for Panicking {
    fn go_on(&self) -> bool {
        panic!("a panic of the watch, which the test wants")
    }
}

#[test]
fn a_panic_on_the_emulators_thread_ends_the_run() {
    let ended = thalweg_real::run(&experiment("cubic"), &Contestant::Ours, &no_helper(), &Panicking);
    assert!(matches!(ended, Err(Error::Panicked)), "{ended:?}");
}

#[test]
fn what_cannot_run_in_real_time_is_refused_with_the_remedy() {
    let mut experiment = experiment("cubic");
    experiment.flows[0].jitter = Some(control::Duration::from_micros(1));
    let refused = thalweg_real::run(&experiment, &Contestant::Ours, &no_helper(), &()).unwrap_err();
    assert!(matches!(refused, Error::Unsupported(_)) && refused.source().is_none());
    assert!(refused.to_string().ends_with("jitter: is the hosts' own in real runs; remove it"), "{refused}");
}
