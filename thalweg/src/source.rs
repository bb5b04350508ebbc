//! The scenario that a command is given: a file, or a drawn path.

use crate::failure::Failure;
use lab::draw::{self, PathId};
use scenario::{Machine, Plan, Set, Shard};
use std::path::Path;

/// Plans the runs of the scenario in `file`, in which `sets` replace values; those of `shard` alone if it is given. The
/// name `draw:17/203` stands for a drawn path.
pub fn load(file: &Path, sets: &[Set], machine: &Machine, shard: Option<Shard>) -> Result<Plan, Failure> {
    match file.to_str().filter(|name| PathId::is_meant(name)) {
        None => Ok(match shard {
            Some(shard) => scenario::load_shard(file, sets, machine, shard)?,
            None => scenario::load(file, sets, machine)?,
        }),
        Some(name) => {
            let id: PathId = name.parse().map_err(|why| Failure::Wrong(vec![why]))?;
            let text = draw::path(id).scenario();
            Ok(match shard {
                Some(shard) => scenario::read_shard(name, &text, sets, machine, shard)?,
                None => scenario::read(name, &text, sets, machine)?,
            })
        }
    }
}
