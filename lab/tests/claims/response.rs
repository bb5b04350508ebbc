//! Response functions: the mean window under random losses with p = 1e-2 to 1e-5, on a path whose queue stays empty.
//!
//! What p is: the formulas let the window grow on every packet between two loss events. A flow that repairs a loss does
//! not grow, for a round trip, and has on average w p losses in each: with AIMD's 120 packets at p = 1e-2, it is in
//! recovery two thirds of the time. So p is taken as loss events per packet delivered outside recovery, which is near
//! the path's own loss probability. With all packets in the denominator, the closed forms miss AIMD by 47 % at 1e-2 and
//! by 21 % at 1e-3, and STCP by 15 %.
//!
//! What holds: within 15 % at every p, the mean window is that of the protocol's own sender at that p
//! (`theory::mean_window`, with intervals drawn geometrically and neither hosts, queues nor recoveries). That is the
//! closed form's, within 15 %, for Reno, AIMD and HSTCP at every p; for STCP from 1e-3 down (at 1e-2 its window is at
//! its low window of 16, where it is partly Reno); and for BIC at 1e-5. At 1e-4, 1e-3 and 1e-2, BIC's window is 1.2,
//! 1.5 and 2.2 times the closed form's, which is for a loss every 1/p packets: with random intervals a window that is
//! lucky goes on past W_max, ever faster.

use crate::simulate::{between, run};
use crate::toy;
use control::{Bytes, Conditions, Duration, Phase, Rate, Time, registry};
use thalweg_lab::theory;

const LOSS: [f64; 4] = [1e-2, 1e-3, 1e-4, 1e-5];

const RTT: Duration = Duration::from_millis(10);

/// What a simulation measured.
struct Point {
    /// Loss events per packet delivered, and per packet delivered outside recovery.
    per_packet: f64,
    p: f64,
    /// Mean window over time, packets.
    window: f64,
}

/// One flow whose packets are lost with probability `p`, over hundreds of loss events at a window of about `expected`.
fn simulate(controller: &str, p: f64, expected: f64) -> Point {
    let events = if p > 2e-5 { 400.0 } else { 200.0 };
    let milliseconds = 10.0 * events / p / expected;
    let finished = run(&format!(
        r#"
        duration = "{} ms"
        sample = "2 ms"
        measure.from = "{} ms" # slow start had gone far too high
        path = {{ rate = "1 Tbps", rtt = "10 ms", buffer = "100000 packets", packet-error = {p} }}
        [[flow]]
        controller = "{controller}"
        "#,
        milliseconds as u64,
        (milliseconds / 4.0) as u64
    ));
    let (outcome, flow) = (&finished.outcome, &finished.outcome.flows[0]);
    assert!(flow.loss_events > 100 && outcome.links[0].drops == 0 && outcome.links[0].mean_queue < 1.0);
    let (from, to) = finished.run.experiment.measure;
    let delivered = between(&finished, &flow.series.delivered, from.as_secs(), to.as_secs());
    let phases = between(&finished, &flow.series.phase, from.as_secs(), to.as_secs());
    let growing = delivered.iter().zip(&phases).filter(|&(_, phase)| *phase != Some(Phase::Recovery));
    let share = growing.map(|(bytes, _)| bytes).sum::<u64>() as f64 / delivered.iter().sum::<u64>() as f64;
    let per_packet = flow.loss_events as f64 / outcome.packets_delivered as f64;
    Point { per_packet, p: per_packet / share, window: flow.mean_window.unwrap() }
}

/// The mean window of the controller's own sender if each packet is lost with probability `p`.
fn sender(controller: &str, p: f64) -> f64 {
    let mut random = 1u64;
    let interval = |_| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let uniform = ((random >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (uniform.ln() / (1.0 - p).ln()) as u64 + 1
    };
    let intervals: Vec<u64> = (0..if p > 2e-5 { 3000 } else { 600 }).map(interval).collect();
    let controller = registry::find(controller).unwrap();
    let mut sender = controller.build(controller.defaults(), &Conditions::exact(Bytes(1000))).unwrap().sender;
    theory::mean_window(&mut *sender, Bytes(1000), RTT, &intervals).unwrap()
}

/// Compares the mean window of `controller` with that of its own sender at every p, and with the `closed` form at those
/// where that `holds`.
fn check(controller: &str, closed: impl Fn(f64) -> f64, holds: &[f64]) {
    let closed = |p: f64| closed(p).max(theory::tcp(p)); // below its low window, each is Reno
    let close = |ratio: f64| (0.85..=1.15).contains(&ratio);
    for loss in LOSS {
        let Point { per_packet, p, window } = simulate(controller, loss, closed(loss));
        let (own, form) = (window / sender(controller, p), window / closed(p));
        println!(
            "{controller:10} loss {loss:.0e}: window {window:7.1}, p = {p:.2e}: {own:.3} of its sender's, {form:.3} of the closed \
             form's (p = {per_packet:.2e} with recoveries: {:.3})",
            window / closed(per_packet)
        );
        assert!(close(own), "{controller} at {loss}: {own}");
        assert!(close(form) || !holds.contains(&loss), "{controller} at {loss}: {form}");
    }
}

#[test]
fn reno_follows_its_response_function() {
    check("reno", theory::tcp, &LOSS);
}

#[test]
fn aimd_follows_its_response_function() {
    check("aimd", |p| theory::aimd(32.0, 0.125, p), &LOSS);
}

#[test]
fn highspeed_follows_its_response_function() {
    check("highspeed", theory::highspeed, &LOSS);
}

#[test]
fn scalable_follows_its_response_function_above_its_low_window() {
    check("scalable", theory::scalable, &[1e-3, 1e-4, 1e-5]);
}

#[test]
fn bic_follows_its_response_function_once_its_increase_is_additive() {
    check("bic", |p| theory::Bic::default().mean_window(p), &[1e-5]);
}

/// One flow whose path loses every `interval`-th packet, over 20 losses after the first `settling` ones. With a host,
/// acknowledgments and recoveries, but on the toy path of `control`, because no real path loses so regularly.
fn lose_regularly(controller: &str, rtt: Duration, interval: u64, settling: u64) -> Point {
    let rate = Rate::from_gbps(1000.0);
    let path = toy::Path {
        rate,
        rtt,
        buffer: 1_000_000,
        packet: Bytes(1000),
        ack_every: 1,
        late: Duration::ZERO,
        quantum: Duration::ZERO,
    };
    let mut host = toy::Host::new(registry::find(controller).unwrap(), path);
    let (mut sent, mut growing, mut settled) = (0, 0, Time::ZERO);
    while sent < (settling + 20) * interval {
        match host.step(sent % interval == interval - 1) {
            toy::Event::Sent => sent += 1,
            toy::Event::Acked { recovery: false } => growing += 1,
            _ => {}
        }
        if sent == settling * interval {
            (growing, settled) = (0, host.now);
        }
    }
    let rounds = host.now.since(settled).as_secs() / rtt.as_secs();
    Point { per_packet: 1.0 / interval as f64, p: 20.0 / growing as f64, window: (20 * interval) as f64 / rounds }
}

/// RFC 9438, section 5.1: with a loss every 1/p packets, which is what its formula assumes, CUBIC's mean window is
/// within 10 % of it where that is more than Reno's, and Reno's, within 10 %, where it is not.
///
/// It takes many losses to get there: a flow whose window is below the formula's gains per loss what the cubic function
/// has grown since its flat top, which is the third power of how long the loss is late. After 20 losses at 1e-4 and 100
/// ms it is 11 % below, after 100 it is 7 %.
#[test]
fn cubic_follows_rfc_9438_in_either_region() {
    for (ms, loss) in [(200, 1e-3), (100, 1e-4), (200, 1e-4), (100, 1e-5), (10, 1e-3), (10, 1e-4), (10, 1e-5)] {
        let rtt = Duration::from_millis(ms);
        let formula = |p: f64| theory::cubic(0.4, 0.7, rtt, p).max(theory::tcp(p));
        let Point { per_packet, p, window } =
            lose_regularly("cubic", rtt, (1.0 / loss) as u64, if loss > 5e-5 { 100 } else { 30 });
        let region = if formula(loss) > theory::tcp(loss) { "cubic" } else { "Reno-friendly" };
        let ratio = window / formula(p);
        println!(
            "{ms:3} ms, loss {loss:.0e}, {region:13} region: window {window:6.1}, {ratio:.3} of the formula's at p = {p:.2e} (p = \
             {per_packet:.2e} with recoveries: {:.3})",
            window / formula(per_packet)
        );
        assert!((0.9..=1.1).contains(&ratio), "{ms} ms, {loss}: {window}");
    }
}
