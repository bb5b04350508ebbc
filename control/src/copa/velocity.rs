//! The velocity, which speeds up a window that has moved in one direction for long (section 2.1, step 4).

use crate::units::{Duration, Time};
use core::cmp::Ordering;

/// For how many windows the direction must have been that of the window before until the velocity doubles. In steady
/// state, a direction lasts for 2.5 round trips.
const STEADY_WINDOWS: u32 = 3;

/// v, and what it follows from.
#[derive(Clone, Debug)]
pub(super) struct Velocity {
    /// v.
    pub(super) v: f64,
    /// When the present window of data began: the next one begins with the acknowledgment of a packet sent since then.
    begin: Time,
    /// cwnd at that time, packets.
    cwnd: f64,
    /// The direction in the last window.
    direction: Ordering,
    /// How many windows in a row had the direction of the window before.
    steady: u32,
}

impl Velocity {
    /// A velocity of 1, at a window of `cwnd` packets.
    pub(super) fn new(now: Time, cwnd: f64) -> Velocity {
        Velocity { v: 1.0, begin: now, cwnd, direction: Ordering::Equal, steady: 0 }
    }

    /// v for a step in this direction of a window of `cwnd` packets. A fast window that turns begins anew, so that it
    /// does not leave its target as fast as it has reached it.
    pub(super) fn towards(&mut self, now: Time, direction: Ordering, cwnd: f64) -> f64 {
        if self.v > 1.0 && direction != self.direction {
            *self = Velocity { direction, ..Velocity::new(now, cwnd) };
        }
        self.v
    }

    /// An acknowledgment of a packet that was sent `rtt` ago has led to a window of `cwnd` packets.
    pub(super) fn on_ack(&mut self, now: Time, rtt: Duration, cwnd: f64) {
        if now - rtt < self.begin {
            return;
        }
        let direction = cwnd.total_cmp(&self.cwnd);
        if direction == self.direction && direction != Ordering::Equal {
            self.steady += 1;
            if self.steady >= STEADY_WINDOWS {
                self.v *= 2.0;
            }
        } else {
            (self.v, self.steady) = (1.0, 0);
        }
        (self.begin, self.cwnd, self.direction) = (now, cwnd, direction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_velocity_doubles_while_the_direction_stays_and_is_one_after_a_turn() {
        let rtt = Duration::from_millis(100);
        let mut velocity = Velocity::new(Time::ZERO, 10.0);
        let windows = [12.0, 14.0, 16.0, 18.0, 22.0, 30.0, 29.0, 27.0, 25.0, 23.0, 20.0, 20.0, 21.0];
        let expected = [1.0, 1.0, 1.0, 2.0, 4.0, 8.0, 1.0, 1.0, 1.0, 2.0, 4.0, 1.0, 1.0];
        for ((i, window), expected) in (1..).zip(windows).zip(expected) {
            let now = Time::ZERO + rtt.scale(f64::from(i));
            velocity.on_ack(now, rtt, window);
            assert_eq!(velocity.v, expected, "{window}");
            velocity.on_ack(now + Duration::from_millis(50), rtt, 1000.0); // in the same window of data
            assert_eq!(velocity.v, expected, "{window}");
        }
    }
    #[test]
    fn a_fast_window_that_turns_begins_anew() {
        let rtt = Duration::from_millis(100);
        let mut velocity = Velocity::new(Time::ZERO, 10.0);
        for i in 1..=5 {
            velocity.on_ack(Time::ZERO + rtt.scale(f64::from(i)), rtt, 10.0 + f64::from(i));
        }
        let now = Time::ZERO + rtt.scale(5.5);
        assert_eq!(velocity.towards(now, Ordering::Greater, 20.0), 4.0);
        assert_eq!(velocity.towards(now, Ordering::Less, 20.0), 1.0);
        assert_eq!(velocity.towards(now, Ordering::Greater, 20.0), 1.0);
    }
}
