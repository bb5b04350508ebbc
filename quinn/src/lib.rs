//! Congestion controllers of the QUIC library [quinn](https://docs.rs/quinn) in Thalweg, and Thalweg's in quinn.
//!
//! - [`simulated`] makes a controller that was written for quinn a [`Sender`](control::Sender), so that it runs in the
//!   simulator and in evaluations. quinn's own are `quinn-cubic`, `quinn-newreno` and `quinn-bbr`.
//! - [`factory`](factory()) makes a window controller of Thalweg one that any quinn connection can use.

mod factory;
pub mod simulated;

pub use factory::{Factory, FactoryError, Unsuitable, factory};
