//! The scenario that a command is given: a file, or a drawn path.

use crate::failure::Failure;
use lab::draw::{self, PathId};
use scenario::{Machine, Plan, Set, Shard};
use std::path::Path;

/// Plans the runs of `shard` of the scenario in `file`, in which `sets` replace values. The name `draw:17/203` stands
/// for a drawn path.
pub fn load(file: &Path, sets: &[Set], machine: &Machine, shard: Shard) -> Result<Plan, Failure> {
    match file.to_str().filter(|name| PathId::is_meant(name)) {
        None => Ok(scenario::load_shard(file, sets, machine, shard)?),
        Some(name) => {
            let id: PathId = name.parse().map_err(|why| Failure::Wrong(vec![why]))?;
            Ok(scenario::read_shard(name, &draw::path(id).scenario(), sets, machine, shard)?)
        }
    }
}
