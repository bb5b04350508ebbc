//! What must hold of every controller in the registry, whatever happens to its packets.

mod toy;

use control::registry::{self, Controller};
use control::{Bytes, Conditions, Duration, Family, Loss, Rate, State, Time};
use proptest::prelude::*;
use std::collections::VecDeque;
use toy::{Event, Host, Path};

/// No controller adds more than this many packets per round trip beyond doubling its window: twice AIMD's 32, as what is
/// acknowledged may still be that of an earlier, larger window.
const LARGEST_STEP: f64 = 64.0;

/// The families of window protocols.
const WINDOWS: [Family; 2] = [Family::LossWindow, Family::DelayWindow];

/// The paths: 10 kbps to 100 Gbps, 10 us to 1 s, any buffer.
fn paths() -> impl Strategy<Value = Path> {
    (4.0..11.0f64, 1e-5..1.0f64, 1..2000u64, 40..9000u64, 1..5u64, 0..2000u64).prop_map(
        |(rate, rtt, buffer, packet, ack_every, late)| Path {
            rate: Rate::from_bps(10f64.powf(rate)),
            rtt: Duration::from_secs(rtt),
            buffer,
            packet: Bytes(packet),
            ack_every,
            late: Duration::from_micros(late),
        },
    )
}

/// Packets that get through, then packets that are lost, and so on; a lost run as long as the window is a timeout. And
/// whether the application holds the flow back meanwhile.
fn fates() -> impl Strategy<Value = Vec<(u32, u32, bool)>> {
    let lost = prop_oneof![4 => 1..4u32, 1 => 4..60u32, 1 => 500..600u32];
    prop::collection::vec((0..400u32, lost, prop::bool::weighted(0.1)), 1..12)
}

/// Drives `controller` through it all and checks the state after every event.
fn check(controller: &Controller, path: Path, fates: &[(u32, u32, bool)]) {
    let rtt = path.rtt;
    let mut host = Host::new(controller, path);
    let mut history = VecDeque::new(); // the windows of the last round trip, oldest first
    for &(arriving, lost, app_limited) in fates {
        host.app_limited = app_limited;
        let mut sent = 0;
        let mut steps = 0;
        while sent < arriving + lost {
            let mut before = host.state();
            let event = host.step(sent >= arriving);
            let after = host.state();
            if event == Event::Lost(Loss::Event) {
                before = host.before_loss; // asking it for the next packet may have changed it since
            }
            check_state(&after);
            check_loss(controller.name, event, &before, &after);
            // Where a window only bounds what a rate decides, it follows the model of the path.
            let window = after.window.filter(|_| controller.family != Family::Rate);
            if let Some(w) = window {
                check_window(controller.family, event, &before, &after);
                check_growth(&mut history, host.now, rtt, w);
            }
            sent += u32::from(event == Event::Sent);
            steps += 1;
            assert!(steps < 100_000, "sends nothing any more");
        }
    }
}

fn check_state(state: &State) {
    if let Some(w) = state.window {
        assert!(w.is_finite() && w >= 1.0, "a window of {w} packets");
    }
    if let Some(rate) = state.rate {
        assert!(rate.as_bps().is_finite() && rate.as_bps() > 0.0, "a rate of {rate}");
    }
}

/// A loss never makes a sender faster, and a timeout leaves one packet of its window.
fn check_loss(name: &str, event: Event, before: &State, after: &State) {
    let faster = after.window > before.window || after.rate > before.rate;
    match event {
        Event::Lost(Loss::Event) => assert!(!faster, "{name}: a loss made {before:?} {after:?}"),
        Event::Lost(Loss::Timeout) => assert!(after.window.is_none_or(|w| w == 1.0), "a timeout left {after:?}"),
        Event::Sent | Event::Acked { .. } => {}
    }
}

/// Sending changes no window, and while a loss is being repaired none grows; those of window protocols do not change at all: one
/// reduction per loss event.
fn check_window(family: Family, event: Event, before: &State, after: &State) {
    match event {
        Event::Sent => assert_eq!(before.window, after.window),
        Event::Acked { recovery: true } => {
            assert!(after.window <= before.window, "{before:?} grew in recovery: {after:?}");
            let same = after.window == before.window;
            assert!(same || !WINDOWS.contains(&family), "one loss reduced {before:?} twice: {after:?}");
        }
        Event::Acked { recovery: false } | Event::Lost(_) => {}
    }
}

/// Within a round trip a window may double, and a bit.
fn check_growth(history: &mut VecDeque<(Time, f64)>, now: Time, rtt: Duration, w: f64) {
    while history.front().is_some_and(|&(time, _)| now.since(time) > rtt) {
        history.pop_front();
    }
    let least = history.iter().map(|h| h.1).fold(w, f64::min);
    assert!(w <= 2.0 * least + LARGEST_STEP, "from {least} to {w} packets within a round trip");
    history.push_back((now, w));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_controller_keeps_its_wits(path in paths(), fates in fates()) {
        for controller in registry::all() {
            check(controller, path.clone(), &fates);
        }
    }
}

/// Windows larger than a test can fill, too, react as they should to a loss.
#[test]
fn large_windows_react_to_losses() {
    let windows = registry::all().iter().filter(|c| c.family != Family::Rate);
    for controller in windows.filter(|c| c.defaults().get("initial-window").is_some()) {
        for w in [1.0, 20.0, 50.0, 1e3, 1e5, 1e6] {
            let overrides = serde_json::json!({ "initial-window": w });
            let parameters = controller.parameters(overrides.as_object().unwrap()).unwrap();
            let mut sender = controller.build(&parameters, &Conditions::exact(Bytes(1000))).unwrap().sender;
            for loss in [Loss::Event, Loss::Event, Loss::Timeout, Loss::Event] {
                let before = sender.state().window.unwrap();
                sender.on_loss(Time::ZERO, &loss);
                let after = sender.state().window.unwrap();
                assert!(after >= 1.0 && (after < before || before <= 2.0), "{}: {before} to {after}", controller.name);
            }
        }
    }
}

/// The names are unique, families stay together, and the defaults valid and in the form in which they are read.
#[test]
fn the_registry_is_sound() {
    let mut families = None;
    for (i, controller) in registry::all().iter().enumerate() {
        let name = controller.name;
        assert!(registry::all()[..i].iter().all(|c| c.name != name), "{name} is there twice");
        let family = Family::ALL.iter().position(|&family| family == controller.family);
        assert!(family >= families, "{name} is not beside its family");
        families = family;
        assert_eq!(controller.parameters(&Default::default()).as_ref(), Ok(controller.defaults()), "{name}");
        for parameter in controller.defaults().as_object().unwrap().keys() {
            let described = controller.schema().pointer(&format!("/properties/{parameter}/description"));
            assert!(described.is_some_and(|text| text.is_string()), "{name}: {parameter} has no description");
        }
    }
}
