//! The two hosts of a flow: the sending [`Source`] and the receiving [`Sink`].

pub mod interface;
pub mod rack;
pub mod round_trips;
pub mod rto;
pub mod scoreboard;
mod short_queue;
pub mod sink;
pub mod source;

pub use interface::Interface;
pub use sink::{Answer, Sink};
pub use source::{Environment, Setup, Source};
