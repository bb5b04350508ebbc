//! The example of CONTRIBUTING.md, which is this module, word for word.

use control::{Ack, Bytes, Conditions, Loss, Protocol, Sender, Time, window};

#[path = "contributing/gentle.rs"]
mod gentle;

#[test]
fn the_example_is_the_one_that_compiles() {
    assert!(include_str!("../../CONTRIBUTING.md").contains(include_str!("contributing/gentle.rs")));
}

#[test]
fn the_example_works() {
    let mut sender = gentle::Gentle { step: 2.0 }.sender(&Conditions::exact(Bytes(1000)));
    sender.on_ack(Time::ZERO, &Ack { acked: Bytes(2000), ..Ack::default() });
    assert_eq!(sender.state().window, Some(4.0)); // slow start
    sender.on_loss(Time::ZERO, &Loss::Event);
    assert_eq!(sender.state().window, Some(3.0)); // equation 4
    sender.on_ack(Time::ZERO, &Ack { acked: Bytes(1000), ..Ack::default() });
    assert_eq!(sender.state().window, Some(3.0 + 2.0 / 3.0)); // equation 3
}
