//! Congestion controllers of the QUIC library [quinn](https://docs.rs/quinn) in Thalweg, and Thalweg's in quinn.
//!
//! - [`simulated`] makes a controller that was written for quinn a [`Sender`](control::Sender), so that it runs in the
//!   simulator and in evaluations. quinn's own are `quinn-cubic`, `quinn-newreno` and `quinn-bbr`.
//! - `noq`, with the feature of this name, does the same for controllers of its fork noq, `noq-bbr3` and `noq-cubic`,
//!   and makes Thalweg's noq's, with those that set a rate.
//! - [`factory`](factory()) makes a window controller of Thalweg one that any quinn connection can use.

mod factory;
#[cfg(feature = "noq")]
pub mod noq;
pub mod simulated;

pub use factory::{Factory, FactoryError, Unsuitable, factory};
