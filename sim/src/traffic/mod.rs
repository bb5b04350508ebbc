//! What is sent through the network: packets that nobody answers ([cross]), and the randomness of it all ([random]).

pub mod cross;
pub mod random;

pub use random::Random;
