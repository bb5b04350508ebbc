//! The thread from which datagrams leave, each at its time: it sleeps until shortly before, then spins. Where the
//! kernel keeps launch times, the thread hands datagrams over a little earlier and does not spin.
//!
//! One thread serves all flows of an endpoint. It takes the flow whose datagram is due first, sends that one datagram
//! (or the few that its sender lets go at once), and looks again, so that no flow waits for another's schedule. It does
//! not catch up by itself: a sender is asked again after each datagram, with the time as it is.

use crate::batch::Batch;
use crate::launch::Launcher;
use crate::pacing::Pacing;
use crate::sending::SendingFlow;
use crate::timer_queue::{Timer, TimerQueue};
use quinn::udp::{UdpSockRef, UdpSocketState};
use realtime::{Clock, Waking, wake_in_time};
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;

/// In one case of this many, the thread may sleep too long and its datagram leave late.
const OVERSLEEPS: u64 = 100;
/// How many times a socket whose buffer is full is tried before the datagram is given up.
const TRIES: u32 = 1000;

/// Starts the thread, which sends through `socket` until [`TimerQueue::end`].
pub(crate) fn start(
    timers: Arc<TimerQueue<SendingFlow>>,
    clock: Clock,
    socket: Arc<(UdpSocket, UdpSocketState)>,
) -> io::Result<std::thread::JoinHandle<()>> {
    let launcher = Launcher::new(clock)?;
    std::thread::Builder::new().name("pacer".into()).spawn(move || {
        let (yields, mut waking) = (wake_in_time(), Waking::new(OVERSLEEPS));
        let mut batch = Batch::new(socket.1.max_gso_segments());
        while let Some(Timer { due, owner: flow, .. }) = timers.wait(clock, &mut waking, yields) {
            let launch = flow.depart(due, &mut batch);
            let Some(transmit) = batch.transmit() else { continue };
            let is_held = launch.is_some_and(|at| retry(|| launcher.send(&socket.0, &transmit, at)).is_ok());
            if !is_held {
                if let Some(at) = launch {
                    flow.pace(Pacing::Spin); // the kernel refused the launch time
                    while clock.now() < at {
                        std::hint::spin_loop();
                    }
                }
                // A datagram that cannot be sent is lost, as it might be on the path.
                let _ = retry(|| socket.1.send(UdpSockRef::from(&socket.0), &transmit));
            }
            flow.on_left();
        }
    })
}

/// Tries again while the socket's buffer is full. A datagram that is given up for that reason is no failure.
fn retry(mut send: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 0..TRIES {
        match send() {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
            done => return done,
        }
    }
    Ok(())
}
