//! The name of a shard's file, such as `shard-3-of-10.0123456789abcdef.parquet`.

use crate::code::CODE;
use scenario::{Plan, Shard};
use std::fmt;

/// How many digits of a hash name a plan.
const DIGITS: usize = 16;

/// Which shard of which plan a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub shard: Shard,
    /// A hash of the plan's values and of the code: the same for the same scenario and settings, in the same version of
    /// the program.
    pub plan: String,
}

impl Name {
    /// The name of the file of `shard` of `plan`.
    pub fn of(shard: Shard, plan: &Plan) -> Name {
        let hash = blake3::hash(format!("{CODE} {}", plan.values).as_bytes());
        Name { shard, plan: hash.to_hex()[..DIGITS].to_string() }
    }

    /// What the file called `name` holds; none if it is not the file of a shard.
    pub fn parse(name: &str) -> Option<Name> {
        let (numbers, plan) = name.strip_prefix("shard-")?.strip_suffix(".parquet")?.split_once('.')?;
        let (number, of) = numbers.split_once("-of-")?;
        let shard = Shard::new(number.parse().ok()?, of.parse().ok()?)?;
        let parsed = Name { shard, plan: plan.to_string() };
        let is_hash = plan.len() == DIGITS && plan.bytes().all(|it| it.is_ascii_hexdigit());
        // A number may have other forms, such as `03`. Those are not ours.
        (is_hash && parsed.to_string() == name).then_some(parsed)
    }

    /// Whether both are shards of the same plan, divided into the same number of shards.
    pub fn is_beside(&self, other: &Name) -> bool {
        self.plan == other.plan && self.shard.of() == other.shard.of()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard-{}-of-{}.{}.parquet", self.shard.number(), self.shard.of(), self.plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written_and_no_other_is() {
        let name = Name { shard: "3/10".parse().unwrap(), plan: "0123456789abcdef".into() };
        assert_eq!(Name::parse(&name.to_string()), Some(name));
        for other in [
            "summary.parquet",
            ".thalweg-Ab3d",
            "shard-3-of-10.parquet",
            "shard-03-of-10.0123456789abcdef.parquet",
            "shard-11-of-10.0123456789abcdef.parquet",
            "shard-3-of-10.0123456789abcdef.parquet.part",
            "shard-3-of-10.x.parquet",
        ] {
            assert_eq!(Name::parse(other), None, "{other}");
        }
    }
}
