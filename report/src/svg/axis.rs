//! Axes of figures for papers: where values lie, and which of them are labelled.

/// A linear or logarithmic axis from one value to another.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    from: f64,
    to: f64,
    log: bool,
}

/// Values with labels.
pub struct Ticks {
    /// Rising.
    pub values: Vec<f64>,
    /// One per value.
    pub labels: Vec<String>,
}

impl Axis {
    /// A linear axis; one unit long if `to` is not larger than `from`.
    pub fn linear(from: f64, to: f64) -> Axis {
        Axis { from, to: if to > from { to } else { from + 1.0 }, log: false }
    }

    /// A logarithmic axis; one decade long if `to` is not larger than `from`.
    pub fn logarithmic(from: f64, to: f64) -> Axis {
        let from = from.max(f64::MIN_POSITIVE);
        Axis { from, to: if to > from { to } else { from * 10.0 }, log: true }
    }

    /// The same axis, longer by this share of its length at either end.
    pub fn widened(&self, share: f64) -> Axis {
        if self.log {
            let factor = libm::pow(self.to / self.from, share);
            Axis { from: self.from / factor, to: self.to * factor, ..*self }
        } else {
            let margin = (self.to - self.from) * share;
            Axis { from: self.from - margin, to: self.to + margin, ..*self }
        }
    }

    /// How far along `value` lies: 0 at the beginning, 1 at the end.
    pub fn position(&self, value: f64) -> f64 {
        if self.log {
            libm::log10(value / self.from) / libm::log10(self.to / self.from)
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }

    /// Whether `value` has a position, on the axis or beyond its ends.
    pub fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    /// Whether `value` lies on the axis.
    pub fn has(&self, value: f64) -> bool {
        self.shows(value) && (0.0..=1.0).contains(&self.position(value))
    }

    /// About `count` round values; on a logarithmic axis powers of ten, with two and five times these where powers are
    /// few, and values at equal steps where fewer than two of these lie on it.
    pub fn ticks(&self, count: usize) -> Ticks {
        if !self.log {
            let step = round_up((self.to - self.from) / count as f64);
            let first = (self.from / step).ceil() as i64;
            let values: Vec<f64> =
                (first..).map(|k| k as f64 * step).take_while(|x| *x <= self.to + step * 1e-6).collect();
            let decimals = (-libm::log10(step).floor()).max(0.0) as usize;
            let labels = values.iter().map(|x| format!("{:.decimals$}", x + 0.0)).collect();
            return Ticks { values, labels };
        }
        let decades = libm::log10(self.to / self.from);
        let multiples: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        // Every decade, or as many apart as keep to `count`.
        let every = ((decades / count as f64).ceil() as i32).max(1);
        let first = libm::log10(self.from).floor() as i32;
        let last = libm::log10(self.to).ceil() as i32;
        let powers = (first..=last).filter(|power| power.rem_euclid(every) == 0);
        let mut values: Vec<f64> = powers
            .flat_map(|power| multiples.iter().map(move |multiple| multiple * libm::pow(10.0, power.into())))
            .filter(|&x| self.has(x))
            .collect();
        // On a narrower axis, the rounded labels of such values would be alike.
        if values.len() < 2 && decades > 0.1 {
            values = Axis::linear(self.from, self.to).ticks(count).values;
        }
        let labels = values.iter().map(|&x| short(x)).collect();
        Ticks { values, labels }
    }
}

/// 1, 2 or 5 times a power of ten, no less than `step`.
fn round_up(step: f64) -> f64 {
    let power = libm::pow(10.0, libm::log10(step).floor());
    let rounds = [1.0, 2.0, 5.0, 10.0].map(|multiple| multiple * power);
    rounds.into_iter().find(|round| *round >= step * (1.0 - 1e-9)).unwrap_or(step)
}

/// `x` with k for thousands and M for millions; a very small one as a power of ten.
fn short(x: f64) -> String {
    let plain = |x: f64| lab::reproduce::judge::number(x);
    match x {
        _ if x >= 1e6 => format!("{} M", plain(x / 1e6)),
        _ if x >= 1e3 => format!("{} k", plain(x / 1e3)),
        _ if x < 1e-3 => {
            let power = (libm::log10(x) + 1e-9).floor();
            let multiple = libm::round(x / libm::pow(10.0, power));
            if multiple == 1.0 { format!("10^{power}") } else { format!("{multiple}·10^{power}") }
        }
        _ => plain(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_lie_on_the_axis() {
        let labels = |axis: Axis, count| axis.ticks(count).labels.join(" ");
        assert_eq!(labels(Axis::linear(0.0, 104.0), 4), "0 50 100");
        assert_eq!(labels(Axis::linear(0.0, 1.05), 4), "0.0 0.5 1.0");
        assert_eq!(labels(Axis::linear(97.0, 103.0), 4), "98 100 102");
        assert_eq!(labels(Axis::logarithmic(1e3, 4e4), 6), "1 k 2 k 5 k 10 k 20 k");
        assert_eq!(labels(Axis::logarithmic(1e-7, 1e-2), 6), "10^-7 10^-6 10^-5 10^-4 0.001 0.01");
        assert_eq!(labels(Axis::logarithmic(1.0, 1e9), 5), "1 100 10 k 1 M 100 M");
        assert_eq!(labels(Axis::logarithmic(113.0, 254.0), 6), "150 200 250");
    }

    #[test]
    fn an_axis_without_extent_has_few_ticks_and_finite_positions() {
        for axis in [Axis::linear(0.0, 0.0), Axis::logarithmic(0.0, 0.0), Axis::logarithmic(5.0, 5.0)] {
            assert!(axis.ticks(4).values.len() < 400, "{axis:?}");
            assert!(axis.position(1.0).is_finite(), "{axis:?}");
        }
        assert!(!Axis::logarithmic(1.0, 10.0).shows(0.0) && !Axis::linear(0.0, 1.0).has(f64::NAN));
    }
}
