//! The thread from which datagrams leave, each at its time: it sleeps until shortly before, then spins. Where the kernel keeps launch
//! times it hands them over a little earlier and does not spin.
//!
//! One thread serves all flows of an endpoint. It takes the flow whose datagram is due first, sends that one datagram (or the few that
//! its sender lets go at once), and looks again, so that none waits for another's schedule. It never catches up by itself: a sender
//! is asked again after each datagram, with the time as it is.

use crate::batch::Batch;
use crate::flow::Flow;
use crate::launch::Launcher;
use crate::pacing::Pacing;
use control::{Duration, Time};
use quinn::udp::{UdpSockRef, UdpSocketState};
use realtime::{Clock, Waking, to_std, wake_in_time};
use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One datagram in so many may leave late for want of sleeping less.
const LATE: u64 = 100;
/// The kernel gets a datagram so long before its launch time, at least: longer than a thread oversleeps, and short enough that `fq` holds
/// less than the 100 packets of a flow that it takes, up to 3 Gbps.
const LEAD: Duration = Duration::from_micros(200);
/// A socket whose buffer is full is tried again so many times before the datagram is given up.
const TRIES: u32 = 1000;

/// Which flow is due when.
pub(crate) struct Agenda {
    heap: Mutex<BinaryHeap<Entry>>,
    news: Condvar,
    /// When the pacer means to look again; what is due earlier must wake it.
    next: AtomicU64,
    over: AtomicBool,
}

struct Entry {
    /// When the datagram goes to the kernel.
    ready: Time,
    /// Earlier does no harm.
    early: bool,
    /// When it leaves.
    due: Time,
    flow: Arc<Flow>,
}

impl Agenda {
    pub(crate) fn new() -> Agenda {
        Agenda {
            heap: Mutex::default(),
            news: Condvar::new(),
            next: AtomicU64::new(u64::MAX),
            over: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Entry>> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has `flow` looked at in time for what is `due`.
    pub(crate) fn schedule(&self, due: Time, pacing: Pacing, flow: &Arc<Flow>) {
        let (ready, early) = match pacing {
            Pacing::Spin | Pacing::Coarse(_) => (due, false),
            Pacing::Launch => (due - LEAD, true),
        };
        let mut heap = self.lock();
        heap.push(Entry { ready, early, due, flow: flow.clone() });
        if ready.0 < self.next.load(Ordering::Relaxed) {
            self.next.store(ready.0, Ordering::Relaxed);
            self.news.notify_one();
        }
    }

    /// Ends the pacer's thread.
    pub(crate) fn end(&self) {
        let _heap = self.lock();
        self.over.store(true, Ordering::Relaxed);
        self.next.store(0, Ordering::Relaxed);
        self.news.notify_one();
    }

    /// Waits until a flow's datagram is ready; none when it is over. Lets others in meanwhile if threads take `turns`.
    fn wait(&self, clock: Clock, waking: &mut Waking, turns: bool) -> Option<Entry> {
        let mut heap = self.lock();
        loop {
            if self.over.load(Ordering::Relaxed) {
                return None;
            }
            let Some(&Entry { ready, early, .. }) = heap.peek() else {
                self.next.store(u64::MAX, Ordering::Relaxed);
                heap = self.news.wait(heap).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (until, now) = (ready - waking.takes(), clock.now());
            if ready <= now || early && until <= now {
                return heap.pop();
            }
            self.next.store(ready.0, Ordering::Relaxed);
            if until > now {
                let sleep = to_std(until.since(now));
                heap = self.news.wait_timeout(heap, sleep).unwrap_or_else(PoisonError::into_inner).0;
                waking.learn(until, clock.now());
            } else {
                drop(heap);
                while clock.now() < ready && self.next.load(Ordering::Relaxed) == ready.0 {
                    if turns {
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

/// Starts the thread, which sends through `socket` until [`Agenda::end`].
pub(crate) fn start(
    agenda: Arc<Agenda>,
    clock: Clock,
    socket: Arc<(UdpSocket, UdpSocketState)>,
) -> io::Result<std::thread::JoinHandle<()>> {
    let launcher = Launcher::new(clock)?;
    std::thread::Builder::new().name("pacer".into()).spawn(move || {
        let (turns, mut waking) = (wake_in_time(), Waking::new(LATE));
        let mut batch = Batch::new(socket.1.max_gso_segments());
        while let Some(Entry { due, flow, .. }) = agenda.wait(clock, &mut waking, turns) {
            let launch = flow.depart(due, &mut batch);
            if let Some(transmit) = batch.transmit() {
                let held = launch.is_some_and(|at| insist(|| launcher.send(&socket.0, &transmit, at)).is_ok());
                if !held {
                    if let Some(at) = launch {
                        flow.pace(Pacing::Spin); // the kernel has refused
                        while clock.now() < at {
                            std::hint::spin_loop();
                        }
                    }
                    // What cannot be sent is lost, as it might be on the way.
                    let _ = insist(|| socket.1.send(UdpSockRef::from(&socket.0), &transmit));
                }
                flow.left();
            }
        }
    })
}

/// Tries again while the socket's buffer is full. What is given up for that is no failure.
fn insist(mut send: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 0..TRIES {
        match send() {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
            done => return done,
        }
    }
    Ok(())
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.ready == other.ready
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Order> {
        Some(self.cmp(other))
    }
}

/// The heap's greatest is what is ready first.
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Order {
        other.ready.cmp(&self.ready)
    }
}
