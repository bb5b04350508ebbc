//! The end of an acknowledgment, held back until quinn has told of the losses that the acknowledgment shows. Then
//! losses and end are passed on together, so that nothing comes between them.
//!
//! quinn tells its congestion controller that an acknowledgment is complete, and looks for losses after that. The
//! senders' contract has the other order. So the end of an acknowledgment waits on the thread of quinn's driver until
//! the driver has looked: it does so before it reads the next acknowledgment, and before it asks its [`Runtime`] for
//! the time in order to send.

use crate::sending::{QuinnAckEnd, QuinnLoss, SendingFlow};
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime};
use std::cell::RefCell;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

struct HeldAck {
    flow: Arc<SendingFlow>,
    losses: Vec<QuinnLoss>,
    end: QuinnAckEnd,
}

thread_local! {
    static HELD: RefCell<Option<HeldAck>> = const { RefCell::new(None) };
}

/// Holds the end of an acknowledgment for `flow` back.
pub(crate) fn hold(flow: Arc<SendingFlow>, end: QuinnAckEnd) {
    release();
    HELD.set(Some(HeldAck { flow, losses: Vec::new(), end }));
}

/// Passes a loss on: with the acknowledgment that is held if that is the same flow's, otherwise at once.
pub(crate) fn on_lost(flow: &Arc<SendingFlow>, loss: QuinnLoss) {
    HELD.with_borrow_mut(|held| match held {
        Some(ack) if Arc::ptr_eq(&ack.flow, flow) => ack.losses.push(loss),
        _ => flow.on_lost(loss),
    });
}

/// quinn has looked for losses: passes on what is held on this thread.
pub(crate) fn release() {
    if let Some(HeldAck { flow, losses, end }) = HELD.take() {
        flow.on_ack_end(&losses, end);
    }
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
