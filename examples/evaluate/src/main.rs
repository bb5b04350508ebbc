//! Evaluates a controller of one's own beside CUBIC: two packets more per round trip, a quarter less on a loss.

use control::registry::{self, Parties};
use control::window::{Window, WindowRule};
use control::{Ack, Controller, Family, Time};
use lab::evaluate::{Task, blocks, table};
use lab::reproduce::Scale;
use scenario::Machine;
use serde_json::Map;

struct Gentle;

impl WindowRule for Gentle {
    fn increase(&mut self, _: Time, window: f64, _: &Ack) -> f64 {
        2.0 / window
    }

    fn decrease(&mut self, _: Time, window: f64) -> f64 {
        0.75 * window
    }
}

pub fn main() {
    let gentle = Controller::made_by("gentle", Family::LossWindow, "mine", "AIMD(2, 1/4)", Map::new(), |_, host| {
        let packet = host.packet;
        Ok(Box::new(move || Parties { sender: Box::new(Window::new(Gentle, 10.0, packet)), receiver: None }))
    });
    registry::add(gentle).expect("no other controller has this name");
    let blocks = blocks().unwrap().into_iter().filter(|block| block.id == "bufferbloat").collect();
    let (subject, baseline) = ("gentle".into(), "cubic".into());
    let task = Task { subject, baseline, blocks, scale: Scale::Quick, sets: vec![] };
    let machine = Machine::this(None);
    let evaluation = task.plan(&machine).unwrap().make(&machine, &(), &|_| true).unwrap();
    println!("{}", table(&evaluation));
}
