//! The thread from which datagrams leave, each at its time: it sleeps until shortly before, then spins.
//!
//! One thread serves all flows of an endpoint. It takes the flow whose datagram is due first, sends that one datagram (or the few that
//! its sender lets go at once), and looks again, so that none waits for another's schedule. It never catches up by itself: a sender is asked again after each
//! datagram, with the time as it is.

use crate::batch::Batch;
use crate::flow::Flow;
use control::Time;
use quinn::udp::{Transmit, UdpSockRef, UdpSocketState};
use realtime::{Clock, Waking, to_std, wake_in_time};
use std::cmp::Ordering as Order;
use std::collections::BinaryHeap;
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One datagram in so many may leave late for want of sleeping less.
const LATE: u64 = 100;
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

    /// Has `flow` looked at when it is `due`.
    pub(crate) fn schedule(&self, due: Time, flow: &Arc<Flow>) {
        let mut heap = self.lock();
        heap.push(Entry { due, flow: flow.clone() });
        if due.0 < self.next.load(Ordering::Relaxed) {
            self.next.store(due.0, Ordering::Relaxed);
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

    /// Waits until a flow is due; none when it is over. Lets others in meanwhile if threads take `turns`.
    fn wait(&self, clock: Clock, waking: &mut Waking, turns: bool) -> Option<Entry> {
        let mut heap = self.lock();
        loop {
            if self.over.load(Ordering::Relaxed) {
                return None;
            }
            let Some(Entry { due, .. }) = heap.peek() else {
                self.next.store(u64::MAX, Ordering::Relaxed);
                heap = self.news.wait(heap).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (due, now) = (*due, clock.now());
            if due <= now {
                return heap.pop();
            }
            self.next.store(due.0, Ordering::Relaxed);
            let until = due - waking.takes();
            if until > now {
                let sleep = to_std(until.since(now));
                heap = self.news.wait_timeout(heap, sleep).unwrap_or_else(PoisonError::into_inner).0;
                waking.learn(until, clock.now());
            } else {
                drop(heap);
                while clock.now() < due && self.next.load(Ordering::Relaxed) == due.0 {
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
    std::thread::Builder::new().name("pacer".into()).spawn(move || {
        let (turns, mut waking) = (wake_in_time(), Waking::new(LATE));
        let mut batch = Batch::new(socket.1.max_gso_segments());
        while let Some(Entry { due, flow }) = agenda.wait(clock, &mut waking, turns) {
            flow.depart(due, &mut batch);
            if let Some(transmit) = batch.transmit() {
                send(&socket, &transmit);
                flow.left();
            }
        }
    })
}

/// Sends datagrams. If that cannot be done they are lost, as they might be on the way.
fn send((socket, state): &(UdpSocket, UdpSocketState), transmit: &Transmit<'_>) {
    for _ in 0..TRIES {
        match state.send(UdpSockRef::from(socket), transmit) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
            _ => return,
        }
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.due == other.due
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Order> {
        Some(self.cmp(other))
    }
}

/// The heap's greatest is what is due first.
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Order {
        other.due.cmp(&self.due)
    }
}
