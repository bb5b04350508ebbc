//! A packet-level simulator: virtual time, hosts, traffic, recording.
//!
//! What lives here: the [agenda] of timed events, the [hosts](host) that own reliability (scoreboard, recovery, timers), the
//! routes through `path`'s links, [traffic], and the recorder. What does not: congestion control (`control` decides,
//! the hosts obey and never ask which protocol it is), queues and links (`path`), files, units in texts, and threads. A run
//! takes an [`Experiment`](experiment::Experiment), plain data with every choice made, and gives an
//! [`Outcome`](experiment::Outcome).
//!
//! Rules of the room: a run is single-threaded and depends on nothing but its experiment, to the last bit. Per packet: no
//! allocation, one event per link, no work that grows with the window or with the number of flows but the agenda's logarithm.

#[cfg(test)]
mod contract_tests;
mod engine;
mod event_queue;
mod flow;
pub mod host;
mod network;
pub mod packet;
mod prefetch;
mod recorder;
mod traffic;

pub use engine::run;
