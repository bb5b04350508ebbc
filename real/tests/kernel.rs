//! A run over the kernel's TCP without the command line. It has no harness: namespaces are made by a process of one
//! thread, and this program is also the helper that the run starts in them.

#[cfg(target_os = "linux")]
mod common;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    use common::experiment;
    use thalweg_real::{Contestant, Error, Helper};
    if let Some(code) = thalweg_real::answer(std::env::args_os().skip(1)) {
        return code.into();
    }
    let experiment = experiment("cubic");
    let helper = Helper::this_program().unwrap();
    match thalweg_real::run(&experiment, &Contestant::Kernel("cubic".into()), &helper, &()) {
        // As root, whoever runs the tests in CI must allow namespaces.
        Err(Error::Refused { what, source }) if std::env::var_os("CI").is_none() => {
            println!("skipped: {what} takes root ({source})");
        }
        Err(e) => panic!("{e}: {e:?}"),
        Ok(measured) => {
            let (from, to) = measured.experiment.measure;
            let flow = &measured.outcome.flows[0];
            let mbps = flow.delivered.over(to.since(from)).as_mbps();
            println!("{mbps} Mbps, {:?}", measured.emulator);
            assert_eq!(&*measured.experiment.flows[0].controller, "kernel-cubic");
            assert!((5.0..=20.0).contains(&mbps), "{mbps} Mbps over a link of 20 Mbps");
            assert!(measured.outcome.links[0].mean_queue > 0.0, "CUBIC fills queues");
        }
    }
    std::process::ExitCode::SUCCESS
}

#[cfg(not(target_os = "linux"))]
fn main() {}
