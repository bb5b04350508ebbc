//! Real time for what is about to be due: the emulator's packets and the pacer's.
//!
//! What lives here: the [clock](Clock) in the units of `control`; when a thread must stop [sleeping](Waking) to be there in time; how it
//! gets [before others](hurry), and how much it must [rest](Rest) then. What does not: packets.

mod clock;
#[cfg_attr(not(unix), path = "priority_none.rs")]
mod priority;
mod rest;
mod waking;

pub use clock::{Clock, from_std, to_std};
pub use priority::{hurry, wake_in_time};
pub use rest::Rest;
pub use waking::Waking;
