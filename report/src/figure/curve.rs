//! The values of one line.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One value per bin of time or per place on a figure's own axis; NaN where there is no value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve(pub Vec<f64>);

impl Curve {
    /// For each bin, `value` of the values that `curves` have there, NaN left out; NaN if no curve has one.
    pub fn across(curves: &[Curve], mut value: impl FnMut(&mut [f64]) -> f64) -> Curve {
        let bins = curves.iter().map(|curve| curve.0.len()).max().unwrap_or(0);
        let mut column = Vec::with_capacity(curves.len());
        Curve(
            (0..bins)
                .map(|i| {
                    column.clear();
                    column.extend(curves.iter().filter_map(|curve| curve.0.get(i)).filter(|x| !x.is_nan()));
                    if column.is_empty() { f64::NAN } else { value(&mut column) }
                })
                .collect(),
        )
    }

    /// The moving average over `width` bins, centred; NaN where one of these bins has no value.
    pub fn smooth(&self, width: usize) -> Curve {
        let (before, after) = (width / 2, width - width / 2);
        let mean = |i: usize| {
            let window = i.checked_sub(before).and_then(|from| self.0.get(from..i + after));
            window.map_or(f64::NAN, |window| window.iter().sum::<f64>() / width as f64)
        };
        Curve((0..self.0.len()).map(mean).collect())
    }

    /// Every value times `factor`.
    pub fn scale(mut self, factor: f64) -> Curve {
        self.0.iter_mut().for_each(|x| *x *= factor);
        self
    }

    /// The largest value; zero if there is none.
    pub fn largest(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// Whether no bin has a value.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|x| x.is_nan())
    }

    /// Rounds every value to the digits that are written.
    pub(super) fn round(&mut self) {
        self.0.iter_mut().for_each(|x| *x = rounded(*x));
    }
}

/// Written with five significant digits, which is more than a plot shows; `null` stands for NaN.
impl Serialize for Curve {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&x| short(x)))
    }
}

impl<'de> Deserialize<'de> for Curve {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Curve, D::Error> {
        let values: Vec<Option<f64>> = Vec::deserialize(deserializer)?;
        Ok(Curve(values.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect()))
    }
}

/// Five significant digits of `x`.
fn rounded(x: f64) -> f64 {
    format!("{x:.4e}").parse().unwrap_or(f64::NAN)
}

/// Five significant digits of `x` as JSON; a whole number has no decimal point.
fn short(x: f64) -> serde_json::Value {
    let rounded = rounded(x);
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 { (rounded as i64).into() } else { rounded.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::quantile;

    #[test]
    fn quantiles_are_taken_bin_by_bin() {
        let curves: Vec<Curve> = (1..=10).map(|k| Curve(vec![f64::from(k), f64::NAN])).collect();
        let tenth = Curve::across(&curves, |values| quantile(values, 0.1));
        let median = Curve::across(&curves, |values| quantile(values, 0.5));
        assert_eq!((tenth.0[0], median.0[0]), (1.0, 5.0));
        assert!(median.0[1].is_nan());
    }

    #[test]
    fn values_are_written_with_five_digits() {
        let mut curve = Curve(vec![123.456789, 5.0, f64::NAN, 1.23456789e-7, 123456789.0]);
        let written = "[123.46,5,null,1.2346e-7,123460000]";
        assert_eq!(serde_json::to_string(&curve).unwrap(), written);
        curve.round();
        assert_eq!(serde_json::to_string(&curve).unwrap(), written);
        let read: Curve = serde_json::from_str(written).unwrap();
        assert_eq!((read.0[0], read.0[3], read.0[4]), (curve.0[0], curve.0[3], curve.0[4]));
    }
}
