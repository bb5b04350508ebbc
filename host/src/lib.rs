//! What a QUIC stack must do to run the controllers of [`control`], without sockets, clocks, threads or locks.
//!
//! A stack owns packets: it builds and numbers them, detects losses (RFC 9002, section 6.1) and repairs them. A
//! [`Host`] stands between it and a congestion controller's [`Sender`](control::Sender), one for each direction of each
//! connection. The stack tells it of packets sent, acknowledged and lost, and asks when the next may leave; the host
//! keeps everything that the controllers' contract ([`control::roles`]) asks of it: bytes in flight, samples of the
//! round-trip time, retransmission timeouts, one loss event per window, recovery, the question to the routers before
//! the first data, and the receiver's reports. Time is an argument of every call.
//!
//! What lives here does no I/O and knows no stack; the crate is `no_std` with `alloc`. What does not live here:
//! detecting losses, acknowledging, and how stamps and reports travel; and the simulator's hosts (`sim/src/host`),
//! which detect and repair losses themselves and share only the [`RoundTrip`].
//!
//! # How a stack calls it
//!
//! Whenever something has happened and packets wait, and at the time that [`Host::wake_at`] named:
//!
//! ```
//! use control::{Bytes, Conditions, Time, registry};
//! use thalweg_host::{AckEnd, Host, Lost, Packet, Waiting};
//!
//! # struct Stack { waiting: Vec<Packet>, host: Host }
//! # impl Stack {
//! /// Sends what may leave now. Returns when to call this again, if nothing happens before.
//! fn send(&mut self, now: Time) -> Option<Time> {
//!     self.host.on_wakeup(now, &self.state());
//!     while !self.waiting.is_empty() && self.host.may_send(now, &self.state()) {
//!         let waiting = self.state();
//!         let packet = self.waiting.remove(0);
//!         let _stamp = self.host.on_sent(now, &packet, &waiting);
//!         // Hand the packet to the socket, with the stamp if there is one.
//!     }
//!     (!self.waiting.is_empty()).then(|| self.host.wake_at(now, &self.state()))
//! }
//!
//! fn state(&self) -> Waiting {
//!     Waiting { backlog: self.waiting.iter().map(|packet| packet.size).sum(), received: 0 }
//! }
//! # }
//! #
//! # let cubic = registry::find("cubic").unwrap();
//! # let parties = cubic.build(cubic.defaults(), &Conditions::exact(Bytes(1200))).unwrap();
//! # let host = Host::new(Bytes(1200), parties.sender);
//! # let ms = |ms| Time::ZERO + control::Duration::from_millis(ms);
//! # let packet = Packet { size: Bytes(1200), sent: Some(ms(1)), received: 0, ecn_capable: false };
//! # let mut stack = Stack { waiting: vec![packet; 20], host };
//! # stack.send(ms(1));
//! # let host = &mut stack.host;
//! # let in_flight = host.in_flight();
//! # assert!(in_flight > Bytes(0));
//! # let now = ms(101);
//!
//! // When an acknowledgment arrives: first each packet that it names, then what it shows to be lost, then its end.
//! host.on_acked(now, ms(1), Bytes(1200));
//! host.on_lost(now, &Lost { sent: ms(1), size: Bytes(1200), persistent: false });
//! host.on_ack_end(now, &AckEnd { in_flight: in_flight - Bytes(2400), app_limited: false });
//! # assert_eq!(host.rtt(), Some(control::Duration::from_millis(100)));
//! ```
//!
//! A stack that finds a loss by a timer of its own calls [`Host::on_lost`] alone. Packets are named by the time at
//! which the stack counts them as sent, as in RFC 9002. They may leave later: a stack may build packets ahead and keep
//! them in a queue of its own, and round-trip times count from when they left it.
//!
//! # What the host decides
//!
//! - A retransmission timeout gives up what is in flight and lets two packets leave, whatever the sender says.
//! - One packet may leave despite a closed window if it carries an acknowledgment that is owed ([`Waiting::received`]).
//! - No more is in flight than 64 packets and four times what acknowledgments confirmed in the best of the last eight
//!   round trips; each timeout in a row halves that.
//! - Once a stack asks for it ([`Host::enable_ecn`]), packets may be ECN-capable while the path and the peer prove to
//!   support that; the host tells the sender how many bytes were marked.
//! - Where packets with stamps do not get through and packets without do, stamps are given up for good.

#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod departures;
mod ecn;
mod flight;
mod host;
mod limit;
mod owed;
mod retransmission;
mod round_trip;
mod senders;
mod stamped_path;

pub use ecn::{EcnCounts, EcnState};
pub use host::{AckEnd, Host, Lost, Packet, SMALL, Waiting};
pub use round_trip::RoundTrip;
