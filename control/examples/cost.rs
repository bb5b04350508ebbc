//! How long each controller takes per acknowledgment: `cargo run --release -p thalweg-control --example cost` prints a
//! table in nanoseconds.
//!
//! A sender is run on the tests' made-up path, 100 Mbps x 20 ms with a buffer of one bandwidth-delay product, and all
//! calls of the host are recorded: `on_ack`, `next`, `on_send` and `on_loss`, about three per acknowledgment. Each
//! recording is played back many times to new senders, which give the same answers. The table shows how much longer the
//! second half of the recording takes than with a sender that does nothing, per acknowledgment, as the median over all
//! playbacks. The time of receivers, such as RAPID's, is not included.

extern crate thalweg_control as control;

#[allow(dead_code)]
#[path = "../tests/toy/mod.rs"]
mod toy;

use control::registry::{self, Controller, Parties};
use control::{Ack, Bytes, Conditions, Duration, Loss, Next, Phase, Pipe, Rate, Sender, Stamp, State, Time};
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Acknowledgments per recording: few enough that the recording stays in the cache.
const ACKNOWLEDGMENTS: usize = 20_000;
/// Playbacks per controller.
const REPEAT: usize = 301;

/// One call of the host.
#[derive(Clone, Copy)]
enum Call {
    Next(Time, Pipe),
    Send(Time, Bytes, Pipe),
    Ack(Time, Ack),
    Loss(Time, Loss),
}

/// A sender whose calls are recorded.
struct Recorder {
    sender: Box<dyn Sender>,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Recorder {
    fn note(&self, call: Call) {
        self.calls.lock().expect("one thread").push(call);
    }
}

impl Sender for Recorder {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.note(Call::Next(now, *pipe));
        self.sender.next(now, pipe)
    }
    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.note(Call::Send(now, size, *pipe));
        self.sender.on_send(now, size, pipe)
    }
    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.note(Call::Ack(now, *ack));
        self.sender.on_ack(now, ack);
    }
    fn on_loss(&mut self, now: Time, loss: &Loss) {
        self.note(Call::Loss(now, *loss));
        self.sender.on_loss(now, loss);
    }
    fn state(&self) -> State {
        self.sender.state()
    }
}

/// A sender that does nothing.
struct Idle;

impl Sender for Idle {
    fn next(&mut self, _: Time, _: &Pipe) -> Next {
        Next::AfterAck
    }
    fn on_send(&mut self, _: Time, _: Bytes, _: &Pipe) -> Stamp {
        Stamp::None
    }
    fn on_ack(&mut self, _: Time, _: &Ack) {}
    fn on_loss(&mut self, _: Time, _: &Loss) {}
    fn state(&self) -> State {
        State { window: None, rate: None, phase: Phase::SlowStart }
    }
}

fn build(controller: &Controller) -> Parties {
    controller.build(controller.defaults(), &Conditions::exact(Bytes(1000))).expect("defaults are valid")
}

fn is_ack(call: &&Call) -> bool {
    matches!(call, Call::Ack(..))
}

/// The calls of a host until there are [`ACKNOWLEDGMENTS`].
fn record(controller: &Controller) -> Vec<Call> {
    let path = toy::Path {
        rate: Rate::from_mbps(100.0),
        rtt: Duration::from_millis(20),
        buffer: 250,
        packet: Bytes(1000),
        ack_every: 1,
        late: Duration::ZERO,
        quantum: Duration::ZERO,
    };
    let calls = Arc::new(Mutex::new(Vec::new()));
    let Parties { sender, receiver } = build(controller);
    let sender = Box::new(Recorder { sender, calls: calls.clone() });
    let mut host = toy::Host::with(Parties { sender, receiver }, path);
    let mut acknowledgments = 0;
    while acknowledgments < ACKNOWLEDGMENTS {
        acknowledgments += usize::from(matches!(host.step(false), toy::Event::Acked { .. }));
    }
    let calls = calls.lock().expect("one thread");
    calls.clone()
}

/// The nanoseconds per acknowledgment that the second half of `calls` takes.
#[inline(never)]
fn play(sender: &mut dyn Sender, calls: &[Call]) -> f64 {
    let mut play = |calls: &[Call]| {
        for call in calls {
            match call {
                Call::Next(now, pipe) => drop(black_box(sender.next(*now, pipe))),
                Call::Send(now, size, pipe) => drop(black_box(sender.on_send(*now, *size, pipe))),
                Call::Ack(now, ack) => sender.on_ack(*now, ack),
                Call::Loss(now, loss) => sender.on_loss(*now, loss),
            }
        }
    };
    let (first, second) = calls.split_at(calls.len() / 2);
    play(first);
    let start = Instant::now();
    play(second);
    start.elapsed().as_nanos() as f64 / second.iter().filter(is_ack).count() as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    println!("| controller | ns per acknowledgment |\n|---|---:|");
    for controller in registry::all() {
        let calls = record(controller);
        let extra = || {
            let idle = play(black_box(&mut Idle as &mut dyn Sender), &calls);
            play(&mut *build(controller).sender, &calls) - idle
        };
        let cost = median((0..REPEAT).map(|_| extra()).collect());
        println!("| `{}` | {:.1} |", controller.name, cost);
    }
}
