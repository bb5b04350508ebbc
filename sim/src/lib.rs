//! A packet-level simulator: virtual time, hosts, traffic, recording.
//!
//! What lives here: the [agenda] of timed events, the [hosts](host) that own reliability (scoreboard, recovery, timers), the
//! routes through `path`'s links, [traffic], and the recorder. What does not: congestion control (`control` decides,
//! the hosts obey and never ask which protocol it is), queues and links (`path`), files, units in texts, and threads. A run
//! takes an [`Experiment`], plain data with every choice made, and gives an [`Outcome`].
//!
//! Rules of the room: a run is single-threaded and depends on nothing but its experiment, to the last bit. Per packet: no
//! allocation, one event per link, no work that grows with the window or with the number of flows but the agenda's logarithm.

mod acquire;
mod agenda;
mod build;
mod engine;
pub mod experiment;
mod flow;
pub mod host;
mod network;
pub mod outcome;
pub mod packet;
mod prefetch;
mod recorder;
pub mod traffic;

pub use acquire::{Acquire, spare_capacity};
pub use engine::run;
pub use experiment::{Buffer, Cross, Errors, Experiment, Flow, Link, Pattern, Reorder, Route, Router, Workload};
pub use outcome::{
    FlowOutcome, FlowSeries, LinkOutcome, LinkSeries, Outcome, Transfer, WorkloadOutcome, WorkloadSeries,
};
