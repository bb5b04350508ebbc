//! What ends slow start, for each controller of the registry that has the parameter.

extern crate thalweg_control as control;

#[allow(dead_code)] // the other tests use the rest
mod toy;

use control::registry::{self, Controller};
use control::{Bytes, Duration, Phase, Rate};
use serde_json::json;
use toy::{Event, Host, Path};

/// The window at the end of slow start, in packets, and whether a loss ended it, on a path of 833 packets with a buffer
/// for seven times as many.
fn end(controller: &Controller, slow_start: &str) -> (f64, bool) {
    let path = Path {
        rate: Rate::from_mbps(100.0),
        rtt: Duration::from_millis(100),
        buffer: 5831,
        packet: Bytes(1500),
        ack_every: 1,
        late: Duration::ZERO,
        quantum: Duration::ZERO,
    };
    let mut parameters = controller.defaults().clone();
    parameters["slow-start"] = json!(slow_start);
    if let Some(threshold) = parameters.get_mut("threshold") {
        *threshold = json!("1 TB"); // a hybrid's window protocol stays in charge
    }
    let conditions = control::Conditions::exact(path.packet);
    let mut host = Host::with(controller.build(&parameters, &conditions).unwrap(), path);
    loop {
        let window = host.state().window.expect("a window protocol");
        match host.step(false) {
            Event::Lost(_) => return (window, true),
            _ if host.state().phase != Phase::SlowStart => return (window, false),
            _ => {}
        }
    }
}

#[test]
fn every_window_protocol_whose_slow_start_ends_with_a_loss_can_end_it_before() {
    let mut having = Vec::new();
    for controller in registry::all().into_iter().filter(|it| it.defaults().get("slow-start").is_some()) {
        having.push(controller.name);
        let (largest, lost) = end(controller, "standard");
        assert!(lost && largest > 4000.0, "{}: {largest} packets", controller.name);
        for kind in ["hystart", "hystart++", "search"] {
            let (window, lost) = end(controller, kind);
            assert!(!lost && window < 0.9 * largest, "{}, {kind}: {window} of {largest} packets", controller.name);
        }
    }
    for name in ["newreno", "bic", "highspeed", "prague", "thalweg-hybrid"] {
        assert!(having.contains(&name), "{name} is not among {having:?}");
    }
}
