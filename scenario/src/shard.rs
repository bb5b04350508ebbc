//! A share of a plan's runs, for machines that divide them.

use std::fmt;
use std::iter::StepBy;
use std::ops::Range;
use std::str::FromStr;

/// Shard K of N: the runs K, K + N, K + 2 N and so on of a plan, counted from 1. Displays and parses as `K/N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// K, from 1 to N.
    number: usize,
    /// N.
    of: usize,
}

impl Shard {
    /// All runs.
    pub const ALL: Shard = Shard { number: 1, of: 1 };

    /// Shard `number` of `of`; none if `number` is not from 1 to `of`.
    pub fn new(number: usize, of: usize) -> Option<Shard> {
        (1..=of).contains(&number).then_some(Shard { number, of })
    }

    /// K, from 1 to N.
    pub fn number(self) -> usize {
        self.number
    }

    /// N, the number of shards.
    pub fn of(self) -> usize {
        self.of
    }

    /// Which runs these are of a plan with this `total`, counted from 0.
    pub fn runs(self, total: usize) -> StepBy<Range<usize>> {
        (self.number - 1..total).step_by(self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        numbers
            .and_then(|(number, of)| Shard::new(number, of))
            .ok_or_else(|| format!("`{text}` is no shard; write K/N with K from 1 to N, like 3/10"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_in_one_shard() {
        for of in [1, 2, 3, 7, 20] {
            let mut all: Vec<usize> = (1..=of).flat_map(|number| Shard::new(number, of).unwrap().runs(10)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..10).collect::<Vec<_>>(), "{of}");
        }
        assert_eq!("2/3".parse::<Shard>().unwrap().runs(10).collect::<Vec<_>>(), [1, 4, 7]);
        assert_eq!(Shard::new(20, 20).unwrap().runs(10).len(), 0);
    }

    #[test]
    fn other_texts_are_no_shards() {
        assert_eq!("3/10".parse::<Shard>().unwrap().to_string(), "3/10");
        for text in ["", "3", "0/3", "4/3", "0/0", "1/0", "-1/3", "1/3/5", "a/b", "1/99999999999999999999"] {
            assert!(text.parse::<Shard>().unwrap_err().contains("write K/N"), "{text}");
        }
    }
}
