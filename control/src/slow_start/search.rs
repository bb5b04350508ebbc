//! SEARCH, "Slow start Exit At Right CHokepoint" (draft-chung-ccwg-search-09), without its drain phase, as in Firefox's
//! QUIC: the window stays as it is when slow start ends.
//!
//! In slow start, what is delivered in some time is what was sent in as long a time one round trip before. Once the
//! bottleneck is full, less is delivered than was sent. The sender counts both in bins, each 0.35 times as long as the
//! round trip of the first packet, and compares sums over windows of ten bins, so that the bursts of a radio link
//! average out. It takes some round trips to see a queue. A shallow buffer overflows before:
//!
//! ```text
//!   sent      |-- window --|
//!   delivered          |-- window --|      sent - delivered >= 0.26 sent: slow start ends
//!             <- a round ->
//!                trip
//! ```

use crate::roles::Ack;
use crate::units::{Bytes, Duration, Time};

/// The bins of a window (W).
const WINDOW: usize = 10;

/// The length of a window, in round-trip times of the first packet (WINDOW_SIZE_FACTOR).
const WINDOW_ROUND_TRIPS: f64 = 3.5;

/// A round trip of this number of bins or more is too long to look back over (EXTRA_BINS).
const MOST_BACK: usize = 15;

/// How many bins are remembered: two windows of which one begins up to a round trip and a part of a bin earlier.
const BINS: usize = WINDOW + MOST_BACK + 1;

/// The share of what was sent that is missing from what is delivered when slow start ends (THRESH).
const THRESHOLD: f64 = 0.26;

/// The state in a slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// What was acknowledged since counting began.
    acked: Bytes,
    /// None before the first acknowledgment, with which counting begins.
    bins: Option<Bins>,
}

/// What had been acknowledged and sent at the ends of bins.
#[derive(Clone, Debug)]
struct Bins {
    /// The length of a bin.
    length: Duration,
    /// When the present bin ends.
    end: Time,
    /// The number of the last bin that has ended, from 0.
    last: usize,
    /// Bytes acknowledged and bytes sent by the end of bin i, at i modulo [`BINS`].
    totals: [(Bytes, Bytes); BINS],
}

impl Search {
    /// An acknowledgment arrives after a round-trip time of `rtt`. Returns whether slow start ends.
    pub fn finds_end(&mut self, now: Time, rtt: Duration, ack: &Ack) -> bool {
        self.acked += ack.acked;
        let totals = (self.acked, self.acked + ack.in_flight);
        let Some(bins) = &mut self.bins else {
            self.bins = Some(Bins::new(now, rtt, totals));
            return false;
        };
        if now < bins.end {
            return false;
        }
        let ended = (now.since(bins.end).0 / bins.length.0).min(WINDOW as u64) as usize + 1;
        if ended > WINDOW {
            // After a long pause, nothing in the bins is of use any more.
            self.bins = Some(Bins::new(now, rtt, totals));
            return false;
        }
        bins.end_bins(ended, totals);
        bins.missing(rtt).is_some_and(|share| share >= THRESHOLD)
    }
}

impl Bins {
    /// Begins to count at an acknowledgment after the round-trip time `rtt`.
    fn new(now: Time, rtt: Duration, totals: (Bytes, Bytes)) -> Bins {
        let length = Duration((rtt.0 as f64 * WINDOW_ROUND_TRIPS / WINDOW as f64) as u64).max(Duration(1));
        Bins { length, end: now + length, last: 0, totals: [totals; BINS] }
    }

    /// The next `ended` bins have ended, the last with these totals; those before it had the totals of the one before.
    fn end_bins(&mut self, ended: usize, totals: (Bytes, Bytes)) {
        let before = self.totals[self.last % BINS];
        for bin in self.last + 1..self.last + ended {
            self.totals[bin % BINS] = before;
        }
        self.last += ended;
        self.totals[self.last % BINS] = totals;
        self.end += Duration(self.length.0.saturating_mul(ended as u64));
    }

    /// Which share of what was sent in a window one round trip ago was not delivered in the last window; none if there
    /// is no such window.
    fn missing(&self, rtt: Duration) -> Option<f64> {
        let back = (rtt.0 / self.length.0).min(MOST_BACK as u64) as usize;
        let part = (rtt.0 % self.length.0) as f64 / self.length.0 as f64;
        let then = self.last.checked_sub(back).filter(|&then| then > WINDOW && back < MOST_BACK)?;
        let at = |bin: usize| self.totals[bin % BINS];
        // What is in flight falls when packets are found lost, so that the difference may be zero.
        let sent = |end: usize| (at(end).1 - at(end - WINDOW).1).0 as f64;
        // The window one round trip ago ended within a bin: between the ends of two.
        let sent = sent(then) * (1.0 - part) + sent(then - 1) * part;
        let delivered = (at(self.last).0 - at(self.last - WINDOW).0).0 as f64;
        (sent > 0.0).then(|| (sent - delivered) / sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1000;

    /// A slow start on a path of `capacity` packets per millisecond and `base` milliseconds, whose queue is without
    /// bound. Returns the window in packets when it ends, or none by the end of `rounds` doublings.
    fn window_at_end(capacity: f64, base: f64, rounds: i32, pause: Option<(f64, f64)>) -> Option<f64> {
        let mut search = Search::default();
        let (mut window, mut free) = (10.0f64, 0.0f64);
        let mut on_way = std::collections::VecDeque::new(); // when each packet was sent and is acknowledged
        let send = |now: f64, free: &mut f64, on_way: &mut std::collections::VecDeque<(f64, f64)>| {
            *free = free.max(now) + 1.0 / capacity;
            on_way.push_back((now, *free + base));
        };
        (0..10).for_each(|_| send(0.0, &mut free, &mut on_way));
        while let Some((sent, mut acked)) = on_way.pop_front() {
            if let Some((from, until)) = pause
                && (from..until).contains(&acked)
            {
                acked = until; // the acknowledgments of this time arrive together
            }
            let ms = |ms: f64| Duration((ms * 1e9) as u64);
            let in_flight = Bytes(on_way.len() as u64 * PACKET);
            let ack = Ack { acked: Bytes(PACKET), in_flight, ..Ack::default() };
            if search.finds_end(Time::ZERO + ms(acked), ms(acked - sent), &ack) {
                return Some(window);
            }
            window += 1.0;
            if window > 10.0 * 2f64.powi(rounds) {
                return None;
            }
            (0..2).for_each(|_| send(acked, &mut free, &mut on_way));
        }
        None
    }

    /// From the time 0 on, in first round-trip times, at which the link is full, acknowledgments come at its rate C and
    /// data leaves at 2C, so that what is acknowledged at t > 1 left at (t - 1)/2. By t = 4, data of the window from -2
    /// to 1.5 has left, 5.2 C, of which that of -2 to -0.5 was delivered too early for the window from 0.5 to 4: 1.3 C,
    /// a quarter. The path and its queue hold five BDPs then.
    #[test]
    fn slow_start_ends_four_round_trips_after_the_link_is_full() {
        for (capacity, base) in [(10.0, 50.0), (10.0, 100.0), (2.0, 300.0), (50.0, 100.0)] {
            let bdp = capacity * base;
            let window = window_at_end(capacity, base, 20, None).expect("deliveries stop growing");
            assert!((4.5 * bdp..6.0 * bdp).contains(&window), "{window} packets where the path holds {bdp}");
        }
    }

    #[test]
    fn while_nothing_waits_the_share_that_is_missing_stays_below_the_threshold() {
        assert_eq!(window_at_end(1e6, 100.0, 12, None), None);
    }

    #[test]
    fn acknowledgments_that_are_held_for_half_a_round_trip_do_not_end_it() {
        // A rise of the round-trip time, for which HyStart leaves slow start.
        assert_eq!(window_at_end(1e6, 100.0, 12, Some((400.0, 450.0))), None);
    }

    #[test]
    fn after_a_pause_longer_than_a_window_it_begins_anew() {
        let mut search = Search::default();
        let ack = Ack { acked: Bytes(PACKET), in_flight: Bytes(10 * PACKET), ..Ack::default() };
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        for ms in 0..2000 {
            search.finds_end(at(ms), Duration::from_millis(100), &ack);
        }
        let last = |search: &Search| search.bins.as_ref().unwrap().last;
        assert!(last(&search) > 2 * WINDOW);
        assert!(!search.finds_end(at(3000), Duration::from_millis(100), &ack));
        assert_eq!(last(&search), 0);
    }

    #[test]
    fn any_times_and_sizes_are_taken() {
        let ack = |acked, in_flight| Ack { acked: Bytes(acked), in_flight: Bytes(in_flight), ..Ack::default() };
        for rtt in [0, 1, 1_000_000_000, u64::MAX / 2, u64::MAX].map(Duration) {
            let mut search = Search::default();
            for step in 0..60 {
                // What is in flight falls again and again, as after losses. The last times are the last that exist.
                let now = Time((u64::MAX / 60 * step).max((rtt.0 / 20).saturating_mul(step)));
                search.finds_end(now, rtt, &ack(step % 3, u64::MAX >> (step % 60)));
            }
        }
    }
}
