//! Congestion control algorithms, each beside its paper.
//!
//! The crate contains the three [roles] that a protocol is made of, one file or folder per protocol, and above them the
//! [registry] that lists the protocols by name. It contains no sockets, clocks, random numbers or threads, and nothing
//! that knows who calls. A host passes the time in and carries the decisions out, so that the same controller runs in
//! virtual time, in an emulator and under QUIC.
//!
//! Rules for every protocol: it allocates no memory after a flow's start, except where a message must be kept; no call
//! does work proportional to the window; every equation carries its number in the paper or RFC; elementary functions
//! come from `libm`, so that a run gives the same bits on every machine. How to add a protocol is described in
//! CONTRIBUTING.md.
//!
//! # Features
//!
//! Without features, the crate is `no_std` with `alloc`: a program builds a protocol from its parameters, like
//! `Cubic::default().sender(&Conditions::exact(packet))`.
//! - `serde`: parameters, rates, sizes and times can be serialized and deserialized.
//! - `registry` (needs the standard library, and enables `serde`): all controllers and router protocols by name, with
//!   their defaults and JSON Schemas.

#![cfg_attr(not(any(test, feature = "registry")), no_std)]

extern crate alloc;

pub mod contract;
pub mod parameters;
pub mod protocol;
#[cfg(feature = "registry")]
pub mod registry;
pub mod roles;
pub mod routing;
pub mod setting;
pub mod units;

pub mod aimd;
pub mod assisted;
pub mod bbr;
pub mod bbr1;
pub mod bic;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod dctcp;
mod delivery_rate;
mod draw;
pub mod extensions;
pub mod fast;
pub mod highspeed;
pub mod htcp;
pub mod hybrid;
pub mod illinois;
mod least_rtt;
pub mod ledbat;
mod max_filter;
mod monitor;
pub mod pace;
pub mod prague;
mod prr;
pub mod pstream;
pub mod rapid;
pub mod rcp;
pub mod rcp_ac;
mod recent;
pub mod reno;
mod rounds;
pub mod rrrp;
mod rtt;
pub mod scalable;
pub mod slow_start;
mod standard;
pub mod thalweg;
mod undo;
pub mod vegas;
pub mod vivace;
pub mod westwood;
pub mod window;
pub mod xcp;

pub use protocol::{EcnSupport, Protocol, Recovery};
#[cfg(feature = "registry")]
pub use registry::{Controller, Family, routers};
pub use roles::{Ack, Conditions, Control, Loss, Next, Phase, Pipe, Receiver, Report, Router, Sender, Stamp, State};
pub use routing::{Port, Routing};
pub use setting::Setting;
pub use units::{Bytes, Duration, Rate, Time};
