//! Regular times at which a queue discipline updates its state. A queue is told the time only when packets arrive and
//! leave, so it makes up for the updates that were due since.

use control::{Duration, Time};

/// The times of updates: multiples of a period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    next: Time,
    period: Duration,
}

impl Ticks {
    /// An update every `period`, which is not zero, for the first time after one.
    pub fn every(period: Duration) -> Ticks {
        Ticks { next: Time::ZERO + period, period }
    }

    /// The time of the next update, if it was due by `now`.
    #[inline]
    pub fn next(&mut self, now: Time) -> Option<Time> {
        let due = self.next;
        (due <= now).then(|| {
            self.next = due + self.period;
            due
        })
    }

    /// Leaves out the updates that were due by `now`.
    pub fn skip(&mut self, now: Time) {
        if self.next <= now {
            let periods = now.since(self.next).0 / self.period.0 + 1;
            self.next = Time(self.next.0 + periods * self.period.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_made_up_for_or_left_out() {
        let mut ticks = Ticks::every(Duration(10));
        let due = std::iter::from_fn(|| ticks.next(Time(34))).collect::<Vec<_>>();
        assert_eq!(due, [Time(10), Time(20), Time(30)]);
        ticks.skip(Time(39));
        assert_eq!(ticks.next(Time(40)), Some(Time(40)));
        ticks.skip(Time(1000));
        assert_eq!((ticks.next(Time(1009)), ticks.next(Time(1010))), (None, Some(Time(1010))));
    }
}
