//! Acknowledgments and reports: no peer makes a sender panic or work for long, or the host break the senders' contract.
//! The input chooses a controller, and says when packets leave and which of them the peer acknowledges.
#![no_main]

use control::{Bytes, Conditions, Duration, Report, Sender, Time, contract, registry};
use host::{AckEnd, Host, Lost, Packet, Waiting};
use libfuzzer_sys::fuzz_target;

const PACKET: Bytes = Bytes(1200);
/// What a stamp adds to a packet.
const STAMP: Bytes = Bytes(48);
/// A stack declares a packet lost when one that was sent this number of packets later is acknowledged (RFC 9002).
const THRESHOLD: usize = 3;

/// A stack that sends as much as its host allows.
struct Stack {
    host: Host,
    now: Time,
    /// When each packet was sent that is neither acknowledged nor lost.
    outstanding: Vec<Time>,
    received: u64,
}

fuzz_target!(|data: &[u8]| {
    let Some((&[controller, conditions], steps)) = data.split_first_chunk() else { return };
    let mut stack = Stack::new(controller, conditions);
    for step in steps.chunks_exact(6) {
        let &[kind, time, a, b, c, d] = step else { continue };
        // From a nanosecond to three hours, in powers of two, with three steps between them.
        stack.now += Duration((4 + u64::from(time & 3)) << (8 + (time >> 2) % 44));
        let word = u32::from_le_bytes([a, b, c, d]);
        match kind % 8 {
            0..4 => stack.send(1 + usize::from(kind >> 3)),
            4 | 5 => stack.acknowledge(a.into(), 1 + usize::from(b), kind % 8 == 5),
            6 => stack.declare_lost(a.into(), kind >> 3 == 31),
            _ => stack.report(kind >> 3, word),
        }
    }
});

impl Stack {
    fn new(controller: u8, conditions: u8) -> Stack {
        let error = Duration::from_micros(u64::from(conditions & 3) * 20);
        let quantum = Duration::from_micros(u64::from(conditions >> 2 & 3) * 50);
        let host = Conditions { timing_error: error, quantum, ..Conditions::exact(PACKET) };
        let sender = |controller: &registry::Controller| -> (Box<dyn Sender>, bool) {
            let mut parameters = controller.defaults().clone();
            // No controller has SEARCH for its slow start unless it is told to.
            if conditions & 16 != 0
                && let Some(slow_start) = parameters.get_mut("slow-start")
            {
                *slow_start = "search".into();
            }
            let parties = controller.build(&parameters, &host).expect("its defaults, and a slow start that it has");
            (contract::checked(parties.sender), parties.receiver.is_some())
        };
        let all = registry::all();
        let (chosen, stamps) = sender(&all[usize::from(controller) % all.len()]);
        let now = Time::ZERO;
        // As on the wire: CUBIC decides until the peer has agreed to read stamps.
        let host = if stamps {
            let mut host = Host::new(PACKET, sender(registry::find("cubic").expect("in the registry")).0);
            host.stamp(now, chosen, STAMP);
            host
        } else {
            Host::new(PACKET, chosen)
        };
        Stack { host, now, outstanding: Vec::new(), received: 0 }
    }

    /// Sends up to `most` packets.
    fn send(&mut self, most: usize) {
        let waiting = Waiting { backlog: Bytes(u64::MAX), received: self.received };
        self.host.on_wakeup(self.now, &waiting);
        for _ in 0..most {
            if !self.host.may_send(self.now, &waiting) {
                break;
            }
            // A stack names a packet by the time at which it was built, so that no two have the same.
            let sent = self.outstanding.last().map_or(self.now, |last| self.now.max(*last + Duration(1)));
            let packet = Packet { size: PACKET, sent: Some(sent), received: self.received, ecn_capable: false };
            self.host.on_sent(self.now, &packet, &waiting);
            self.outstanding.push(sent);
        }
        let wake = self.host.wake_at(self.now, &waiting);
        assert!(wake >= self.now, "woken in the past");
    }

    /// The peer acknowledges `count` packets from the one at `first` on; the ones well before them are lost. A stack
    /// passes over acknowledgments that name no new packet.
    fn acknowledge(&mut self, first: usize, count: usize, app_limited: bool) {
        let Some(last) = self.outstanding.len().checked_sub(1) else { return };
        let first = first.min(last);
        let end = (first + count).min(self.outstanding.len());
        self.received += 1;
        for sent in self.outstanding.drain(first..end) {
            self.host.on_acked(self.now, sent, PACKET);
        }
        self.declare_lost((first + 1).saturating_sub(THRESHOLD), false);
        let in_flight = Bytes(PACKET.0 * self.outstanding.len() as u64);
        self.host.on_ack_end(self.now, &AckEnd { in_flight, app_limited });
    }

    /// The first `count` packets are lost.
    fn declare_lost(&mut self, count: usize, persistent: bool) {
        let lost: Vec<_> = self.outstanding.drain(..count.min(self.outstanding.len())).collect();
        if let Some(&sent) = lost.last() {
            self.host.on_lost(self.now, &Lost { sent, size: Bytes(PACKET.0 * lost.len() as u64), persistent });
        }
    }

    /// A report with the values that the decoder lets through.
    fn report(&mut self, kind: u8, word: u32) {
        let rate = f32::from_bits(word);
        if !rate.is_finite() || rate < 0.0 {
            return;
        }
        let part = if rate <= 1.0 { rate } else { 0.5 };
        self.host.on_report(
            self.now,
            match kind % 4 {
                0 => Report::Available { stream: word % 64, rate, interval: word as u16 },
                1 => Report::Received { rate },
                2 => Report::Allowed { rate },
                _ => Report::Feedback { whole: word as i32, part },
            },
        );
    }
}
