//! The values of a scenario that have a notation of their own: what users write, and what it means.

pub mod buffer;
pub mod offered_load;
pub mod packet_error;
pub mod size;
pub mod time_range;
