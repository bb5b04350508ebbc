//! Congestion controllers of the QUIC library [quinn](https://docs.rs/quinn) in Thalweg.
//!
//! [`simulated`] makes a controller that was written for quinn a [`Sender`](control::Sender), so that it runs in the
//! simulator and in evaluations. quinn's own are `quinn-cubic`, `quinn-newreno` and `quinn-bbr`.

pub mod simulated;
