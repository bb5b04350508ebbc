//! What the simulator and the controllers must show, each test a claim with its figures: `cargo test --release -p
//! thalweg-lab --test claims -- --nocapture`. One binary, because linking one takes longer than most of its tests.

mod bbr;
mod cellular;
mod delay;
mod errors;
mod hybrid;
mod laws;
mod links;
mod liveness;
mod many_flows;
mod noise;
mod profiles;
mod queues;
mod rapid;
mod recovery;
mod reproduce;
mod response;
mod routers;
mod rrrp;
mod short_buffers;
mod simulate;
#[allow(dead_code)]
#[path = "../../../control/tests/toy/mod.rs"]
mod toy;
mod traffic;
