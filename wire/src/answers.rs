//! Acknowledgments and reports of the receiver, which no window holds back: as many of them as datagrams have arrived.
//!
//! QUIC counts a packet with a report as in flight, and quinn holds acknowledgments back with whatever does not fit
//! into the window. If both ends wait for acknowledgments, neither sends any. The peer's congestion control bounds what
//! arrives, and so bounds the answers, too.

use control::{Bytes, Time};
use host::SMALL;
use std::collections::VecDeque;

/// How many answers may leave beyond the datagrams that have arrived.
pub(crate) const UNANSWERED: u64 = 8;
/// How many answers may be in flight, so that a peer that acknowledges none takes little memory: those to what arrives
/// in 200 ms at 1 Gbps.
const MOST: usize = 1 << 14;

/// The answers of one connection's end.
#[derive(Default)]
pub(crate) struct Answers {
    /// How many have left.
    count: u64,
    /// When quinn built those in flight, and their sizes, oldest first.
    in_flight: VecDeque<(Time, Bytes)>,
    bytes: Bytes,
}

impl Answers {
    /// Whether what quinn hands over together, `size` bytes, is an answer that may leave now, where `received`
    /// datagrams have arrived.
    pub(crate) fn may_leave(&self, size: usize, received: u64) -> bool {
        size as u64 <= SMALL.0 && self.count < received + UNANSWERED && self.in_flight.len() < MOST
    }

    /// One leaves, which quinn built at `sent`; none if it is not in flight for quinn, as it carries nothing but an
    /// acknowledgment.
    pub(crate) fn on_sent(&mut self, sent: Option<Time>, size: Bytes) {
        self.count += 1;
        if let Some(sent) = sent {
            self.in_flight.push_back((sent, size));
            self.bytes += size;
        }
    }

    /// A packet that was built at `sent` is acknowledged. Answers that left before it are acknowledged or lost, but for
    /// a few that were reordered.
    pub(crate) fn on_acked(&mut self, sent: Time) {
        while let Some(&(built, size)) = self.in_flight.front()
            && built <= sent
        {
            self.in_flight.pop_front();
            self.bytes -= size;
        }
    }

    /// Bytes of those in flight.
    pub(crate) fn in_flight(&self) -> Bytes {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_leave_as_datagrams_have_arrived() {
        let mut answers = Answers::default();
        let mut leave = |received, size| {
            (0..100)
                .filter(|_| {
                    answers.may_leave(size, received) && {
                        answers.on_sent(None, Bytes(50));
                        true
                    }
                })
                .count() as u64
        };
        assert_eq!(leave(0, 1200), 0, "no answer is so large");
        assert_eq!([leave(0, 50), leave(0, 50), leave(30, 50), leave(29, 50)], [UNANSWERED, 0, 30, 0]);
    }

    #[test]
    fn those_in_flight_are_the_ones_after_the_latest_acknowledged() {
        let mut answers = Answers::default();
        (1..=10).for_each(|i| answers.on_sent(Some(Time(i)), Bytes(40)));
        answers.on_acked(Time(0));
        assert_eq!(answers.in_flight(), Bytes(400));
        answers.on_acked(Time(7));
        answers.on_acked(Time(3));
        assert_eq!(answers.in_flight(), Bytes(120));
        answers.on_acked(Time(11));
        assert_eq!(answers.in_flight(), Bytes(0));
    }

    #[test]
    fn a_peer_that_acknowledges_nothing_has_few_kept() {
        let mut answers = Answers::default();
        let mut sent = 0;
        while answers.may_leave(50, u64::MAX / 2) {
            answers.on_sent(Some(Time(sent)), Bytes(50));
            sent += 1;
        }
        assert_eq!(sent, MOST as u64);
        answers.on_acked(Time(sent));
        assert!(answers.may_leave(50, u64::MAX / 2));
    }
}
