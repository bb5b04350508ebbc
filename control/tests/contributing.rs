//! The section "Add a controller" of CONTRIBUTING.md: its example is the module here, word for word.

extern crate alloc;

extern crate thalweg_control as control;

mod toy;

use control::Family::LossWindow;
use control::Recovery::Sack;
use control::{Ack, Bytes, Conditions, Controller, Duration, Loss, Protocol, Rate, Sender, Time, parameters, window};
use std::path::Path;

#[path = "contributing/gentle.rs"]
mod gentle;

const TEXT: &str = include_str!("../../CONTRIBUTING.md");

/// The section's text.
fn section() -> &'static str {
    let section = TEXT.split("\n## ").find(|section| section.starts_with("Add a controller"));
    section.expect("CONTRIBUTING.md has a section on controllers")
}

#[test]
fn the_example_is_the_one_that_compiles() {
    assert!(section().contains(include_str!("contributing/gentle.rs")));
    assert!(section().contains(include_str!("contributing/entry.rs")));
}

#[test]
fn the_protocol_of_the_example_follows_its_equations() {
    let mut sender = gentle::Gentle { step: 2.0 }.sender(&Conditions::exact(Bytes(1000)));
    sender.on_ack(Time::ZERO, &Ack { acked: Bytes(2000), ..Ack::default() });
    assert_eq!(sender.state().window, Some(4.0)); // slow start
    sender.on_loss(Time::ZERO, &Loss::Event);
    assert_eq!(sender.state().window, Some(3.0)); // equation 4
    sender.on_ack(Time::ZERO, &Ack { acked: Bytes(1000), ..Ack::default() });
    assert_eq!(sender.state().window, Some(3.0 + 2.0 / 3.0)); // equation 3
}

#[test]
fn the_entry_of_the_example_is_a_controller_that_moves_data() {
    let controller = include!("contributing/entry.rs");
    assert_eq!(controller.defaults()["step"], 2.0);
    assert_eq!(
        controller.schema().pointer("/properties/step/description").unwrap(),
        "Growth per round trip, in packets"
    );
    let path = toy::Path {
        rate: Rate::from_mbps(10.0),
        rtt: Duration::from_millis(20),
        buffer: 20,
        packet: Bytes(1000),
        ack_every: 1,
        late: Duration::ZERO,
        quantum: Duration::ZERO,
    };
    let mut host = toy::Host::new(&controller, path);
    let events: Vec<_> = (0..10_000).map(|_| host.step(false)).collect();
    assert!(events.contains(&toy::Event::Lost(Loss::Event)), "the window fills the path and its buffer");
    assert!(host.state().window.is_some_and(|w| (20.0..100.0).contains(&w)), "{:?}", host.state());
}

/// Whoever follows the text finds every file and folder that it names.
#[test]
fn the_files_that_the_text_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let named = section().split('`').skip(1).step_by(2).filter(|name| name.starts_with("control/"));
    let missing: Vec<_> = named.filter(|name| !name.ends_with("/gentle.rs") && !root.join(name).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
