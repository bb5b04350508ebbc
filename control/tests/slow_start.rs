//! What ends slow start, for each controller of the registry that has the parameter.

extern crate thalweg_control as control;

#[allow(dead_code)] // the other tests use the rest
mod toy;

use control::registry::{self, Controller};
use control::{Bytes, Duration, Phase, Rate};
use serde_json::json;
use toy::{Event, Host, Path};

/// How slow start ended.
struct End {
    /// The window, in packets.
    window: f64,
    /// Whether a loss ended it.
    lost: bool,
    /// The window two round trips later, if no loss did, and nothing was lost in these.
    later: f64,
}

/// How slow start ends on a path of 833 packets with a buffer for seven times as many. The flow begins a minute after
/// the host's clock.
fn end(controller: &Controller, slow_start: &str) -> End {
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
    host.now += Duration::from_secs(60.0);
    let window = |host: &Host| host.state().window.expect("a window protocol");
    loop {
        let before = window(&host);
        match host.step(false) {
            Event::Lost(_) => return End { window: before, lost: true, later: 0.0 },
            _ if host.state().phase == Phase::SlowStart => {}
            _ => {
                let end = host.now + Duration::from_millis(200).scale(1.0 + before / 833.0);
                while host.now < end && !matches!(host.step(false), Event::Lost(_)) {}
                return End { window: before, lost: false, later: window(&host) };
            }
        }
    }
}

#[test]
fn every_window_protocol_whose_slow_start_ends_with_a_loss_can_end_it_before() {
    let mut having = Vec::new();
    for controller in registry::all().into_iter().filter(|it| it.defaults().get("slow-start").is_some()) {
        having.push(controller.name);
        let standard = end(controller, "standard");
        assert!(standard.lost && standard.window > 4000.0, "{}: {} packets", controller.name, standard.window);
        for kind in ["hystart", "hystart++", "search"] {
            let End { window, lost, later } = end(controller, kind);
            let name = format!("{}, {kind}", controller.name);
            assert!(!lost && window < 0.9 * standard.window, "{name}: {window} of {} packets", standard.window);
            assert!(later < 1.5 * window, "{name}: grows on, from {window} to {later} packets");
        }
    }
    let expected = [
        "aimd",
        "bic",
        "compound",
        "cubic",
        "dctcp",
        "highspeed",
        "htcp",
        "illinois",
        "newreno",
        "prague",
        "rapid-hybrid",
        "reno",
        "scalable",
        "thalweg-hybrid",
        "westwood",
    ];
    for name in expected {
        assert!(having.contains(&name), "{name} is not among {having:?}");
    }
}
