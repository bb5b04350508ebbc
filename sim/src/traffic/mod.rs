//! Traffic beside the experiment's flows: packets that do not react to congestion ([cross]), and the connections of a
//! workload ([connections]), each of which is a [conversation] of two hosts.

mod class;
pub mod connections;
mod conversation;
pub mod cross;
