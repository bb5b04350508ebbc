//! What is sent through the network beside the experiment's flows: packets that nobody answers ([cross]), connections that
//! come and go ([arrivals], `connections`, `conversation`) as single transfers or web sessions ([sessions]) or as a mix that looks like a
//! campus link's ([synthetic]), and the randomness of it all ([random], [sizes]).

pub mod arrivals;
pub(crate) mod connections;
mod conversation;
pub mod cross;
pub mod random;
pub mod sessions;
pub mod sizes;
pub mod synthetic;

pub use arrivals::{Arrivals, Connection, Message, Population, Side};
pub use random::{Random, Stream};
pub use sessions::{Sessions, Talk};
pub use sizes::Sizes;
pub use synthetic::Mix;
