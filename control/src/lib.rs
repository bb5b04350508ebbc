//! Congestion control algorithms, each beside its paper.
//!
//! What lives here: the three [roles] that a protocol is made of, one file per protocol, and the [registry] that
//! names them. What does not: sockets, clocks, random numbers, threads, and any knowledge of who calls. A host passes the
//! time in and carries the decisions out; the same controller runs in virtual time, in an emulator and under QUIC.
//!
//! Rules of the room: no allocation after a flow's start except where a message must be kept; no work proportional to the
//! window in any call; every equation carries its number in the paper or RFC; elementary functions come from `libm`, so that
//! a run gives the same bits on every machine. A new protocol is a new file and one line in [`registry::all`].

pub mod contract;
pub mod registry;
pub mod roles;
pub mod routers;
pub mod setting;
pub mod units;

pub mod aimd;
pub mod assisted;
pub mod bbr;
pub mod bic;
pub mod compound;
pub mod cubic;
pub mod fast;
pub mod highspeed;
pub mod htcp;
pub mod illinois;
pub mod pace;
pub mod rapid;
pub mod rcp;
pub mod rcp_ac;
pub mod reno;
pub mod rrrp;
pub mod scalable;
pub mod thalweg;
pub mod vegas;
pub mod westwood;
pub mod window;
pub mod xcp;

pub use registry::{Controller, Family, Protocol, Recovery};
pub use roles::{Ack, Conditions, Control, Loss, Next, Phase, Pipe, Receiver, Report, Router, Sender, Stamp, State};
pub use routers::{Port, Routing};
pub use setting::Setting;
pub use units::{Bytes, Duration, Rate, Time};
