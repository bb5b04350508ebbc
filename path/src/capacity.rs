//! Links whose capacity or delay varies: by changes at given times, by a trace of delivery opportunities, by a shaper,
//! by jitter, or by aggregation, which delivers packets in batches.

use crate::jitter::ExtraDelay;
use crate::shaper::TokenBucket;
use control::{Bytes, Duration, Rate, Time};
use std::sync::Arc;

/// A change of a link's rate, delay or both, from a time on. What is `None` stays as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// From when on.
    pub at: Time,
    /// The new rate. Nothing is transmitted at a rate of zero.
    pub rate: Option<Rate>,
    /// The new delay.
    pub delay: Option<Duration>,
}

/// The times at which a link could deliver, recorded on a real one. Each time is an opportunity to deliver
/// [`Trace::OPPORTUNITY`] bytes. The trace repeats; the last time is the length of a pass. (R. Netravali et al.,
/// "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015; the format is that emulator's.)
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The times in milliseconds, in ascending order.
    stamps: Vec<u32>,
}

impl Trace {
    /// What one opportunity delivers at most.
    pub const OPPORTUNITY: Bytes = Bytes(1504);

    /// A trace of opportunities at these times, in milliseconds.
    ///
    /// # Errors
    /// If there are none, if they are not in ascending order, or if all are 0, so that a pass would take no time.
    pub fn new(stamps: Vec<u32>) -> Result<Trace, &'static str> {
        match stamps.last() {
            None => Err("has no delivery opportunity"),
            Some(0) => Err("has all its delivery opportunities at 0 ms, so that it has no length to repeat"),
            Some(_) if !stamps.is_sorted() => Err("goes back in time"),
            Some(_) => Ok(Trace { stamps }),
        }
    }

    /// The length of a pass, in milliseconds.
    fn period(&self) -> u64 {
        self.stamps.last().map_or(1, |&last| u64::from(last))
    }

    /// The mean rate at which the link delivers if packets always wait.
    pub fn mean_rate(&self) -> Rate {
        Bytes(Trace::OPPORTUNITY.0 * self.stamps.len() as u64).over(Duration::from_millis(self.period()))
    }
}

/// A rate and a delay that vary. Times must not decrease from call to call.
#[derive(Debug)]
pub(crate) struct Varying {
    service: Service,
    shaper: Option<TokenBucket>,
    delays: Steps<Duration>,
    jitter: Option<ExtraDelay>,
    /// Packets leave the far end at multiples of this time; zero if at any time.
    batch: Duration,
    /// When the last packet leaves the far end.
    last_exit: Time,
}

#[derive(Debug)]
enum Service {
    /// Picoseconds per byte.
    Rates(Steps<f64>),
    Trace(Opportunities),
}

impl Varying {
    /// `per_byte` picoseconds per byte, and `delay`, until the first change.
    pub fn new(per_byte: f64, delay: Duration) -> Varying {
        Varying {
            service: Service::Rates(Steps::new(per_byte)),
            shaper: None,
            delays: Steps::new(delay),
            jitter: None,
            batch: Duration::ZERO,
            last_exit: Time::ZERO,
        }
    }

    /// Packets leave the far end in batches: at the next multiple of `period`.
    pub fn aggregate(&mut self, period: Duration) {
        self.batch = period;
    }

    /// Transmissions wait for tokens.
    pub fn shape(&mut self, bucket: TokenBucket) {
        self.shaper = Some(bucket);
    }

    /// Adds an extra delay that varies over time.
    pub fn jitter(&mut self, delay: ExtraDelay) {
        self.jitter = Some(delay);
    }

    /// Adds a change, which is not before those added earlier.
    pub fn change(&mut self, change: &Change) {
        if let (Service::Rates(rates), Some(rate)) = (&mut self.service, change.rate) {
            rates.push(change.at, 8e12 / rate.as_bps());
        }
        if let Some(delay) = change.delay {
            self.delays.push(change.at, delay);
        }
    }

    /// Delivers at the opportunities of `trace` instead of at a rate.
    pub fn follow(&mut self, trace: Arc<Trace>) {
        self.service = Service::Trace(Opportunities { trace, pass: 0, next: 0, current: Time::ZERO, left: 0 });
    }

    /// No packet was waiting until `now`.
    pub fn idle_until(&mut self, now: Time) {
        if let Service::Trace(opportunities) = &mut self.service {
            opportunities.idle_until(now);
        }
    }

    /// The transmission of a packet of `size` begins at `start`, or when a shaper has tokens for it. Returns when it
    /// ends, and when the packet leaves the far end.
    ///
    /// **Decided**: a change of rate applies to the bits that are still to be sent. A change of delay applies to
    /// packets whose transmission ends after it, and a packet has the extra delay of jitter at the end of its
    /// transmission. No packet overtakes another: after a change to a shorter delay, and while jitter falls by more
    /// than the time between packets, they leave as early as they can without overtaking. With aggregation, a packet's
    /// exit is rounded up to the end of its batch, so that all packets of a batch leave at the same time and in order.
    pub fn transmit(&mut self, start: Time, size: Bytes) -> (Time, Time) {
        let start = self.begin(start, size);
        let end = match &mut self.service {
            Service::Rates(rates) => finish(rates, start, size),
            Service::Trace(opportunities) => opportunities.transmit(start, size),
        };
        let extra = self.jitter.as_mut().map_or(Duration::ZERO, |jitter| jitter.at(end));
        let exit = end + self.delays.at(end) + extra;
        let exit = if self.batch > Duration::ZERO {
            exit.0.checked_next_multiple_of(self.batch.0).map_or(Time::MAX, Time)
        } else {
            exit
        };
        self.last_exit = self.last_exit.max(exit);
        (end, self.last_exit)
    }

    /// When the shaper, if there is one, has tokens for the packet that is to be transmitted at `start`. Opportunities
    /// of a trace pass unused until then.
    fn begin(&mut self, start: Time, size: Bytes) -> Time {
        let Some(bucket) = &mut self.shaper else { return start };
        let begin = bucket.take(start, size);
        if begin > start {
            self.idle_until(begin);
        }
        begin
    }
}

/// When a transmission of `size` that begins at `start` ends.
fn finish(per_byte: &mut Steps<f64>, start: Time, size: Bytes) -> Time {
    let (mut left, mut now) = (size.0 as f64, start);
    loop {
        let each = per_byte.at(now);
        let end = now + Duration((left * each + 0.5) as u64);
        let change = per_byte.next_change();
        if end <= change {
            return end;
        }
        left = (left - change.since(now).0 as f64 / each).max(0.0);
        now = change;
    }
}

/// A value that changes at given times, read in the order of time.
#[derive(Debug)]
struct Steps<T> {
    /// Values, and the times from which they hold.
    values: Vec<(Time, T)>,
    /// Index of the value that was read last.
    current: usize,
}

impl<T: Copy> Steps<T> {
    fn new(first: T) -> Steps<T> {
        Steps { values: vec![(Time::ZERO, first)], current: 0 }
    }

    fn push(&mut self, at: Time, value: T) {
        self.values.push((at, value));
    }

    fn at(&mut self, time: Time) -> T {
        while self.next_change() <= time && self.current + 1 < self.values.len() {
            self.current += 1;
        }
        self.values[self.current].1
    }

    fn next_change(&self) -> Time {
        self.values.get(self.current + 1).map_or(Time::MAX, |&(time, _)| time)
    }
}

/// A position in a trace.
#[derive(Debug)]
struct Opportunities {
    trace: Arc<Trace>,
    /// The next opportunity is number `next` of pass `pass`, both counted from 0.
    pass: u64,
    next: usize,
    /// When the opportunity before it was, and how many bytes that one can still deliver.
    current: Time,
    left: u64,
}

impl Opportunities {
    /// The time of the next opportunity, in milliseconds.
    fn next_stamp(&self) -> u64 {
        self.pass * self.trace.period() + u64::from(self.trace.stamps[self.next])
    }

    /// Opportunities up to and including `now` pass unused: a packet that arrives at the same time is too late.
    fn idle_until(&mut self, now: Time) {
        self.left = 0;
        let ms = now.0 / 1_000_000_000;
        if self.next_stamp() <= ms {
            self.pass = ms / self.trace.period();
            let into = ms % self.trace.period();
            // The last time is the length of a pass, so that there is always a later one.
            self.next = self.trace.stamps.partition_point(|&stamp| u64::from(stamp) <= into);
        }
    }

    /// Uses opportunities for `size` bytes: first the rest of the current one, then later ones. Returns the time of the
    /// last.
    fn transmit(&mut self, start: Time, size: Bytes) -> Time {
        let mut need = size.0;
        while need > self.left {
            need -= self.left;
            self.left = Trace::OPPORTUNITY.0;
            self.current = Time(self.next_stamp().saturating_mul(1_000_000_000));
            self.next += 1;
            if self.next == self.trace.stamps.len() {
                (self.pass, self.next) = (self.pass + 1, 0);
            }
        }
        self.left -= need;
        self.current.max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000_000);

    /// 1000 bytes a millisecond.
    fn at_8_mbps(changes: &[Change]) -> Varying {
        let mut varying = Varying::new(8e12 / 8e6, Duration::from_millis(10));
        changes.iter().for_each(|change| varying.change(change));
        varying
    }

    fn rate(at: u64, mbps: f64) -> Change {
        Change { at: MS(at), rate: Some(Rate::from_mbps(mbps)), delay: None }
    }

    fn delay(at: u64, ms: u64) -> Change {
        Change { at: MS(at), rate: None, delay: Some(Duration::from_millis(ms)) }
    }

    #[test]
    fn a_new_rate_applies_to_the_bits_that_are_left() {
        // 10,000 bytes from 0 ms: 5000 at 8 Mbps, then 5000 at 80 Mbps.
        assert_eq!(
            at_8_mbps(&[rate(5, 80.0)]).transmit(MS(0), Bytes(10_000)),
            (Time(5_500_000_000), Time(15_500_000_000))
        );
        // Over an interruption, and several changes within one packet.
        let mut varying = at_8_mbps(&[rate(2, 0.0), rate(1002, 4.0), rate(1004, 8.0)]);
        assert_eq!(varying.transmit(MS(0), Bytes(10_000)).0, MS(2 + 1000 + 2 + 7));
        assert_eq!(varying.transmit(MS(1011), Bytes(1000)).0, MS(1012));
        // Interrupted for good.
        assert_eq!(at_8_mbps(&[rate(2, 0.0)]).transmit(MS(1), Bytes(10_000)), (Time::MAX, Time::MAX));
    }

    #[test]
    fn a_new_delay_applies_from_the_end_of_a_transmission_and_nobody_overtakes() {
        let mut varying = at_8_mbps(&[delay(3, 1), delay(20, 30)]);
        let exits: Vec<_> = (0..5).map(|i| varying.transmit(MS(i), Bytes(1000)).1).collect();
        // Ends at 1, 2, 3, 4, 5: the third would leave at 4 by the new delay.
        assert_eq!(exits, [MS(11), MS(12), MS(12), MS(12), MS(12)]);
        assert_eq!(varying.transmit(MS(15), Bytes(1000)).1, MS(17));
        assert_eq!(varying.transmit(MS(30), Bytes(1000)).1, MS(61));
    }

    fn trace(stamps: &[u32]) -> Varying {
        let mut varying = Varying::new(0.0, Duration::ZERO);
        varying.follow(Arc::new(Trace::new(stamps.to_vec()).unwrap()));
        varying
    }

    /// The ends of transmissions of packets that all wait, in milliseconds.
    fn ends(varying: &mut Varying, start: Time, sizes: &[u64]) -> Vec<u64> {
        let mut now = start;
        varying.idle_until(start);
        let end = |&size: &u64| {
            now = varying.transmit(now, Bytes(size)).0;
            now.0 / 1_000_000_000
        };
        sizes.iter().map(end).collect()
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        assert_eq!(ends(&mut trace(&[3, 7, 10]), MS(0), &[1504; 7]), [3, 7, 10, 13, 17, 20, 23]);
        assert_eq!(ends(&mut trace(&[3, 7, 10]), MS(0), &[752, 752, 500, 500, 500, 8]), [3, 3, 7, 7, 7, 10]);
        // 1504 at 3 ms and 496 at 7 ms; 1008 at 7 and 992 at 10; 512 at 10, 1504 each at 13 and 17, 1480 at 20.
        assert_eq!(ends(&mut trace(&[3, 7, 10]), MS(0), &[2000, 2000, 5000]), [7, 10, 20]);
        // Several at once.
        assert_eq!(
            ends(&mut trace(&[0, 5, 5, 5, 10]), MS(0), &[1500, 1500, 1500, 1500, 1500, 1500]),
            [5, 5, 5, 10, 10, 15]
        );
    }

    #[test]
    fn an_opportunity_that_finds_nobody_is_lost() {
        let mut varying = trace(&[3, 7, 10]);
        assert_eq!(ends(&mut varying, MS(7), &[100]), [10], "who arrives with it is too late");
        assert_eq!(ends(&mut varying, MS(10), &[100]), [13], "what was left of it is lost too");
        assert_eq!(ends(&mut varying, Time(16_999_999_999), &[100]), [17]);
        assert_eq!(ends(&mut varying, MS(1_000_000_000), &[100, 1504]), [1_000_000_003, 1_000_000_007]);
    }

    #[test]
    fn traces_that_lead_nowhere_are_refused() {
        assert!(Trace::new(vec![]).is_err() && Trace::new(vec![0, 0]).is_err() && Trace::new(vec![2, 1]).is_err());
        // 12 Mbps is 1500 bytes a millisecond.
        assert!((Trace::new((1..=100).collect()).unwrap().mean_rate().as_mbps() - 12.032).abs() < 1e-9);
    }
}
