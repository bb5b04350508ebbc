//! pathChirp's estimate, which RAPID-2009 refers to (section III-A2).

use super::excursions::excursions;
use super::onset::half_the_lowest;
use super::sample::Sample;

/// The mean of one rate per packet, weighted by the gaps; bits per second. None if there are fewer than two samples.
///
/// Where the delay rises within an excursion that ends within the stream, the packet's own rate counts. For all other
/// packets, the rate of the packet counts at which the last excursion starts, if that is still open when the stream
/// ends; otherwise the stream's last rate. Delays that differ by up to `resolution` picoseconds count as equal.
pub fn pathchirp(samples: &[Sample], resolution: i64) -> Option<f64> {
    let last = samples.len().checked_sub(1).filter(|&last| last > 0)?;
    let (mut weighted, mut inside) = (0.0, 0.0);
    let rises = |k: usize| k < last && samples[k + 1].delay.saturating_sub(samples[k].delay) > resolution;
    let unfinished = excursions(samples, resolution, |from, to| {
        for k in (from..to).filter(|&k| rises(k)) {
            // A gap lasts 1/r for a packet of unit size, so rate times gap is 1.
            weighted += 1.0;
            inside += 1.0 / samples[k].rate;
        }
    });
    let elsewhere = match unfinished {
        None => samples[last].rate,
        Some(0) => half_the_lowest(samples, &samples[0]),
        Some(i) => samples[i].rate,
    };
    let all: f64 = samples.iter().map(|s| 1.0 / s.rate).sum();
    Some((weighted + elsewhere * (all - inside)) / all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates 1, 2, ... and these delays.
    fn samples(delays: &[i64]) -> Vec<Sample> {
        (0..)
            .zip(delays)
            .map(|(i, &delay)| Sample { index: i, rate: f64::from(i + 1), delay, arrival: 0, packets: 1 })
            .collect()
    }

    #[test]
    fn pathchirp_weighs_what_passed_by_its_gaps() {
        // No queueing at all: the top rate, as with onset.
        assert_eq!(pathchirp(&samples(&[0; 10]), 0), Some(10.0));
        // A finished excursion over packets 1 to 6 (rising at 1, 2, 3), and none that stays: the rising ones count as
        // their own rates 2, 3, 4, the others as the top rate 12.
        let delays = [0, 0, 5, 9, 12, 10, 3, 0, 0, 0, 0, 0];
        let all: f64 = (1..=12).map(|r| 1.0 / r as f64).sum();
        let inside = 1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0;
        let expected = (3.0 + 12.0 * (all - inside)) / all;
        let got = pathchirp(&samples(&delays), 0).unwrap();
        assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }

    #[test]
    fn delays_that_are_as_far_apart_as_can_be_are_compared() {
        assert!(pathchirp(&samples(&[i64::MIN, i64::MAX, 0, i64::MIN, i64::MAX]), 0).is_some());
    }
}
