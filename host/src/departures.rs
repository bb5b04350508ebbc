//! When packets really left, until they are acknowledged: for samples of the round-trip time.

use alloc::collections::VecDeque;
use control::Time;

/// One packet that left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// When the stack counts it as sent.
    sent: Time,
    /// When it left.
    pub(crate) left: Time,
    /// Whether it carried a stamp.
    pub(crate) stamped: bool,
}

/// Packets that left and that no acknowledgment has reached, in the order in which they left.
#[derive(Debug, Default)]
pub(crate) struct Departures(VecDeque<Departure>);

impl Departures {
    pub(crate) fn push(&mut self, sent: Time, left: Time, stamped: bool) {
        self.0.push_back(Departure { sent, left, stamped });
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The departure of the packet that is acknowledged, which the stack counts as sent at `sent`, if it is known.
    /// Those before it are forgotten.
    ///
    /// Packets that the stack built at the same time left in the order in which they are acknowledged, unless one was
    /// lost: then the answer is off by the gap to the next one.
    pub(crate) fn take(&mut self, sent: Time) -> Option<Departure> {
        while let Some(&first) = self.0.front()
            && first.sent <= sent
        {
            self.0.pop_front();
            if first.sent == sent {
                return Some(first);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_one_time_are_taken_in_the_order_in_which_they_left() {
        let mut departures = Departures::default();
        for (sent, left) in [(1, 10), (2, 20), (2, 21), (2, 22), (4, 40)] {
            departures.push(Time(sent), Time(left), false);
        }
        let mut left = |sent| departures.take(Time(sent)).map(|departure| departure.left.0);
        assert_eq!(
            [left(2), left(2), left(1), left(3), left(4), left(4)],
            [Some(20), Some(21), None, None, Some(40), None]
        );
    }
}
