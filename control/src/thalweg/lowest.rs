//! The least of the delays of the last one to two seconds. If the queue was empty within this time, it is the delay of
//! the path without a queue.

/// A delay that wanders, or a queue that is emptied now and then, comes back to its lowest values in so long, ps.
const LOWEST: i64 = 1_000_000_000_000;

/// See the [module](self). Times and delays in ps, plus constants.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lowest {
    /// The least in the previous second and in the present one.
    delays: [Option<i64>; 2],
    /// When the present second began.
    since: i64,
}

impl Lowest {
    /// A packet that was sent at `sent` had this delay. Returns by how much it exceeds the lowest.
    pub(super) fn on_delay(&mut self, sent: i64, delay: i64) -> i64 {
        let since = sent.wrapping_sub(self.since);
        if since >= LOWEST {
            let before = self.delays[1].filter(|_| since < 2 * LOWEST);
            (self.delays, self.since) = ([before, None], sent);
        }
        let lower = self.delays[1].is_none_or(|lowest| delay.wrapping_sub(lowest) < 0);
        if lower {
            self.delays[1] = Some(delay);
        }
        self.delays.iter().flatten().map(|lowest| delay.wrapping_sub(*lowest)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_delay_is_that_of_the_last_one_to_two_seconds() {
        let mut lowest = Lowest::default();
        let heard = [(1, 50), (2, 70), (11, 60), (19, 60), (21, 60), (22, 65), (23, 40), (24, 45), (60, 80)];
        let above = heard.map(|(tenths, delay)| lowest.on_delay(tenths * LOWEST / 10, delay));
        assert_eq!(above, [0, 20, 10, 10, 0, 5, 0, 5, 0]);
    }
}
