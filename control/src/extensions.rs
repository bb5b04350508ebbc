//! What a window protocol may do beyond RFC 5681 and its window growth rule: a slow start that ends before the queue
//! overflows ([`slow_start`](crate::slow_start)), a reduction in proportion to what arrives (RFC 9937), and reductions
//! that are undone if nothing was lost (RFC 9438, section 4.9).

use crate::prr::Prr;
use crate::roles::{Ack, Conditions, Loss};
use crate::slow_start::{SlowStart, Watch};
use crate::undo::Undo;
use crate::units::{Bytes, Time};

/// Which extensions a window protocol has. By default it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions {
    /// How slow start ends.
    pub slow_start: SlowStart,
    /// The host spaces packets over the round-trip time, which changes what HyStart takes for a sign of a queue.
    pub paced: bool,
    /// In recovery, the window falls in proportion to what arrives (RFC 9937), and not at once.
    pub prr: bool,
    /// A loss event is undone if all packets that were declared lost arrive after all (RFC 9438, section 4.9.2).
    pub undo: bool,
    /// A timeout is undone if F-RTO (RFC 5682) finds it spurious (RFC 9438, section 4.9.1).
    pub frto: bool,
}

impl Extensions {
    /// No extension but this end of slow start, on such a host.
    pub fn of(slow_start: SlowStart, host: &Conditions) -> Extensions {
        Extensions { slow_start, paced: host.paced, ..Extensions::default() }
    }
}

/// The state of a sender's extensions.
#[derive(Clone, Debug)]
pub(crate) struct Extended {
    extensions: Extensions,
    /// What watches slow start for its end.
    watch: Watch,
    /// By how many packets the window grows for each acknowledged packet in slow start, as a share of the rule's, 0 to
    /// 1.
    pub slow_growth: f64,
    /// The reduction in progress.
    prr: Option<Prr>,
    /// The loss event that is being repaired, if it may prove spurious.
    undo: Option<Undo>,
    /// Whether the loss event that is being repaired was undone.
    undone: bool,
    /// The state before the last timeout, or before the first of several in a row.
    before_timeout: Option<BeforeTimeout>,
}

/// What a timeout changes, as it was before.
#[derive(Clone, Debug)]
struct BeforeTimeout {
    /// Window and ssthresh, packets.
    cwnd: f64,
    ssthresh: f64,
    /// What watched slow start.
    watch: Watch,
}

/// What an acknowledgment in recovery does to the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Repair {
    /// Nothing.
    Keep,
    /// It has this size from now on, in packets.
    Window(f64),
    /// Nothing was lost: window and ssthresh, in packets, are again what they were before.
    Undo { cwnd: f64, ssthresh: f64 },
    /// A loss event was undone, and now packets of the same window of data prove to be lost. The host tells of no
    /// second loss event then.
    Lose,
}

impl Extended {
    /// The state at the flow's start; none without extensions.
    pub fn new(extensions: Extensions) -> Option<Extended> {
        let watch = Watch::new(extensions.slow_start, extensions.paced);
        let extended = Extended {
            extensions,
            watch,
            slow_growth: 1.0,
            prr: None,
            undo: None,
            undone: false,
            before_timeout: None,
        };
        (extensions != Extensions { paced: extensions.paced, ..Extensions::default() }).then_some(extended)
    }

    /// Whether timeouts are undone that F-RTO finds spurious.
    pub fn has_frto(&self) -> bool {
        self.extensions.frto
    }

    /// A packet of `size` is sent; a full one has `packet` bytes.
    #[cold]
    pub fn on_send(&mut self, size: Bytes, packet: Bytes) {
        if let Some(prr) = &mut self.prr {
            prr.on_send(size.0 as f64 / packet.0 as f64);
        }
    }

    /// An acknowledgment arrives in slow start, at a window of `w` packets, which have `packet` bytes. Returns whether
    /// that ends slow start.
    pub fn ends_slow_start(&mut self, now: Time, ack: &Ack, w: f64, packet: Bytes) -> bool {
        let growth = ack.rtt.map_or(Some(1.0), |rtt| self.watch.on_ack(now, rtt, ack, w, packet));
        self.slow_growth = growth.unwrap_or(self.slow_growth);
        growth.is_none()
    }

    /// Whether there were signs of a queue in this slow start, which slow it down.
    pub fn has_seen_queue(&self) -> bool {
        self.watch.has_seen_queue()
    }

    /// An acknowledgment arrives in recovery. `ssthresh` is in packets, which have `packet` bytes.
    pub fn on_ack_in_recovery(&mut self, now: Time, ack: &Ack, ssthresh: f64, packet: Bytes) -> Repair {
        if self.undone && ack.lost.0 > 0 {
            return Repair::Lose;
        }
        let is_spurious = self.undo.as_mut().is_some_and(|undo| undo.on_ack(ack));
        let repair = match (self.undo, &mut self.prr) {
            (Some(undo), _) if is_spurious => Repair::Undo { cwnd: undo.cwnd, ssthresh: undo.ssthresh },
            (_, Some(prr)) if ack.recovery => Repair::Window(prr.on_ack(now, ack, packet)),
            (_, Some(_)) => Repair::Window(ssthresh),
            (_, None) => Repair::Keep,
        };
        if is_spurious {
            self.watch.go_on();
        }
        if is_spurious || !ack.recovery {
            (self.prr, self.undo) = (None, None);
            self.undone = is_spurious && ack.recovery;
        }
        repair
    }

    /// The last timeout was spurious: window and ssthresh, in packets, are again what they were before.
    pub fn undo_timeout(&mut self) -> Option<(f64, f64)> {
        let BeforeTimeout { cwnd, ssthresh, watch } = self.before_timeout.take()?;
        self.watch = watch;
        self.watch.go_on();
        Some((cwnd, ssthresh))
    }

    /// A loss event or a timeout comes, at this window and ssthresh in packets; `again` is for a timeout after which
    /// nothing was acknowledged before this one. Returns whether the window growth rule is to remember its state, as
    /// the loss may prove spurious.
    pub fn before_loss(&mut self, loss: &Loss, again: bool, cwnd: f64, ssthresh: f64) -> bool {
        (self.prr, self.undone) = (None, false);
        match loss {
            Loss::Timeout => {
                (self.undo, self.slow_growth) = (None, 1.0);
                let is_first = self.extensions.frto && !again;
                if is_first {
                    self.before_timeout = Some(BeforeTimeout { cwnd, ssthresh, watch: self.watch.clone() });
                }
                self.watch.restart();
                is_first
            }
            Loss::Event => {
                self.before_timeout = None;
                // A further loss event before the first is repaired is undone with it or not at all.
                let is_first = self.extensions.undo && self.undo.is_none();
                if is_first {
                    self.undo = Some(Undo::new(cwnd, ssthresh));
                }
                is_first
            }
        }
    }

    /// The window begins again after an idle period or after another protocol, in slow start up to `ssthresh` packets.
    pub fn begin_again(&mut self, ssthresh: f64) {
        (self.prr, self.undo, self.undone, self.slow_growth) = (None, None, false, 1.0);
        // A first slow start that nothing has stopped yet goes on.
        if ssthresh.is_finite() {
            self.watch.restart();
        }
    }

    /// The loss event that has come is to reduce the window to `ssthresh` packets.
    pub fn after_loss_event(&mut self, now: Time, ssthresh: f64) {
        self.prr = self.extensions.prr.then(|| Prr::new(now, ssthresh));
    }
}
