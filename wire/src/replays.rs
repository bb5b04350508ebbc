//! Replay protection: each header counts once.

/// Tells the first arrival of a number from later ones with a sliding window, as IPsec does (RFC 4303, section 3.4.3).
/// Numbers older than the window count as seen.
#[derive(Clone, Debug, Default)]
pub struct Replays {
    /// One above the highest number seen.
    next: u64,
    /// A bit for each number in the window, by the number modulo its size: whether it was seen.
    seen: [u64; WINDOW / 64],
}

/// The size of the window, in numbers. A datagram that is reordered by more counts as lost.
const WINDOW: usize = 1024;

impl Replays {
    /// Whether `number` arrives for the first time.
    pub fn is_new(&mut self, number: u64) -> bool {
        if number == u64::MAX || number.saturating_add(WINDOW as u64) < self.next {
            return false;
        }
        if number >= self.next {
            let skipped = (number - self.next).min(WINDOW as u64);
            (number - skipped..number).for_each(|n| self.seen[n as usize % WINDOW / 64] &= !(1 << (n % 64)));
            self.next = number + 1;
        } else if self.seen[number as usize % WINDOW / 64] >> (number % 64) & 1 == 1 {
            return false;
        }
        self.seen[number as usize % WINDOW / 64] |= 1 << (number % 64);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_counts_once_in_any_order() {
        let mut replays = Replays::default();
        let order = [0, 1, 5, 3, 2, 1024, 4, 1023, 5000, 4999, 3977];
        assert!(order.iter().all(|&n| replays.is_new(n)));
        assert!(order.iter().all(|&n| !replays.is_new(n)));
        assert!(!replays.is_new(3975), "older than the window");
        assert!(replays.is_new(u64::MAX - 1) && !replays.is_new(u64::MAX));
    }

    #[test]
    fn numbers_that_were_skipped_still_count_as_new() {
        let mut replays = Replays::default();
        assert!(replays.is_new(2000));
        assert!((977..2000).rev().all(|n| replays.is_new(n)));
        assert!((0..2000).all(|n| !replays.is_new(n)));
    }
}
