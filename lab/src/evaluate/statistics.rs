//! The difference between the means of two samples, with its confidence interval.

use experiment::mean;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A difference, and the interval that has the true one with the confidence that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference between the means.
    pub mean: f64,
    /// Half of the width of the interval.
    pub half_width: f64,
}

/// The difference between the mean of `one` and that of `other`, with an interval that misses the true one with
/// probability `alpha`: that of Student's t distribution with the degrees of freedom of Welch and Satterthwaite, as the
/// two samples have variances of their own. Where neither varies, its width is 0. Samples have at least two values.
pub fn difference(one: &[f64], other: &[f64], alpha: f64) -> Difference {
    let terms = [one, other].map(|sample| (variance(sample) / sample.len() as f64, sample.len() as f64 - 1.0));
    let total: f64 = terms.iter().map(|(term, _)| term).sum();
    let squares: f64 = terms.iter().map(|(term, freedom)| term * term / freedom).sum();
    let varies = squares > 0.0;
    let half_width =
        if varies { quantile(total * total / squares, 1.0 - alpha / 2.0) * libm::sqrt(total) } else { 0.0 };
    Difference { mean: mean(one) - mean(other), half_width }
}

/// The unbiased variance of `sample`.
fn variance(sample: &[f64]) -> f64 {
    let middle = mean(sample);
    sample.iter().map(|x| (x - middle) * (x - middle)).sum::<f64>() / (sample.len() as f64 - 1.0)
}

/// The quantile `p` of Student's t distribution.
fn quantile(freedom: f64, p: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{RngCore, SeedableRng};

    /// Student's table: 97.5 % at 4 degrees of freedom is 2.776, at 10 it is 2.228.
    #[test]
    fn of_equal_variances_it_is_student_s_interval() {
        let Difference { mean, half_width } = difference(&[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0], 0.05);
        assert_eq!(mean, -4.0);
        assert!((half_width - 2.776 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-3, "{half_width}");
        assert!((quantile(10.0, 0.975) - 2.228).abs() < 1e-3);
    }

    #[test]
    fn samples_that_do_not_vary_give_an_interval_without_width() {
        assert_eq!(difference(&[2.0; 3], &[1.0; 3], 0.05), Difference { mean: 1.0, half_width: 0.0 });
    }

    /// Of 2000 intervals of differences that are zero, 5 % miss it: between 3.5 and 6.5 %, three deviations.
    #[test]
    fn intervals_miss_as_seldom_as_they_say() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        // The sum of twelve uniform numbers is nearly normal.
        let mut normal = |scale: f64| {
            (0..12).map(|_| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5).sum::<f64>() * scale
        };
        let mut sample = |scale: f64| (0..5).map(|_| normal(scale)).collect::<Vec<f64>>();
        let missed = (0..2000).filter(|_| {
            let it = difference(&sample(3.0), &sample(1.0), 0.05);
            it.mean.abs() > it.half_width
        });
        let share = missed.count() as f64 / 2000.0;
        assert!((0.035..0.065).contains(&share), "{share}");
    }
}
