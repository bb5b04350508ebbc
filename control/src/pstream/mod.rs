//! The p-stream, on which RAPID and `thalweg` are built: a group of packets whose rates rise from packet to packet.
//! From their one-way delays, the receiver can tell at which rate a queue began to grow (self-induced congestion).
//!
//! The sender's parts: [`Stream`] lays out the rates, [`Outgoing`] sends a stream's packets at their times,
//! [`SlowStart`] says with which streams a flow begins, and [`Feedback`] keeps track of the estimates that come back.
//! The receiver's parts: [`Incoming`] collects the packets of a stream as [`Sample`]s, and an [`Estimator`] draws an
//! estimate of the available bandwidth from them. What a sender does with an estimate, and what losses mean, is each
//! protocol's own.
//!
//! **Indices.** The papers count a stream's packets from 1, and stamps, samples and this code from 0. The rate of a
//! packet is that of the gap *before* it: packet i leaves `P_i/r_i` after packet i - 1. RAPID-2009 calls the rate of
//! packet i `r_(i-1)`, and PACKET-SCALE-2017 calls it `r_i`. So the packet with index k has the rate `r_k` of 2009,
//! where `r_0 = r_avg`, and the rate `r_(k+1)` of 2017. Slow start of 2009 is an exception: by its table IV, all rates
//! of a stream rise from the first packet on, so that the packet with index k has the rate `r_(k+1)` there, too.

mod batches;
mod bunches;
mod bursts;
mod estimator;
mod excursions;
mod feedback;
mod holes;
mod incoming;
mod limits;
mod onset;
mod outgoing;
mod pathchirp;
mod regression;
mod sample;
mod slow_start;
mod stream;

pub use bunches::{Bunches, SMOOTHING};
pub use bursts::Bursts;
pub use estimator::{Analysis, Estimator, check_resolution};
pub use feedback::{Feedback, INITIAL_RTT, feedback_timeout};
pub use holes::{Hole, Holes};
pub use incoming::{Begins, Incoming, Received};
pub use limits::{HIGHEST_RATE, MIN_RATE_SHARE, at_most_highest};
pub use onset::onset;
pub use outgoing::Outgoing;
pub use pathchirp::pathchirp;
pub use sample::{Sample, highest_arrival};
pub use slow_start::SlowStart;
pub use stream::{Layout, Stream, check_range};
