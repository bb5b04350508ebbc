//! Statistics of samples, defined once for results, claims and reports.

/// The value that a share `q` of `values` does not exceed (nearest rank).
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
