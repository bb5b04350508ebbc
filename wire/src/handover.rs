//! Whose packet the socket is given. quinn builds a packet, asks the connection's poller whether there is room and
//! hands the packet to the endpoint's socket, all in one go on one thread, but it tells neither poller nor socket which
//! connection the packet belongs to.

use crate::sending::SendingFlow;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static BUILT: RefCell<Option<Arc<SendingFlow>>> = const { RefCell::new(None) };
}

/// The packet that quinn hands over next on this thread belongs to `flow`.
pub(crate) fn announce(flow: Arc<SendingFlow>) {
    BUILT.set(Some(flow));
}

/// The flow that was announced on this thread, if one was since the last call.
pub(crate) fn take() -> Option<Arc<SendingFlow>> {
    BUILT.take()
}
