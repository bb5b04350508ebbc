//! A packet-level simulator: virtual time, hosts, traffic, recording.
//!
//! What lives here: the [event queue](event_queue), the [hosts](host) that own reliability (scoreboard, recovery,
//! timers), the [network] that moves packets over the topology of `path`, [traffic], and the [recorder].
//! `host/source/losses.rs` is the place that tells a flow's controller of loss events and timeouts. What does not live
//! here: congestion control (`control` decides; the hosts obey and never ask which protocol it is), queues, links and
//! routes (`path`), files, units in texts, and threads. A run takes an [`Experiment`](experiment::Experiment), plain
//! data with every choice made, and gives an [`Outcome`](experiment::Outcome).
//!
//! Rules of the room: a run is single-threaded and depends on nothing but its experiment, to the last bit. Per packet
//! there is no allocation, at most one event per link (what is known ahead of its time is handled [`ahead`]), and no
//! work that grows with the window or the number of flows, except for the logarithmic cost of the event queue.

mod access_pairs;
mod ahead;
mod calendar;
#[cfg(test)]
mod contract_tests;
mod echo;
mod engine;
mod event_queue;
mod flow;
mod flow_environment;
pub mod host;
mod looks;
mod network;
mod occupied;
pub mod packet;
mod pages;
mod record;
mod recorder;
mod samples;
mod traffic;

pub use engine::{Simulation, named, run, run_with};
