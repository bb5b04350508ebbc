//! Real time for threads that must act at exact times: the emulator's and the pacer's.
//!
//! What lives here: the [clock](Clock) in the units of `control`; when a thread must stop [sleeping](Waking) to act in
//! time; how it is [scheduled before others](hurry), and how much it must [rest](Rest) then. What does not live here:
//! packets.

mod clock;
#[cfg_attr(not(unix), path = "priority_unsupported.rs")]
mod priority;
mod rest;
mod waking;

pub use clock::{Clock, from_std, to_std};
pub use priority::{hurry, wake_in_time};
pub use rest::Rest;
pub use waking::Waking;
