//! An acknowledgment, held back until quinn has told of the losses that it shows. Then all of it is passed on together,
//! so that nothing comes between.
//!
//! quinn tells its congestion controller of each packet that is acknowledged, then that the acknowledgment is complete,
//! and looks for losses after that. The senders' contract has the losses first. So an acknowledgment waits on the
//! thread of quinn's driver until the driver has looked: it does so before it reads the next acknowledgment, and before
//! it asks its [`Runtime`] for the time in order to send. All of this happens within one poll of the driver, and
//! therefore on one thread, whichever thread the runtime polls the driver on.

use crate::sending::{QuinnAckEnd, QuinnAcked, QuinnLoss, SendingFlow};
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime};
use std::cell::RefCell;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

/// What quinn has told of an acknowledgment so far.
#[derive(Default)]
struct HeldAck {
    /// Whose it is; none if none is held.
    flow: Option<Arc<SendingFlow>>,
    acked: Vec<QuinnAcked>,
    losses: Vec<QuinnLoss>,
    end: Option<QuinnAckEnd>,
}

thread_local! {
    static HELD: RefCell<HeldAck> = RefCell::default();
}

impl HeldAck {
    fn is_of(&self, flow: &Arc<SendingFlow>) -> bool {
        self.flow.as_ref().is_some_and(|held| Arc::ptr_eq(held, flow))
    }

    /// The acknowledgment of `flow` that quinn has not completed yet. Another one that is held is released first.
    fn unfinished(&mut self, flow: &Arc<SendingFlow>) -> &mut HeldAck {
        if self.end.is_some() || !self.is_of(flow) {
            self.release();
            self.flow = Some(flow.clone());
        }
        self
    }

    fn release(&mut self) {
        if let Some(flow) = self.flow.take() {
            flow.on_ack(&self.acked, &self.losses, self.end.take());
            self.acked.clear();
            self.losses.clear();
        }
    }
}

/// A packet of `flow` is acknowledged.
pub(crate) fn on_acked(flow: &Arc<SendingFlow>, acked: QuinnAcked) {
    HELD.with_borrow_mut(|held| held.unfinished(flow).acked.push(acked));
}

/// The acknowledgment of these packets is complete.
pub(crate) fn on_end(flow: &Arc<SendingFlow>, end: QuinnAckEnd) {
    HELD.with_borrow_mut(|held| held.unfinished(flow).end = Some(end));
}

/// Passes a loss on: with the acknowledgment that is held if that is the same flow's, otherwise at once.
pub(crate) fn on_lost(flow: &Arc<SendingFlow>, loss: QuinnLoss) {
    HELD.with_borrow_mut(|held| match held.is_of(flow) {
        true => held.losses.push(loss),
        false => flow.on_lost(loss),
    });
}

/// quinn has looked for losses: passes on what is held on this thread.
pub(crate) fn release() {
    HELD.with_borrow_mut(HeldAck::release);
}

/// A runtime whose clock quinn reads when it has handled what arrived, which releases the acknowledgment that is held.
#[derive(Debug)]
pub(crate) struct Releasing(pub(crate) Arc<dyn Runtime>);

impl Runtime for Releasing {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        self.0.new_timer(at)
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        self.0.spawn(future);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        self.0.wrap_udp_socket(socket)
    }

    fn now(&self) -> Instant {
        release();
        self.0.now()
    }
}
