//! Whether packets may be ECN-capable on a path, and how many of them queues have marked: RFC 9000, section 13.4.2,
//! after the sample of appendix A.4.

use control::{Bytes, Duration, Time};

/// How many ECN-capable packets leave before one of them is acknowledged, and for how many retransmission timeouts:
/// some networks drop all of them (RFC 9000, appendix A.4).
const TEST_PACKETS: u64 = 10;
const TEST_TIMEOUTS: u64 = 3;

/// How many packets the peer has received with each ECN field, in all, as its acknowledgments tell (RFC 9000, section
/// 19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// With the codepoint that this end sends, ECT(0) or ECT(1).
    pub capable: u64,
    /// With the other one of the two.
    pub other: u64,
    /// Marked (CE).
    pub marked: u64,
}

/// What is known of ECN on the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnState {
    /// The stack has not begun to send ECN-capable packets ([`Host::enable_ecn`](crate::Host::enable_ecn)).
    #[default]
    Off,
    /// The first packets are ECN-capable, to find out.
    Testing,
    /// No ECN-capable packet is acknowledged yet, and no more of them are sent until one is.
    Unknown,
    /// The path leaves the ECN field as it should, and the peer reports it: packets are ECN-capable.
    Capable,
    /// The path or the peer does not: packets are not ECN-capable any more.
    Failed,
}

/// The validation of ECN on a path.
#[derive(Debug, Default)]
pub(crate) struct Ecn {
    state: EcnState,
    /// How many ECN-capable packets were sent.
    sent: u64,
    /// How many of them before the validation began, and when the first one after that was sent.
    sent_before: u64,
    began: Option<Time>,
    /// The size of the largest one on this path.
    largest: Bytes,
    /// When it was asked last whether packets may be ECN-capable, and the answer.
    asked: Option<(Time, bool)>,
    /// The counts that were valid last.
    counts: EcnCounts,
    /// ECN-capable packets, and all packets, that the present acknowledgment acknowledges newly.
    capable_acked: u64,
    acked: u64,
    /// Packets that it tells to be marked.
    marked: u64,
}

impl Ecn {
    pub(crate) fn enable(&mut self) {
        if self.state == EcnState::Off {
            self.state = EcnState::Testing;
        }
    }

    /// Packets go another way from now on: "An endpoint validates that a network path [...] supports ECN [...] when it
    /// migrates to a new path" (section 13.4.2). The counts go on, as they are those of the connection.
    pub(crate) fn restart(&mut self) {
        if self.state != EcnState::Off {
            self.state = EcnState::Testing;
            (self.sent_before, self.began, self.asked) = (self.sent, None, None);
            // The path MTU is found out anew as well, and its probes may be smaller than packets on the path before.
            self.largest = Bytes(0);
        }
    }

    /// The path MTU is `mtu` from now on: a larger packet probes for a larger one.
    pub(crate) fn limit(&mut self, mtu: Bytes) {
        self.largest = self.largest.min(mtu);
    }

    pub(crate) fn state(&self) -> EcnState {
        self.state
    }

    /// Whether a packet that leaves at `now` may be ECN-capable, where a retransmission timeout takes as long as
    /// `timeout`. The answer is the same for all packets of one time, which is how they are told apart when they are
    /// acknowledged.
    pub(crate) fn is_capable(&mut self, now: Time, timeout: Duration) -> bool {
        if let Some((asked, answer)) = self.asked
            && asked == now
        {
            return answer;
        }
        let tested = |began: Time| now.since(began).0 >= timeout.0.saturating_mul(TEST_TIMEOUTS);
        if self.state == EcnState::Testing
            && (self.sent - self.sent_before >= TEST_PACKETS || self.began.is_some_and(tested))
        {
            self.state = EcnState::Unknown;
        }
        let answer = matches!(self.state, EcnState::Testing | EcnState::Capable);
        self.asked = Some((now, answer));
        answer
    }

    pub(crate) fn on_sent(&mut self, now: Time, size: Bytes) {
        self.sent += 1;
        self.began.get_or_insert(now);
        self.largest = self.largest.max(size);
    }

    /// A packet of `size` is acknowledged, which was ECN-capable, or was sent at the time of one that was, if it
    /// `may_be_capable`. A probe of the path MTU is told apart by being larger.
    pub(crate) fn on_acked(&mut self, size: Bytes, may_be_capable: bool) {
        self.acked += 1;
        self.capable_acked += u64::from(may_be_capable && size <= self.largest);
    }

    /// The acknowledgment of these packets has such counts, or none.
    pub(crate) fn on_counts(&mut self, counts: Option<EcnCounts>) {
        match self.state {
            EcnState::Off => return,
            // What a further path adds counts from here on.
            EcnState::Failed => return self.counts = counts.unwrap_or(self.counts),
            EcnState::Testing | EcnState::Unknown | EcnState::Capable => {}
        }
        match counts.map_or_else(|| (self.capable_acked == 0).then_some(0), |counts| self.newly_marked(counts)) {
            None => self.state = EcnState::Failed,
            Some(marked) => {
                self.counts = counts.unwrap_or(self.counts);
                self.marked = marked;
                if self.capable_acked > 0 {
                    self.state = EcnState::Capable;
                }
            }
        }
    }

    /// The acknowledgment tells of marks, and the stack does not say of how many.
    pub(crate) fn on_marks(&mut self) {
        self.marked = self.marked.max(1);
    }

    /// How many more packets are marked than before; none if `counts` are not valid (section 13.4.2.1).
    fn newly_marked(&self, counts: EcnCounts) -> Option<u64> {
        // Counts do not decrease, as acknowledgments that came out of order are not looked at.
        let capable = counts.capable.checked_sub(self.counts.capable)?;
        let marked = counts.marked.checked_sub(self.counts.marked)?;
        // "If the sum of the increase in ECT(0) count and the increase in ECN-CE count is less than the number of newly
        // acknowledged packets that were originally sent with an ECT(0) marking", some arrived with the field cleared.
        // The sum may be larger, as acknowledgments may be lost.
        if capable.saturating_add(marked) < self.capable_acked {
            return None;
        }
        // "ECN validation also fails when an endpoint receives a non-zero ECN count corresponding to an ECT codepoint
        // that it never applied", or more packets with the other one than it has sent. What an earlier path did is
        // past.
        (counts.other == self.counts.other && counts.capable.saturating_add(counts.marked) <= self.sent)
            .then_some(marked)
    }

    /// The acknowledgment is complete. Its packets have `size` bytes together: returns the bytes of those that are
    /// newly told to be marked, as if all had the same size.
    pub(crate) fn on_ack_end(&mut self, size: Bytes) -> Bytes {
        let (marked, acked) = (self.marked.min(self.acked), self.acked);
        (self.capable_acked, self.acked, self.marked) = (0, 0, 0);
        Bytes(size.0.saturating_mul(marked) / acked.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(200);
    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000_000);

    /// Sends as many packets, shortly after one another. Returns how many were ECN-capable.
    fn send(ecn: &mut Ecn, from: Time, packets: u64) -> u64 {
        let send = |i| {
            let now = from + Duration(i);
            let capable = ecn.is_capable(now, TIMEOUT);
            if capable {
                ecn.on_sent(now, Bytes(1000));
            }
            u64::from(capable)
        };
        (0..packets).map(send).sum()
    }

    /// `capable` packets that were sent ECN-capable and `plain` others are acknowledged, with these counts:
    /// ECN-capable, with the other codepoint, and marked. Each has 1000 bytes; returns the bytes of marked ones.
    fn ack(ecn: &mut Ecn, capable: u64, plain: u64, counts: Option<[u64; 3]>) -> u64 {
        (0..capable).for_each(|_| ecn.on_acked(Bytes(1000), true));
        (0..plain).for_each(|_| ecn.on_acked(Bytes(1000), false));
        ecn.on_counts(counts.map(|[capable, other, marked]| EcnCounts { capable, other, marked }));
        ecn.on_ack_end(Bytes(1000 * (capable + plain))).0
    }

    /// ECN is enabled after packets that were not capable.
    fn testing() -> Ecn {
        let mut ecn = Ecn::default();
        assert_eq!(send(&mut ecn, MS(0), 5), 0, "not before it is enabled");
        ecn.enable();
        ecn
    }

    #[test]
    fn ten_packets_are_sent_to_find_out_and_the_others_once_one_is_acknowledged() {
        let mut ecn = testing();
        assert_eq!(send(&mut ecn, MS(0), 30), 10);
        assert_eq!(ecn.state(), EcnState::Unknown);
        assert_eq!(ack(&mut ecn, 0, 3, Some([0, 0, 0])), 0);
        assert_eq!(send(&mut ecn, MS(50), 5), 0, "only others are acknowledged");
        assert_eq!(ack(&mut ecn, 2, 0, Some([2, 0, 0])), 0);
        assert_eq!(ecn.state(), EcnState::Capable);
        assert_eq!(send(&mut ecn, MS(60), 100), 100);
    }

    #[test]
    fn packets_of_one_time_are_alike() {
        let mut ecn = testing();
        send(&mut ecn, MS(0), 9);
        for (now, capable) in [(MS(1), true), (MS(2), false)] {
            for _ in 0..3 {
                assert_eq!(ecn.is_capable(now, TIMEOUT), capable);
                ecn.on_sent(now, Bytes(1000));
            }
        }
    }

    #[test]
    fn a_path_that_drops_capable_packets_is_tested_for_three_timeouts() {
        let mut ecn = testing();
        assert_eq!([0, 300, 599, 600, 5000].map(|ms| send(&mut ecn, MS(ms), 2)), [2, 2, 2, 0, 0]);
    }

    #[test]
    fn marked_bytes_are_in_proportion_to_marked_packets() {
        let mut ecn = testing();
        send(&mut ecn, MS(0), 10);
        assert_eq!(ack(&mut ecn, 4, 0, Some([3, 0, 1])), 1000);
        assert_eq!(ack(&mut ecn, 2, 0, Some([3, 0, 3])), 2000);
        assert_eq!(ack(&mut ecn, 2, 0, Some([5, 0, 3])), 0);
        // An acknowledgment was lost: the counts say more than its packets.
        assert_eq!(ack(&mut ecn, 1, 0, Some([5, 0, 5])), 1000);
    }

    #[test]
    fn validation_fails_for_good_where_the_counts_cannot_be() {
        let failures: [(&str, u64, Option<[u64; 3]>); 6] = [
            ("the peer reports none", 4, None),
            ("the field was cleared", 4, Some([3, 0, 0])),
            ("the field was cleared, and one is marked", 4, Some([2, 0, 1])),
            ("the codepoint was changed", 4, Some([4, 1, 0])),
            ("more than were sent", 4, Some([11, 0, 0])),
            ("so many marks that they overflow", 4, Some([u64::MAX, 0, u64::MAX])),
        ];
        for (what, acked, counts) in failures {
            let mut ecn = testing();
            send(&mut ecn, MS(0), 10);
            assert_eq!(ack(&mut ecn, acked, 0, counts), 0, "{what}");
            assert_eq!(ecn.state(), EcnState::Failed, "{what}");
            assert_eq!(ack(&mut ecn, 2, 0, Some([10, 0, 0])), 0, "{what}");
            assert_eq!((ecn.state(), send(&mut ecn, MS(1), 5)), (EcnState::Failed, 0), "{what}");
        }
    }

    #[test]
    fn validation_goes_on() {
        let mut ecn = testing();
        send(&mut ecn, MS(0), 10);
        ack(&mut ecn, 5, 0, Some([4, 0, 1]));
        assert_eq!(ecn.state(), EcnState::Capable);
        ack(&mut ecn, 2, 0, Some([6, 0, 0]));
        assert_eq!(ecn.state(), EcnState::Failed, "a count decreases");
    }

    #[test]
    fn packets_that_were_not_capable_need_no_counts() {
        let mut ecn = testing();
        send(&mut ecn, MS(0), 10);
        ecn.on_acked(Bytes(1452), true); // a probe of the path MTU that was built at the time of a capable packet
        assert_eq!(ack(&mut ecn, 0, 3, None), 0);
        assert_eq!(ecn.state(), EcnState::Testing);
    }

    #[test]
    fn a_further_path_is_tested_anew_whatever_the_one_before_did() {
        let mut ecn = testing();
        send(&mut ecn, MS(0), 10);
        ack(&mut ecn, 2, 0, Some([0, 2, 0]));
        assert_eq!(ecn.state(), EcnState::Failed, "it changes the codepoint");
        ack(&mut ecn, 8, 0, Some([0, 10, 0]));
        ecn.restart();
        assert_eq!((ecn.state(), send(&mut ecn, MS(100), 30)), (EcnState::Testing, 10));
        assert_eq!(ack(&mut ecn, 3, 0, Some([2, 10, 1])), 1000);
        assert_eq!(ecn.state(), EcnState::Capable);
        ecn.restart();
        send(&mut ecn, MS(200), 10);
        ack(&mut ecn, 3, 0, Some([2, 10, 1]));
        assert_eq!(ecn.state(), EcnState::Failed, "the third path clears the field");
    }

    #[test]
    fn a_probe_of_the_path_mtu_is_none_of_the_packets_that_a_further_path_is_tested_with() {
        let mut ecn = testing();
        send(&mut ecn, MS(0), 2);
        ecn.restart();
        ecn.is_capable(MS(100), TIMEOUT);
        ecn.on_sent(MS(100), Bytes(600));
        assert_eq!(ack(&mut ecn, 0, 1, Some([1, 0, 0])), 0);
        ecn.on_acked(Bytes(900), true); // the probe was built at the same time, and is smaller than earlier packets
        assert_eq!(ack(&mut ecn, 0, 0, Some([1, 0, 0])), 0);
        assert_eq!(ecn.state(), EcnState::Testing);
    }

    #[test]
    fn a_probe_that_is_larger_than_a_lowered_path_mtu_is_none_either() {
        let mut ecn = testing();
        send(&mut ecn, MS(0), 10);
        assert_eq!(ack(&mut ecn, 10, 0, Some([10, 0, 0])), 0);
        ecn.limit(Bytes(800));
        ecn.is_capable(MS(100), TIMEOUT);
        ecn.on_sent(MS(100), Bytes(800));
        ecn.on_acked(Bytes(900), true); // the probe was built at the same time, and is smaller than earlier packets
        ecn.on_acked(Bytes(800), true);
        assert_eq!(ack(&mut ecn, 0, 0, Some([11, 0, 0])), 0);
        assert_eq!(ecn.state(), EcnState::Capable);
    }

    #[test]
    fn nothing_is_tested_before_it_is_enabled() {
        let mut ecn = Ecn::default();
        ecn.restart();
        assert_eq!((ecn.state(), send(&mut ecn, MS(0), 5)), (EcnState::Off, 0));
    }
}
