//! The thread from which the datagrams of the paced lane leave, each at its time: it sleeps until shortly before, then
//! spins.
//!
//! One thread serves all flows of an endpoint. It takes the flow whose datagrams are due first, sends those that leave
//! together (a burst of the sender's, or what is due within the host's quantum), and looks again. It does not catch up
//! by itself: a sender is asked again after each burst, with the time as it is.

use crate::batch::Burst;
use crate::sending::SendingFlow;
use crate::timer_queue::TimerQueue;
use control::Duration;
use quinn::udp::{Transmit, UdpSockRef, UdpSocketState};
use realtime::{Waking, wake_in_time};
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Instant;

/// In one case of this many, the thread may sleep too long and its datagram leave late.
const OVERSLEEPS: u64 = 100;
/// The share of the quantum for which the thread spins at most before a burst is due. A burst that leaves later than
/// planned by this share falsifies the rate of its gap by as much.
const SPIN: f64 = 0.1;
/// How many times a socket whose buffer is full is tried before the datagram is given up.
const TRIES: u32 = 1000;

/// Starts the thread, which sends through `socket` until [`TimerQueue::end`]. The flows' bursts are a `quantum` apart.
pub(crate) fn start(
    timers: Arc<TimerQueue<SendingFlow>>,
    quantum: Duration,
    socket: Arc<(UdpSocket, UdpSocketState)>,
) -> io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name("pacer".into()).spawn(move || {
        let yields = wake_in_time();
        let mut waking = if quantum > Duration::ZERO {
            Waking::within(OVERSLEEPS, quantum.scale(SPIN))
        } else {
            Waking::new(OVERSLEEPS)
        };
        let mut burst = Burst::new(socket.1.max_gso_segments());
        while let Some((due, flow)) = timers.wait(&mut waking, yields) {
            flow.depart(due, Instant::now, &mut burst, |burst| send(&socket, burst));
        }
    })
}

/// Sends, and tries again while the socket's buffer is full. A datagram that cannot be sent is lost, as it might be on
/// the path.
pub(crate) fn send(socket: &(UdpSocket, UdpSocketState), burst: &Burst) {
    burst.transmits().for_each(|transmit| send_together(socket, &transmit));
}

fn send_together((socket, state): &(UdpSocket, UdpSocketState), transmit: &Transmit<'_>) {
    for _ in 0..TRIES {
        match state.send(UdpSockRef::from(socket), transmit) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
            _ => return,
        }
    }
}
