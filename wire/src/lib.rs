//! QUIC with the controllers of [`control`], unchanged, moving real bytes.
//!
//! What lives here: what [quinn] needs to run them. A UDP socket that sends each packet at the time its
//! [`Sender`](control::Sender) asks for, stamps it and reads the kernel's receive timestamps; the adaptor between quinn
//! and the [`host`]; the receivers' reports on their way back. What does not live here: streams, TLS, loss detection
//! and flow control, which are quinn's, and any algorithm. docs/wire.md describes the format of stamped datagrams, and
//! what is trusted.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use thalweg_wire::{Choice, Endpoint, Identity, server_tls};
//!
//! let choice = Choice::new("thalweg", &serde_json::Map::new())?;
//! let identity = Identity::new()?;
//! let fingerprint = identity.fingerprint();
//! let tls = server_tls(identity, None, b"example")?;
//! let server = Endpoint::builder(choice.clone()).accept(tls).bind("127.0.0.1:4433".parse()?)?;
//! let serve = tokio::spawn(async move {
//!     let connection = server.accept().await.expect("the endpoint is open").finish().await?;
//!     connection.accept_uni().await?.read_to_end(1 << 20).await.map_err(std::io::Error::other)
//! });
//! let client = Endpoint::builder(choice).bind("127.0.0.1:0".parse()?)?;
//! let connection = client.connect_pinned("127.0.0.1:4433".parse()?, fingerprint, b"example").await?;
//! let mut stream = connection.open_uni().await?;
//! stream.write_all(b"hello").await?;
//! stream.finish()?;
//! assert_eq!(serve.await??, b"hello");
//! # Ok(())
//! # }
//! ```
//!
//! [`Builder`] has the other choices: the caller's socket, transport settings and runtime.
//!
//! Features, off by default: `bench` adds a measurement of how exactly packets leave on this machine; `fuzzing` shows
//! the fuzz targets what they call.
//!
//! Rules of the room: nothing that arrives outside of the authenticated connection decides anything; no clock but the
//! endpoint's; the threads that send, the pacer's and those of quinn's drivers, decide nothing.

mod ack_frame;
mod ack_watch;
mod adaptor;
mod answers;
mod arrivals;
mod batch;
#[cfg(any(test, feature = "bench"))]
pub mod bench;
mod builder;
mod choice;
mod connection;
mod datagram;
mod endpoint;
mod error;
mod handover;
mod held_ack;
mod identity;
mod message;
mod negotiation;
mod pacer;
#[cfg(any(test, feature = "bench"))]
pub mod quantum;
#[cfg_attr(not(target_os = "linux"), path = "receive_portable.rs")]
mod receive;
mod receiving;
mod replays;
mod reset_secret;
mod segments;
mod send_queue;
mod sending;
mod socket;
mod stamping;
mod tag;
mod timer_queue;
mod tls;
mod transport;

#[cfg(test)]
mod contract_tests;
#[cfg(test)]
extern crate self as wire;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod test_ends;

pub use builder::Builder;
pub use choice::Choice;
pub use connection::Connection;
pub use datagram::PACKET;
pub use endpoint::{Endpoint, Incoming};
pub use error::{ChoiceError, ConnectError, EndpointError, FingerprintError, IdentityError};
pub use header;
pub use host::EcnState;
pub use identity::{Fingerprint, Identity};
pub use negotiation::Stamps;
pub use tls::{client_tls, server_tls};
pub use transport::default_transport;

/// What reads bytes from outside, for the fuzz targets. No part of the interface.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::ack_frame::{AckFrame, read as read_ack_frame};
    pub use crate::message::Message;
    pub use crate::negotiation::receiver;
    pub use crate::replays::Replays;
    pub use crate::tag::{Key, verify, write};
}
