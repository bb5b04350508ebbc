//! Queues: which packets wait at a link, which is transmitted next, and which are dropped. The [registry] has all
//! disciplines.

mod buffer;
pub mod codel;
mod discipline;
pub mod droptail;
pub mod dualpi2;
pub mod fq_codel;
pub mod pie;
pub mod policer;
pub mod red;
pub mod registry;
mod ticks;

pub use buffer::Buffer;
pub use discipline::{Drops, Mistake, Queue, Queueing, Site};
pub use droptail::DropTail;
pub use registry::{QueueDiscipline, QueueSetup};
