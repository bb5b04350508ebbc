//! The pacer's queue: which flow has a datagram due when, and the wait for the first of them. It detects no losses: the
//! retransmission timer is the host's, and the time at which it expires is one for which a flow may be queued.

use realtime::{Waking, to_std};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Timers of `T`s, of which one thread waits for the first. Each owner has one timer at most.
pub(crate) struct TimerQueue<T> {
    /// By when they expire; the owner's address tells those of one time apart.
    timers: Mutex<BTreeMap<(Instant, usize), Arc<T>>>,
    /// A timer is set that expires before the one that the thread waits for, or the queue has ended.
    news: Condvar,
    begun: Instant,
    /// When the thread means to look again, in nanoseconds after `begun`. A timer that expires earlier must wake it.
    next: AtomicU64,
    ended: AtomicBool,
}

impl<T> TimerQueue<T> {
    pub(crate) fn new() -> TimerQueue<T> {
        TimerQueue {
            timers: Mutex::new(BTreeMap::new()),
            news: Condvar::new(),
            begun: Instant::now(),
            next: AtomicU64::new(u64::MAX),
            ended: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Instant, usize), Arc<T>>> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nanoseconds from the queue's beginning until `due`, as many as 584 years have.
    fn nanoseconds(&self, due: Instant) -> u64 {
        due.saturating_duration_since(self.begun).as_nanos() as u64
    }

    /// Sets the timer of `owner`, in the place of the one that expires at `before`, if that was set.
    pub(crate) fn set(&self, due: Instant, before: Option<Instant>, owner: &Arc<T>) {
        let address = Arc::as_ptr(owner) as usize;
        let mut timers = self.lock();
        if let Some(before) = before {
            timers.remove(&(before, address));
        }
        timers.insert((due, address), owner.clone());
        let next = self.nanoseconds(due);
        if next < self.next.load(Ordering::Relaxed) {
            self.next.store(next, Ordering::Relaxed);
            self.news.notify_one();
        }
    }

    /// Removes the timer of `owner` that expires at `due`, if it is still set.
    pub(crate) fn remove(&self, due: Instant, owner: &Arc<T>) {
        self.lock().remove(&(due, Arc::as_ptr(owner) as usize));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Ends all waiting, for good.
    pub(crate) fn end(&self) {
        let _timers = self.lock();
        self.ended.store(true, Ordering::Relaxed);
        self.next.store(0, Ordering::Relaxed);
        self.news.notify_one();
    }

    /// Waits until a timer expires, and removes it: when it expired, and its owner; none when the queue has ended. The
    /// thread sleeps as long as `waking` allows and spins for the rest. It yields to others while it spins if it is
    /// scheduled in turns with them (`yields`).
    pub(crate) fn wait(&self, waking: &mut Waking, yields: bool) -> Option<(Instant, Arc<T>)> {
        let mut timers = self.lock();
        loop {
            if self.ended.load(Ordering::Relaxed) {
                return None;
            }
            let Some(first) = timers.first_entry() else {
                self.next.store(u64::MAX, Ordering::Relaxed);
                timers = self.news.wait(timers).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let &(due, _) = first.key();
            let now = Instant::now();
            if due <= now {
                return Some((due, first.remove()));
            }
            let next = self.nanoseconds(due);
            self.next.store(next, Ordering::Relaxed);
            let sleep = (due - now).saturating_sub(to_std(waking.takes()));
            if !sleep.is_zero() {
                timers = self.news.wait_timeout(timers, sleep).unwrap_or_else(PoisonError::into_inner).0;
                waking.learn(now + sleep, Instant::now());
            } else {
                drop(timers);
                while Instant::now() < due && self.next.load(Ordering::Relaxed) == next {
                    if yields {
                        std::thread::yield_now();
                    } else {
                        std::hint::spin_loop();
                    }
                }
                timers = self.lock();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn timers_expire_in_order_and_not_before_their_time() {
        let (begin, queue) = (Instant::now(), TimerQueue::new());
        let at = |ms| begin + Duration::from_millis(ms);
        for (name, due) in [("last", at(30)), ("first", at(10)), ("second", at(20))] {
            queue.set(due, None, &Arc::new(name));
        }
        let mut waking = Waking::new(100);
        let mut next = || {
            let (due, owner) = queue.wait(&mut waking, true)?;
            assert!(Instant::now() >= due);
            Some(*owner)
        };
        assert_eq!([next(), next(), next()], [Some("first"), Some("second"), Some("last")]);
        queue.end();
        assert!(queue.wait(&mut Waking::new(100), true).is_none());
    }

    #[test]
    fn an_owner_has_one_timer() {
        let (begin, queue, owner) = (Instant::now(), TimerQueue::new(), Arc::new(()));
        let at = |us| begin + Duration::from_micros(us);
        queue.set(at(300), None, &owner);
        queue.set(at(200), Some(at(300)), &owner);
        queue.set(at(100), Some(at(200)), &owner);
        assert_eq!(queue.lock().len(), 1);
        assert_eq!(queue.wait(&mut Waking::new(100), true).map(|(due, _)| due), Some(at(100)));
        assert!(queue.lock().is_empty());
        queue.set(at(400), None, &owner);
        queue.remove(at(300), &owner);
        assert_eq!(queue.lock().len(), 1);
        queue.remove(at(400), &owner);
        assert!(queue.lock().is_empty());
    }
}
