//! The path in real time: real packets through the links, queues and routers of `path`.
//!
//! What lives here: the [emulator](run), which moves packets along by the clock; two places for it to stand: a UDP [relay], and a
//! [tunnel] between the host and a network [namespace] of a command's own; and what it [records](record), its own error with it. What
//! does not: scenarios, files, terminals and signals.
//!
//! Rules of the room: one thread; no allocation per packet; a packet's place in time is computed by `path` from when it
//! arrived, so that being woken late makes it leave late, and is counted, but never shifts those behind it.

mod crossing;
mod engine;
mod handle;
mod histogram;
pub mod namespace;
mod path;
mod pool;
pub mod record;
pub mod relay;
pub mod tunnel;
mod udp;

pub use engine::{Ends, Progress, Received, run};
pub use handle::{Direction, Handle};
pub use histogram::Histogram;
pub use path::Path;
pub use record::{Record, Sample, Totals};
