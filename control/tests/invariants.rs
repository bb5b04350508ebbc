//! Properties of every controller in the registry, whatever happens to its packets.

extern crate thalweg_control as control;

mod toy;

use control::registry::{self, Controller};
use control::{Bytes, Conditions, Duration, Family, Loss, Phase, Rate, State, Time};
use proptest::prelude::*;
use std::collections::VecDeque;
use toy::{Event, Host, Path};

/// The most by which a window grows per round trip beyond doubling, in packets: twice AIMD's 32, as the packets
/// acknowledged in a round trip may be those of an earlier, larger window.
const LARGEST_STEP: f64 = 64.0;

/// The families of window protocols.
const WINDOWS: [Family; 3] = [Family::LossWindow, Family::DelayWindow, Family::MarkWindow];

/// The controllers whose windows follow delays alone: a loss event neither reduces nor holds them.
const DELAY_ALONE: [&str; 1] = ["copa"];

/// The paths: 10 kbps to 100 Gbps, 10 us to 1 s, any buffer; and hosts that are late, and can time any gap or not.
fn paths() -> impl Strategy<Value = Path> {
    (4.0..11.0f64, 1e-5..1.0f64, 1..2000u64, 40..9000u64, 1..5u64, 0..2000u64, prop_oneof![Just(0), 1..2000u64])
        .prop_map(|(rate, rtt, buffer, packet, ack_every, late, quantum)| Path {
            rate: Rate::from_bps(10f64.powf(rate)),
            rtt: Duration::from_secs(rtt),
            buffer,
            packet: Bytes(packet),
            ack_every,
            late: Duration::from_micros(late),
            quantum: Duration::from_micros(quantum),
        })
}

/// Runs of packets: how many arrive, how many are lost after them, and whether the application limits the flow
/// meanwhile. A lost run as long as the window causes a timeout.
fn fates() -> impl Strategy<Value = Vec<(u32, u32, bool)>> {
    let lost = prop_oneof![4 => 1..4u32, 1 => 4..60u32, 1 => 500..600u32];
    prop::collection::vec((0..400u32, lost, prop::bool::weighted(0.1)), 1..12)
}

/// Sends packets with these fates over `path`, and checks the state after every event.
fn check(controller: &Controller, path: Path, fates: &[(u32, u32, bool)]) {
    let rtt = path.rtt;
    let ack_every = path.ack_every;
    let proportional = controller.defaults().get("prr") == Some(&true.into());
    let mut host = Host::new(controller, path);
    let mut history = VecDeque::new(); // times and windows of the last round trip, oldest first
    for &(arriving, lost, app_limited) in fates {
        host.app_limited = app_limited;
        let mut sent = 0;
        let mut steps = 0;
        while sent < arriving + lost {
            let mut before = host.state();
            let event = host.step(sent >= arriving);
            let after = host.state();
            if event == Event::Lost(Loss::Event) {
                before = host.before_loss; // a call of `next` may have changed the state since
            }
            check_state(&after);
            check_loss(controller.name, event, &before, &after);
            // The window of a rate protocol is only a limit that follows its model of the path.
            let window = after.window.filter(|_| controller.family != Family::Rate);
            if let Some(w) = window {
                if proportional && after.phase == Phase::Recovery {
                    check_proportional(event, &before, &after, &host, ack_every);
                    history.clear(); // the window follows what is in flight, and is ssthresh afterwards
                } else {
                    if !DELAY_ALONE.contains(&controller.name) {
                        check_window(controller.family, event, &before, &after);
                    }
                    check_growth(&mut history, host.now, rtt, w);
                }
            }
            sent += u32::from(event == Event::Sent);
            steps += 1;
            assert!(steps < 100_000, "the sender sends no more packets");
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

/// A loss never raises a window or a rate, and a timeout leaves a window of one packet.
fn check_loss(name: &str, event: Event, before: &State, after: &State) {
    let faster = after.window > before.window || after.rate > before.rate;
    match event {
        Event::Lost(Loss::Event) => assert!(!faster, "{name}: a loss made {before:?} {after:?}"),
        Event::Lost(Loss::Timeout) => assert!(after.window.is_none_or(|w| w == 1.0), "a timeout left {after:?}"),
        Event::Sent | Event::Acked { .. } => {}
    }
}

/// Sending does not change a window, and no window grows while losses are repaired. The window of a window protocol
/// does not change at all in that time: there is one reduction per loss event.
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

/// A window that falls in proportion to what arrives (RFC 9937) is never larger than before the loss, or than what was
/// in flight then, but for the packets that one acknowledgment stands for.
fn check_proportional(event: Event, before: &State, after: &State, host: &Host, ack_every: u64) {
    match event {
        Event::Sent => assert_eq!(before.window, after.window),
        Event::Acked { .. } | Event::Lost(_) => {
            let most = host.before_loss.window.map(|w| w.max(host.flight_before_loss as f64) + ack_every as f64);
            assert!(after.window <= most, "after a loss at {:?}, {before:?} grew to {after:?}", host.before_loss);
        }
    }
}

/// Within a round trip, a window grows by no more than doubling and [`LARGEST_STEP`].
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
    fn every_controller_keeps_its_state_valid_and_reacts_to_losses(path in paths(), fates in fates()) {
        for controller in registry::all() {
            check(controller, path.clone(), &fates);
        }
    }
}

/// Windows that are too large to be filled in a test are reduced by a loss, too, or at least by a timeout.
#[test]
fn large_windows_are_reduced_by_losses() {
    let windows = registry::all().into_iter().filter(|c| c.family != Family::Rate);
    for controller in windows.filter(|c| c.defaults().get("initial-window").is_some()) {
        for w in [1.0, 20.0, 50.0, 1e3, 1e5, 1e6] {
            let overrides = serde_json::json!({ "initial-window": w });
            let parameters = controller.parameters(overrides.as_object().unwrap()).unwrap();
            let mut sender = controller.build(&parameters, &Conditions::exact(Bytes(1000))).unwrap().sender;
            for loss in [Loss::Event, Loss::Event, Loss::Timeout, Loss::Event] {
                let before = sender.state().window.unwrap();
                sender.on_loss(Time::ZERO, &loss);
                let after = sender.state().window.unwrap();
                let kept = loss == Loss::Event && DELAY_ALONE.contains(&controller.name);
                let reduced = after < before || before <= 2.0 || kept;
                assert!(after >= 1.0 && reduced, "{}: {before} to {after}", controller.name);
            }
        }
    }
}

/// Names are unique, families are listed together, and defaults are valid and in the form in which they are read.
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

/// Hosts make packets ECN-capable by the controller.
#[test]
fn whether_a_controller_responds_to_marks_is_no_choice() {
    for (name, own) in [("bbr", false), ("bbr-ecn", true)] {
        let controller = registry::find(name).unwrap();
        let given = |ecn: bool| controller.parameters(&[("ecn".to_string(), ecn.into())].into_iter().collect());
        assert!(given(own).is_ok(), "{name}");
        assert!(matches!(given(!own), Err(registry::ParameterError::Bad { name, .. }) if name == "ecn"), "{name}");
    }
}
