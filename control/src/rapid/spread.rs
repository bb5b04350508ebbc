//! The spread factor m: fixed in the papers, adaptive in `thalweg`.
//!
//! A wide stream finds far-away rates and makes itself heard among many; a narrow one disturbs little and estimates finely.
//! So: narrow while the estimates lie within the stream's range, wide as soon as one reaches its edge.

use crate::units::Rate;

/// The spread factor of the streams to come.
#[derive(Clone, Debug)]
pub struct Spread {
    factor: f64,
    widest: f64,
    narrowest: f64,
    /// Factor on m - 1 per estimate within the range.
    narrowing: f64,
}

/// An estimate so close to the top rate, relative to it, is at the edge.
const EDGE: f64 = 0.97;

impl Spread {
    /// Always the same.
    pub fn fixed(factor: f64) -> Spread {
        Spread::adaptive(factor, factor, 1.0)
    }

    /// Between `widest`, at the start, and `narrowest`; each estimate within the range takes the share 1 - `narrowing` off
    /// its distance from 1.
    pub fn adaptive(widest: f64, narrowest: f64, narrowing: f64) -> Spread {
        Spread { factor: widest, widest, narrowest, narrowing }
    }

    /// The factor for the next stream.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// An estimate came, while streams probe from `low` to `high`.
    pub fn update(&mut self, estimate: Rate, (low, high): (Rate, Rate)) {
        self.factor = if estimate < low || estimate > high * EDGE {
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
    fn narrows_slowly_and_widens_at_once() {
        let mbps = Rate::from_mbps;
        let range = (mbps(50.0), mbps(200.0));
        let mut spread = Spread::adaptive(1.03, 1.01, 0.99);
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
