//! The path in real time: real packets through the links, queues and routers of `path`.
//!
//! What lives here: the [emulator](run), which moves packets over an [`EmulatedPath`] as time passes; two kinds of ends
//! for it: a UDP [relay], and a [tunnel] between the host and a network [namespace] of a command; and what it
//! [records](record), including its own error. What does not: scenarios, files, terminals and signals.
//!
//! Rules of the room: one thread; no allocation per packet; `path` computes the times of a packet from its arrival. If
//! the emulator wakes up late, the packet leaves late, which is counted, but later packets are not delayed.

mod crossing;
mod departures;
mod emulated_path;
mod ends;
mod engine;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handle;
mod histogram;
mod ip;
mod load;
pub mod namespace;
mod pool;
pub mod record;
pub mod relay;
pub mod tunnel;
mod udp;

pub use emulated_path::EmulatedPath;
pub use ends::{Ends, Received, Sides};
pub use engine::{Progress, QUANTUM, run};
pub use handle::{Direction, Handle};
pub use histogram::Histogram;
pub use record::{Record, Sample, Totals};
