//! A connection: quinn's, and the controller of what is sent over it.

use crate::choice::Choice;
use crate::datagram::PACKET;
use crate::negotiation::{Negotiation, Stamps};
use crate::sending::SendingFlow;
use crate::socket::Socket;
use crate::transport::knows_stamps;
use control::State;
use host::EcnState;
use quinn::crypto::rustls::HandshakeData;
use quinn::{Runtime, VarInt};
use std::ops::Deref;
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// A connection: quinn's, of which only the QUIC datagrams are taken, and a controller.
#[derive(Clone)]
pub struct Connection {
    quinn: quinn::Connection,
    controller: &'static str,
    flow: Arc<SendingFlow>,
    stamps: watch::Receiver<Stamps>,
    /// Notified when the peer's stamps may be granted.
    allowed: Arc<Notify>,
}

impl Connection {
    /// The handshake is over: begins to negotiate stamps, in the background, if the peer knows them.
    pub(crate) fn new(
        quinn: quinn::Connection,
        flow: Arc<SendingFlow>,
        socket: &Arc<Socket>,
        choice: &Choice,
        runtime: &dyn Runtime,
    ) -> Connection {
        let protocol = quinn.handshake_data().and_then(|data| data.downcast::<HandshakeData>().ok()?.protocol);
        let known = protocol.is_some_and(|name| knows_stamps(&name)) && quinn.max_datagram_size().is_some();
        let begin = match (choice.needs_stamps(), known) {
            (false, _) => Stamps::Unneeded,
            (true, true) => Stamps::Asked,
            (true, false) => Stamps::Refused,
        };
        if begin == Stamps::Refused {
            flow.on_refused();
        }
        let (news, stamps) = watch::channel(begin);
        let allowed = Arc::new(Notify::new());
        if known {
            let negotiation = Negotiation {
                connection: quinn.clone(),
                flow: flow.clone(),
                socket: socket.clone(),
                choice: choice.clone(),
                packet: PACKET,
                stamps: news,
                allowed: allowed.clone(),
            };
            runtime.spawn(Box::pin(negotiation.run()));
        }
        Connection { quinn, controller: choice.name(), flow, stamps, allowed }
    }

    /// The name of the controller that was chosen for what is sent here.
    pub fn controller(&self) -> &'static str {
        self.controller
    }

    /// What the controller is doing.
    pub fn state(&self) -> State {
        self.flow.state()
    }

    /// Smoothed round-trip time of what is sent here, counted from when packets really left; none before the first
    /// acknowledgment. quinn's own counts the time in the queue of the flow, too.
    pub fn rtt(&self) -> Option<control::Duration> {
        self.flow.rtt()
    }

    /// Whether packets sent here are ECN-capable, if the controller was chosen so ([`Choice::with_ecn`]).
    pub fn ecn(&self) -> EcnState {
        self.flow.ecn_state()
    }

    /// Whether packets sent here carry stamps, and so whether the chosen controller decides when they leave.
    pub fn stamps(&self) -> Stamps {
        match *self.stamps.borrow() {
            Stamps::On if !self.flow.is_stamped() => Stamps::Blocked,
            Stamps::On if self.flow.is_unanswered() => Stamps::Unanswered,
            stamps => stamps,
        }
    }

    /// From now on, the peer's packets may carry stamps, if it has asked for that or will. Needed only if the endpoint
    /// was made with [`Builder::hold_grants`](crate::Builder::hold_grants).
    pub fn grant_stamps(&self) {
        self.allowed.notify_one();
    }

    /// Closes the connection with an error code of the application, as quinn's does, whatever the congestion window
    /// holds back.
    pub fn close(&self, code: VarInt, reason: &[u8]) {
        self.flow.close();
        self.quinn.close(code, reason);
    }

    /// Waits until the peer has granted or refused stamps, which takes a round trip. Whether routers answer them shows
    /// only when data is sent.
    pub async fn settled(&self) -> Stamps {
        let mut stamps = self.stamps.clone();
        // If the negotiation has ended, its last word holds.
        let _ = stamps.wait_for(|stamps| *stamps != Stamps::Asked).await;
        self.stamps()
    }
}

impl Deref for Connection {
    type Target = quinn::Connection;

    fn deref(&self) -> &quinn::Connection {
        &self.quinn
    }
}
