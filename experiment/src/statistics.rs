//! Statistics of samples, defined once for results, claims and reports.

/// The quantile of `values`, by nearest rank: the least of them that a share `q`, 0 to 1, of them does not exceed. NaN
/// if there are none. Leaves them in rising order.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The median: the [`quantile`] of one half. Of an even number of values, the lower of the two in the middle.
pub fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// The arithmetic mean; NaN if there are no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The place of the largest of `values`; of several that are equal, the first. None if there are no values.
pub fn largest(values: impl IntoIterator<Item = f64>) -> Option<usize> {
    let all = values.into_iter().enumerate();
    all.reduce(|most, one| if one.1 > most.1 { one } else { most }).map(|(place, _)| place)
}

/// Jain's fairness index: how evenly `shares` divide a whole. (sum x)^2 / (n sum x^2), which is 1 for equal shares and
/// 1/n if one takes all. NaN if there is nothing to divide.
///
/// Jain, Chiu, Hawe: A quantitative measure of fairness and discrimination, DEC-TR-301, 1984.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    sum * sum / (shares.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_of_the_sample() {
        let mut values = [30.0, 10.0, 40.0, 20.0];
        for (q, value) in [(0.0, 10.0), (0.25, 10.0), (0.26, 20.0), (0.5, 20.0), (0.9, 40.0), (1.0, 40.0)] {
            assert_eq!(quantile(&mut values, q), value, "{q}");
        }
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert!(median(&mut []).is_nan() && mean(&[]).is_nan());
    }

    #[test]
    fn of_equal_values_the_first_is_the_largest() {
        assert_eq!(largest([1.0, 3.0, 3.0, 2.0]), Some(1));
        assert_eq!(largest([]), None);
    }

    #[test]
    fn the_index_of_known_shares() {
        assert_eq!(jain(&[5.0]), 1.0);
        assert_eq!(jain(&[3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain(&[1.0, 0.0, 0.0, 0.0]), 0.25);
        // The report's own example: 20 dollars to 100 people, equally to each or to 10 of them only.
        let mut shares = [0.0; 100];
        shares[..10].fill(2.0);
        assert!((jain(&shares) - 0.1).abs() < 1e-12);
        // (1 + 2 + 3)^2 / (3 * 14)
        assert!((jain(&[1.0, 2.0, 3.0]) - 6.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn the_index_does_not_depend_on_the_unit() {
        assert!((jain(&[1.0, 5.0]) - jain(&[1e9, 5e9])).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_divide_has_no_index() {
        assert!(jain(&[]).is_nan() && jain(&[0.0, 0.0]).is_nan());
    }
}
