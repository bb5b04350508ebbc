//! What senders do whose protocol needs routers that take part, where there are none.

use crate::roles::{Ack, Loss, Next, Pipe, Report, Sender, Stamp, State};
use crate::standard::StandardRule;
use crate::units::{Bytes, Duration, Time};
use crate::window::Window;

/// Follows the routers if the first answer brings word of one, and is Reno if not: **decided**. Papers assume that all
/// routers take part; where none does, a sender that obeyed them would stand still or, worse, go by what it asked for.
pub struct Assisted<S> {
    guided: S,
    reno: Window<StandardRule>,
    /// Whether a router takes part; none: not known yet.
    routers: Option<bool>,
}

impl<S: Sender> Assisted<S> {
    /// `guided` where routers take part, Reno with this first window (packets) elsewhere.
    pub fn new(guided: S, initial: f64, packet: Bytes) -> Assisted<S> {
        Assisted { guided, reno: Window::new(StandardRule, initial, packet), routers: None }
    }

    fn active(&mut self) -> &mut dyn Sender {
        if self.routers == Some(false) { &mut self.reno } else { &mut self.guided }
    }
}

impl<S: Sender> Sender for Assisted<S> {
    fn open(&mut self, now: Time) -> Stamp {
        self.guided.open(now)
    }

    fn on_open(&mut self, now: Time, rtt: Duration, report: Option<Report>) {
        self.routers = Some(report.is_some());
        self.guided.on_open(now, rtt, report);
    }

    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.active().next(now, pipe)
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.active().on_send(now, size, pipe)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.routers.get_or_insert(ack.report.is_some());
        self.active().on_ack(now, ack);
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        if self.routers.is_none() {
            self.reno.on_loss(now, loss);
        }
        self.active().on_loss(now, loss);
    }

    fn state(&self) -> State {
        if self.routers == Some(false) { self.reno.state() } else { self.guided.state() }
    }
}
