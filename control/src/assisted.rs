//! Senders whose protocol needs routers that take part, on paths where no router does.

use crate::roles::{Ack, Loss, Next, Pipe, Report, Sender, Stamp, State};
use crate::standard::StandardRule;
use crate::units::{Bytes, Duration, Time};
use crate::window::Window;

/// Follows the routers if the first answer carries a router's report, and is Reno if not: **decided**.
/// Papers assume that all routers take part. Where none does, a sender that followed the protocol would send nothing
/// more or, worse, treat its own request as granted.
///
/// ```text
///   Unknown -- first answer, with a report ----> Present
///           -- first answer, without a report -> Absent
/// ```
pub struct Assisted<S> {
    guided: S,
    reno: Window<StandardRule>,
    routers: Routers,
}

/// Whether routers on the path take part in the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Routers {
    /// Nothing has been answered yet.
    Unknown,
    /// A router takes part.
    Present,
    /// No router takes part.
    Absent,
}

impl Routers {
    /// What an answer with this report, or without any, tells about the path.
    fn by(report: Option<Report>) -> Routers {
        if report.is_some() { Routers::Present } else { Routers::Absent }
    }
}

impl<S: Sender> Assisted<S> {
    /// `guided` where routers take part, elsewhere Reno with a first window of `initial` packets.
    pub fn new(guided: S, initial: f64, packet: Bytes) -> Assisted<S> {
        Assisted { guided, reno: Window::new(StandardRule::default(), initial, packet), routers: Routers::Unknown }
    }

    fn active(&mut self) -> &mut dyn Sender {
        match self.routers {
            Routers::Unknown | Routers::Present => &mut self.guided,
            Routers::Absent => &mut self.reno,
        }
    }
}

impl<S: Sender> Sender for Assisted<S> {
    fn open(&mut self, now: Time) -> Stamp {
        self.guided.open(now)
    }

    fn on_open(&mut self, now: Time, rtt: Duration, report: Option<Report>) {
        self.routers = Routers::by(report);
        self.guided.on_open(now, rtt, report);
    }

    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.active().next(now, pipe)
    }

    fn window(&self) -> Option<Bytes> {
        match self.routers {
            Routers::Unknown | Routers::Present => self.guided.window(),
            Routers::Absent => self.reno.window(),
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.active().on_send(now, size, pipe)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if self.routers == Routers::Unknown {
            self.routers = Routers::by(ack.report);
        }
        self.active().on_ack(now, ack);
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        if self.routers == Routers::Unknown {
            self.reno.on_loss(now, loss); // it may have to take over
        }
        self.active().on_loss(now, loss);
    }

    fn on_idle(&mut self, now: Time) {
        self.active().on_idle(now);
    }

    fn state(&self) -> State {
        match self.routers {
            Routers::Unknown | Routers::Present => self.guided.state(),
            Routers::Absent => self.reno.state(),
        }
    }
}
