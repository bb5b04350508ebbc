//! QUIC with the controllers of [`control`], unchanged, moving real bytes.
//!
//! What lives here: what quinn needs to run them. A UDP socket that sends each packet at the time its [`control::Sender`] asks
//! for, stamps it and reads the kernel's receive timestamps; the adaptor that tells a sender what quinn observes; the reports
//! on their way back. What does not: streams, TLS, loss recovery and flow control, which are quinn's, nor any algorithm.
//! docs/wire.md has the format of stamped datagrams, and what is trusted.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use wire::{Choice, Endpoint, Identity, server_tls};
//! let choice = Choice::new("thalweg", &serde_json::Map::new())?;
//! let identity = Identity::new()?;
//! let fingerprint = identity.fingerprint();
//! let server = Endpoint::server("127.0.0.1:4433".parse()?, choice.clone(), server_tls(identity, None, b"example")?)?;
//! let serve = tokio::spawn(async move {
//!     let connection = server.accept().await.expect("open").finish().await?;
//!     connection.accept_uni().await?.read_to_end(1 << 20).await.map_err(std::io::Error::other)
//! });
//! let client = Endpoint::client("127.0.0.1:0".parse()?, choice)?;
//! let connection = client.connect_pinned("127.0.0.1:4433".parse()?, fingerprint, b"example").await?;
//! let mut stream = connection.open_uni().await?;
//! stream.write_all(b"hello").await?;
//! stream.finish()?;
//! assert_eq!(serve.await??, b"hello");
//! # Ok(())
//! # }
//! ```
//!
//! Rules of the room: nothing that arrives outside of the authenticated connection decides anything; no clock but the
//! endpoint's; one thread sends, and it owns no policy.

mod adaptor;
mod arrivals;
mod batch;
pub mod bench;
mod choice;
mod confirmed;
mod datagram;
mod endpoint;
mod flow;
mod identity;
mod lasting;
#[cfg_attr(not(target_os = "linux"), path = "launch_never.rs")]
mod launch;
mod message;
#[cfg(target_os = "linux")]
mod netlink;
mod owed;
mod pacer;
mod pacing;
mod passage;
#[cfg_attr(not(target_os = "linux"), path = "receive_late.rs")]
mod receive;
pub mod replays;
mod silence;
mod socket;
mod stamping;
pub mod tag;
mod talk;

pub use choice::Choice;
pub use endpoint::{ConnectError, Connection, Endpoint, Incoming, PACKET, client_tls, server_tls};
pub use header;
pub use identity::{Fingerprint, Identity};
pub use pacing::Pacing;
pub use talk::Stamps;

/// Where the arrival times of packets come from.
pub const TIMESTAMPS: &str =
    if cfg!(target_os = "linux") { "the kernel (SO_TIMESTAMPNS)" } else { "the clock, when a datagram is read" };
