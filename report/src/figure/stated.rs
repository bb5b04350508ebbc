//! What a paper says, as a mark in a figure.

use serde::{Deserialize, Serialize};

/// A value that the paper gives, or the two ends of a range, over the lines of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// Index of the legend entry whose line it is said of; none: of several, in the neutral colour.
    pub entry: Option<usize>,
    /// The least and the largest value; the same for one value.
    pub values: [f64; 2],
    /// Where on the horizontal axis its marker stands.
    pub at: f64,
    /// From where to where it is said, drawn as a level; the same for one place.
    pub along: [f64; 2],
}

impl Stated {
    /// One value at one place.
    pub fn point(entry: Option<usize>, at: f64, value: f64) -> Stated {
        Stated { entry, values: [value, value], at, along: [at, at] }
    }

    /// Whether it is a range of values.
    pub fn is_range(&self) -> bool {
        self.values[0] < self.values[1]
    }
}

/// `stated` so that all markers are seen: those on the same level stand side by side, and those at the same place are
/// one, in the neutral colour.
pub fn apart(stated: Vec<Stated>) -> Vec<Stated> {
    let mut kept: Vec<Stated> = Vec::new();
    for one in stated {
        let same = |it: &&mut Stated| it.along == one.along && it.values == one.values;
        match kept.iter_mut().find(same) {
            Some(it) if it.along[0] == it.along[1] || it.entry == one.entry => {
                it.entry = it.entry.filter(|entry| Some(*entry) == one.entry);
            }
            _ => kept.push(one),
        }
    }
    let levels = kept.clone();
    for (i, one) in kept.iter_mut().enumerate() {
        let same = |it: &&Stated| it.along == one.along && it.values == one.values;
        let (before, all) = (levels[..i].iter().filter(same).count(), levels.iter().filter(same).count());
        let [from, to] = one.along;
        one.at = from + (to - from) * (before + 1) as f64 / (all + 1) as f64;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_marker_hides_another() {
        let level = |entry| Stated { entry: Some(entry), values: [97.0, 97.0], at: 0.0, along: [60.0, 120.0] };
        let marks = apart(vec![level(0), level(1), Stated::point(Some(0), 5.0, 1.0), Stated::point(Some(1), 5.0, 1.0)]);
        let places: Vec<(Option<usize>, f64)> = marks.iter().map(|it| (it.entry, it.at)).collect();
        assert_eq!(places, [(Some(0), 80.0), (Some(1), 100.0), (None, 5.0)]);
    }
}
