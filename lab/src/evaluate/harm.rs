//! Harm to others (Ware et al., "Beyond Jain's Fairness Index", HotNets 2019): the part of what they have beside the
//! baseline that they lose when the subject takes its place.

use super::block::Better;
use serde::Serialize;

/// The harm that a row shows, as shares: 1 is all that others have beside the baseline, and less than 0 is a gain.
/// Where less is better, as for delays and losses, 1 is twice what they have beside the baseline, and there is no
/// bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Harm {
    /// Over all cases.
    pub mean: f64,
    /// The interval of the row's difference, as harm: from the least to the greatest.
    pub interval: [f64; 2],
    /// In each case; none where others have nothing beside the baseline.
    pub cases: Vec<Option<f64>>,
}

impl Harm {
    /// From what others have beside the subject, as a share of what they have beside the baseline: over all cases, the
    /// two ends of its interval, and in each case. None if they have nothing beside the baseline.
    pub(super) fn of(better: Better, mean: f64, ends: [f64; 2], cases: impl Iterator<Item = f64>) -> Option<Harm> {
        let harm = |share: f64| match better {
            Better::More => 1.0 - share,
            Better::Less => share - 1.0,
        };
        let [one, other] = ends.map(harm);
        let cases = cases.map(harm).map(|harm| harm.is_finite().then_some(harm)).collect();
        let all = Harm { mean: harm(mean), interval: [one.min(other), one.max(other)], cases };
        (all.mean.is_finite() && all.interval.iter().all(|end| end.is_finite())).then_some(all)
    }
}
