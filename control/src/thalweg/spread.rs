//! The adaptive spread factor, m. (RAPID's is fixed.)
//!
//! A stream with a wide range of rates can find an available bandwidth far from its average rate, and the congestion
//! that it induces is visible even among the streams of many other flows. A stream with a narrow range disturbs other
//! traffic less, and its estimates are finer. So the range becomes narrower while the estimates lie within it, and wide
//! again as soon as an estimate reaches its edge.

use crate::units::Rate;

/// The spread factor of the streams to come.
#[derive(Clone, Debug)]
pub struct AdaptiveSpread {
    factor: f64,
    widest: f64,
    narrowest: f64,
    /// Factor on m - 1 for each estimate within the range.
    narrowing: f64,
}

/// An estimate above this share of a stream's highest rate is at the edge of its range.
const EDGE_SHARE: f64 = 0.97;

impl AdaptiveSpread {
    /// A factor between `widest`, at the start, and `narrowest`. Each estimate within the range multiplies its distance
    /// from 1 by `narrowing`.
    pub fn new(widest: f64, narrowest: f64, narrowing: f64) -> AdaptiveSpread {
        AdaptiveSpread { factor: widest, widest, narrowest, narrowing }
    }

    /// The factor for the next stream.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// An estimate came, while a stream probes from `low` to `high`.
    pub fn update(&mut self, estimate: Rate, (low, high): (Rate, Rate)) {
        self.factor = if estimate < low || estimate > high * EDGE_SHARE {
            self.widest
        } else {
            (1.0 + (self.factor - 1.0) * self.narrowing).max(self.narrowest)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_become_narrower_slowly_and_wide_at_once() {
        let mbps = Rate::from_mbps;
        let range = (mbps(50.0), mbps(200.0));
        let mut spread = AdaptiveSpread::new(1.03, 1.01, 0.99);
        for _ in 0..200 {
            spread.update(mbps(100.0), range);
        }
        assert_eq!(spread.factor(), 1.01);
        for edge in [40.0, 199.0] {
            spread.update(mbps(edge), range);
            assert_eq!(spread.factor(), 1.03);
            spread.update(mbps(100.0), range);
            assert!(spread.factor() < 1.03 && spread.factor() > 1.029);
        }
    }
}
