//! When packets really left, until they are acknowledged: for samples of the round-trip time.

use alloc::collections::VecDeque;
use control::Time;

/// When a packet left, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// When the stack counts it as sent.
    pub(crate) sent: Time,
    /// When it left.
    pub(crate) left: Time,
    /// Whether it carried a stamp.
    pub(crate) stamped: bool,
    /// Whether it was ECN-capable.
    pub(crate) ecn_capable: bool,
}

/// Packets that left together, of which this many are not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Together {
    departure: Departure,
    count: u64,
}

/// Packets that left and that no acknowledgment has reached, in the order in which they left.
#[derive(Debug, Default)]
pub(crate) struct Departures(VecDeque<Together>);

impl Departures {
    /// A packet leaves.
    pub(crate) fn push(&mut self, departure: Departure) {
        match self.0.back_mut() {
            Some(last) if last.departure == departure => last.count += 1,
            _ => self.0.push_back(Together { departure, count: 1 }),
        }
    }

    /// Packets that leave from now on go another way, and what becomes of the ECN field of those before says nothing of
    /// it.
    pub(crate) fn forget_ecn(&mut self) {
        self.0.iter_mut().for_each(|together| together.departure.ecn_capable = false);
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
        while let Some(Together { departure, count }) = self.0.front_mut()
            && departure.sent <= sent
        {
            let first = *departure;
            *count -= u64::from(first.sent == sent);
            if *count == 0 || first.sent < sent {
                self.0.pop_front();
            }
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
            departures.push(Departure { sent: Time(sent), left: Time(left), stamped: false, ecn_capable: false });
        }
        let mut left = |sent| departures.take(Time(sent)).map(|departure| departure.left.0);
        assert_eq!(
            [left(2), left(2), left(1), left(3), left(4), left(4)],
            [Some(20), Some(21), None, None, Some(40), None]
        );
    }

    #[test]
    fn packets_that_left_together_are_one_entry_until_the_last_of_them_is_acknowledged() {
        let mut departures = Departures::default();
        let at = |time| Departure { sent: Time(time), left: Time(time), stamped: false, ecn_capable: false };
        for time in [1, 1, 1, 2, 2] {
            departures.push(at(time));
        }
        assert_eq!(departures.0.len(), 2);
        assert_eq!(
            [1, 1, 2, 1, 2, 2].map(|sent| departures.take(Time(sent)).is_some()),
            [true, true, true, false, true, false]
        );
        assert!(departures.0.is_empty());
    }
}
