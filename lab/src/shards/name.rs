//! The names of a shard's files: `shard-3-of-10.0123456789abcdef.parquet` has the metrics of its runs, and, with
//! `.flows.parquet` or `.links.parquet` at the end, such a file has their time series.

use super::refusal::Refusal;
use super::store::Store;
use crate::code::CODE;
use crate::results::SERIES;
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
    /// The name of the table of time series in the file; none for metrics.
    pub series: Option<&'static str>,
}

impl Name {
    /// The name of the file of the metrics of `shard` of `plan`.
    pub fn of(shard: Shard, plan: &Plan) -> Name {
        let hash = blake3::hash(format!("{CODE} {}", plan.values).as_bytes());
        Name { shard, plan: hash.to_hex()[..DIGITS].to_string(), series: None }
    }

    /// The name of the file of the same shard's time series in the table called `series`.
    pub fn with(&self, series: &'static str) -> Name {
        Name { series: Some(series), ..self.clone() }
    }

    /// What the file called `name` holds; none if it is not the file of a shard.
    pub fn parse(name: &str) -> Option<Name> {
        let (numbers, plan) = name.strip_prefix("shard-")?.strip_suffix(".parquet")?.split_once('.')?;
        let (number, of) = numbers.split_once("-of-")?;
        let shard = Shard::new(number.parse().ok()?, of.parse().ok()?)?;
        let (plan, series) = match plan.split_once('.') {
            Some((plan, name)) => (plan, Some(SERIES.iter().find(|series| series.name == name)?.name)),
            None => (plan, None),
        };
        let parsed = Name { shard, plan: plan.to_string(), series };
        let is_hash = plan.len() == DIGITS && plan.bytes().all(|it| it.is_ascii_hexdigit());
        // A number may have other forms, such as `03`. Those are not ours.
        (is_hash && parsed.to_string() == name).then_some(parsed)
    }

    /// The names of the shards' files in `store`.
    pub fn all_in(store: &Store) -> Result<Vec<Name>, Refusal> {
        Ok(store.names()?.iter().filter_map(|name| Name::parse(name)).collect())
    }

    /// Whether both are files of shards of the same plan, divided into the same number of shards.
    pub fn is_beside(&self, other: &Name) -> bool {
        self.plan == other.plan && self.shard.of() == other.shard.of()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard-{}-of-{}.{}", self.shard.number(), self.shard.of(), self.plan)?;
        match self.series {
            Some(series) => write!(f, ".{series}.parquet"),
            None => f.write_str(".parquet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_was_written_and_no_other_is() {
        let name = Name { shard: "3/10".parse().unwrap(), plan: "0123456789abcdef".into(), series: None };
        for name in [name.clone(), name.with("flows"), name.with("links")] {
            assert_eq!(Name::parse(&name.to_string()), Some(name));
        }
        for other in [
            "summary.parquet",
            "flows.parquet",
            "shard-3-of-10.0123456789abcdef.transfers.parquet",
            "shard-3-of-10.0123456789abcdef..parquet",
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
