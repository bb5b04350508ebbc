//! The pacer's queue: which flow has a datagram due when, and the wait for the first of them. It detects no losses: the
//! retransmission timer is the host's, and the time at which it expires is one for which a flow may be queued.

use control::{Duration, Time};
use realtime::{Clock, Waking, to_std};
use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Timers of `T`s, of which one thread waits for the first.
pub(crate) struct TimerQueue<T> {
    heap: Mutex<BinaryHeap<Timer<T>>>,
    /// A timer is set that expires before the one that the thread waits for, or the queue has ended.
    news: Condvar,
    /// When the thread means to look again, in picoseconds. A timer that expires earlier must wake it.
    next: AtomicU64,
    ended: AtomicBool,
}

/// A timer that was set.
pub(crate) struct Timer<T> {
    /// When the thread is to return it.
    expires: Time,
    /// Whether the thread may as well return it a little earlier.
    may_be_early: bool,
    /// What it was set for: `expires`, or later.
    pub(crate) due: Time,
    pub(crate) owner: Arc<T>,
}

impl<T> TimerQueue<T> {
    pub(crate) fn new() -> TimerQueue<T> {
        TimerQueue {
            heap: Mutex::new(BinaryHeap::new()),
            news: Condvar::new(),
            next: AtomicU64::new(u64::MAX),
            ended: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Timer<T>>> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a timer of `owner` for what is `due`. It expires at that time if `lead` is zero, and so much earlier, or a
    /// little earlier still, if it is not.
    pub(crate) fn schedule(&self, due: Time, lead: Duration, owner: &Arc<T>) {
        let (expires, may_be_early) = (due - lead, lead > Duration::ZERO);
        let mut heap = self.lock();
        heap.push(Timer { expires, may_be_early, due, owner: owner.clone() });
        if expires.0 < self.next.load(Ordering::Relaxed) {
            self.next.store(expires.0, Ordering::Relaxed);
            self.news.notify_one();
        }
    }

    /// Ends all waiting, for good.
    pub(crate) fn end(&self) {
        let _heap = self.lock();
        self.ended.store(true, Ordering::Relaxed);
        self.next.store(0, Ordering::Relaxed);
        self.news.notify_one();
    }

    /// Waits until a timer expires, and removes it; none when the queue has ended. The thread sleeps as long as
    /// `waking` allows and spins for the rest. It yields to others while it spins if it is scheduled in turns with them
    /// (`yields`).
    pub(crate) fn wait(&self, clock: Clock, waking: &mut Waking, yields: bool) -> Option<Timer<T>> {
        let mut heap = self.lock();
        loop {
            if self.ended.load(Ordering::Relaxed) {
                return None;
            }
            let Some(&Timer { expires, may_be_early, .. }) = heap.peek() else {
                self.next.store(u64::MAX, Ordering::Relaxed);
                heap = self.news.wait(heap).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (sleep_until, now) = (expires - waking.takes(), clock.now());
            if expires <= now || may_be_early && sleep_until <= now {
                return heap.pop();
            }
            self.next.store(expires.0, Ordering::Relaxed);
            if sleep_until > now {
                let sleep = to_std(sleep_until.since(now));
                heap = self.news.wait_timeout(heap, sleep).unwrap_or_else(PoisonError::into_inner).0;
                waking.learn(sleep_until, clock.now());
            } else {
                drop(heap);
                while clock.now() < expires && self.next.load(Ordering::Relaxed) == expires.0 {
                    if yields {
                        std::thread::yield_now();
                    } else {
                        std::hint::spin_loop();
                    }
                }
                heap = self.lock();
            }
        }
    }
}

impl<T> PartialEq for Timer<T> {
    fn eq(&self, other: &Timer<T>) -> bool {
        self.expires == other.expires
    }
}

impl<T> Eq for Timer<T> {}

impl<T> PartialOrd for Timer<T> {
    fn partial_cmp(&self, other: &Timer<T>) -> Option<Order> {
        Some(self.cmp(other))
    }
}

/// The heap's greatest is the timer that expires first.
impl<T> Ord for Timer<T> {
    fn cmp(&self, other: &Timer<T>) -> Order {
        other.expires.cmp(&self.expires)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_expire_in_order_and_not_before_their_time() {
        let (clock, queue) = (Clock::start(), TimerQueue::new());
        let at = |ms| clock.now() + Duration::from_millis(ms);
        for (name, due, lead) in [("late", at(30), 0), ("early", at(10), 0), ("led", at(25), 10)] {
            queue.schedule(due, Duration::from_millis(lead), &Arc::new(name));
        }
        let mut waking = Waking::new(100);
        let mut next = || {
            let Timer { expires, may_be_early, owner, .. } = queue.wait(clock, &mut waking, true)?;
            assert!(clock.now() >= expires || may_be_early);
            Some(*owner)
        };
        assert_eq!([next(), next(), next()], [Some("early"), Some("led"), Some("late")]);
        queue.end();
        assert!(queue.wait(clock, &mut Waking::new(100), true).is_none());
    }
}
