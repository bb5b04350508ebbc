//! Connections that come and go: when they begin and what each side sends ([arrivals]); single transfers and sessions
//! of applications ([sessions]), of which players of video decide as they go what they ask for ([video], [bitrate]); a
//! mix like that on the link of a campus ([synthetic]); and the random numbers and distributions of sizes that these
//! use ([random], [sizes]).

pub mod arrivals;
pub mod bitrate;
pub mod random;
pub mod sessions;
pub mod sizes;
pub mod synthetic;
pub mod video;

pub use arrivals::{Arrivals, Connection, Message, Population, Side};
pub use bitrate::BitrateRule;
pub use random::{Random, Stream};
pub use sessions::{Sessions, Talk};
pub use sizes::Sizes;
pub use synthetic::Mix;
pub use video::{Player, Request, Video};
