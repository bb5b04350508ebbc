//! The windowed maximum with which BBR remembers bandwidths.

/// The largest value at each of the last `N` times. Times are integers that never decrease, such as numbers of round
/// trips.
#[derive(Clone, Debug)]
pub struct MaxFilter<const N: usize> {
    /// The largest value at each time, at the time modulo N.
    slots: [f64; N],
    /// The newest time.
    newest: u64,
}

impl<const N: usize> MaxFilter<N> {
    /// A filter without values, whose maximum is zero.
    pub fn new() -> MaxFilter<N> {
        MaxFilter { slots: [0.0; N], newest: 0 }
    }

    /// Adds `value` at `time`. Returns the largest value of the last `length` times, this one included.
    pub fn update(&mut self, time: u64, value: f64, length: usize) -> f64 {
        for passed in self.newest + 1..=time.min(self.newest + N as u64) {
            self.slots[passed as usize % N] = 0.0;
        }
        self.newest = self.newest.max(time);
        let slot = |back: usize| (self.newest as usize + N - back) % N;
        let now = &mut self.slots[slot(0)];
        *now = now.max(value);
        (0..length.min(N)).map(|back| self.slots[slot(back)]).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_older_than_the_length_are_forgotten() {
        let mut recent = MaxFilter::<3>::new();
        let values = [(0, 5.0), (0, 4.0), (1, 3.0), (2, 1.0), (3, 2.0), (9, 0.5)];
        assert_eq!(values.map(|(time, value)| recent.update(time, value, 3)), [5.0, 5.0, 5.0, 5.0, 3.0, 0.5]);
        let mut recent = MaxFilter::<3>::new();
        assert_eq!(values.map(|(time, value)| recent.update(time, value, 1)), [5.0, 5.0, 3.0, 1.0, 2.0, 0.5]);
    }
}
