//! Random early detection: the longer the queue has been on average, the more packets are dropped (S. Floyd, V.
//! Jacobson, "Random Early Detection Gateways for Congestion Avoidance", ToN 1993; figure 2 has the algorithm), with
//! the gentle slope above the upper threshold (S. Floyd, "Recommendation on using the `gentle_` variant of RED", 2000),
//! and on request adaptive (S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED", 2001).

mod parameters;
mod red_queue;
mod settings;

pub use parameters::{AdaptiveParameters, Parameters};
pub use red_queue::Red;
pub use settings::{Adaptation, Settings};
