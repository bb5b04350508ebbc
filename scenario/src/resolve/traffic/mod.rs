//! `[[traffic]]`: packets that do not react to congestion ([`cross()`]), and connections that come and go
//! ([`workloads()`]).

mod cross;
mod placement;
mod sessions;
mod source;
mod table;
mod tmix;
mod video;
mod workloads;

pub(super) use cross::cross;
pub(super) use source::Expected;
pub(super) use workloads::{PlannedWorkload, compares, workloads};
