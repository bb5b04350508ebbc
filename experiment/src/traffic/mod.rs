//! Connections that come and go: who opens one when and what each side sends ([arrivals]); single transfers and web sessions
//! ([sessions]); a mix like that of a campus link ([synthetic]); and the random numbers and size distributions that they draw
//! from ([random], [sizes]).

pub mod arrivals;
pub mod random;
pub mod sessions;
pub mod sizes;
pub mod synthetic;

pub use arrivals::{Arrivals, Connection, Message, Population, Side};
pub use random::{Random, Stream};
pub use sessions::{Sessions, Talk};
pub use sizes::Sizes;
pub use synthetic::Mix;
