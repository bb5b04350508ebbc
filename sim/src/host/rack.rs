//! RACK (RFC 8985, section 6): which packets are lost, by the times at which they were sent.
//!
//! A packet is lost if one that was sent later has arrived, and the reordering window has passed since an
//! acknowledgment of it would have come. An acknowledgment in the simulator names the very packet that caused it, as
//! TCP's timestamps do. So a packet that was sent again is never mistaken for the one before it.

use super::scoreboard::{DUP_THRESH, Scoreboard};
use control::{Duration, Time};
use std::collections::VecDeque;

/// A packet that has been sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Time,
    /// Its number among all packets of the flow, modulo 2^32.
    order: u32,
    /// The segment that it carries; none if another packet carries it now.
    segment: Option<u64>,
}

/// For how many recoveries the reordering window stays longer than at first (`RACK.reo_wnd_persist`).
const RECOVERIES: u32 = 16;

/// The packets of a flow by the times at which they were sent, and how much reordering they have met.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// The packets in flight in the order in which they were sent, and others that have not been taken out yet.
    sent: VecDeque<Sent>,
    /// Those that timeouts gave up, in the same order, while the timeouts may prove spurious.
    given_up: Vec<Sent>,
    /// Of those that have arrived, the one that was sent last: when, and its order (`RACK.xmit_ts`, `RACK.end_seq`).
    latest: Option<(Time, u32)>,
    /// The round-trip time of the packet that was acknowledged last (`RACK.rtt`).
    rtt: Duration,
    /// The shortest round-trip time (`RACK.min_RTT`).
    shortest: Option<Duration>,
    /// Segments have arrived after later ones, although they were sent only once (`RACK.reordering_seen`).
    reordering: bool,
    /// How many quarters of the shortest round-trip time the reordering window has beyond the first.
    more: u32,
    /// After how many recoveries `more` is 0 again.
    persists: u32,
    /// The window has grown in the round trip that ends when everything before this segment has arrived
    /// (`RACK.dsack_round`).
    grown: Option<u64>,
    /// Losses were being repaired when an acknowledgment was last looked at.
    recovering: bool,
}

/// What [`Rack::on_ack`] needs to know of an acknowledgment.
pub struct Heard {
    /// When the packet was sent that caused it.
    pub sent: Time,
    /// The order of that packet.
    pub order: u32,
    /// Whether it tells of segments that were not known to have arrived.
    pub news: bool,
    /// Whether segments arrived after later ones, although they were sent only once.
    pub reordered: bool,
    /// Whether a segment was sent again although it was not lost. TCP learns of it by a duplicate selective
    /// acknowledgment.
    pub spurious: bool,
    /// Whether losses are being repaired, after a loss event or after a timeout.
    pub recovering: bool,
}

impl Rack {
    /// Packet number `order`, which carries `segment`, is sent (section 6.1).
    pub fn on_send(&mut self, now: Time, order: u32, segment: u64) {
        self.sent.push_back(Sent { at: now, order, segment: Some(segment) });
    }

    /// `segment`, which is in flight, will be sent once more. The packet that carries it now says nothing any more.
    pub fn replace(&mut self, segment: u64) {
        if let Some(sent) = self.sent.iter_mut().rev().find(|sent| sent.segment == Some(segment)) {
            sent.segment = None;
        }
    }

    /// An acknowledgment arrives (section 6.2, steps 1 to 4).
    pub fn on_ack(&mut self, now: Time, heard: &Heard, board: &Scoreboard) {
        let rtt = now.since(heard.sent);
        self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
        if heard.news {
            self.rtt = rtt;
            if self.latest.is_none_or(|(_, order)| is_after(heard.order, order)) {
                self.latest = Some((heard.sent, heard.order));
            }
        }
        // Linux, too, takes the arrival of a packet that was found lost for reordering. By the pseudo-code, which does
        // not, a window of 0 would find packets lost before it could see that they are late.
        self.reordering |= heard.reordered || heard.spurious;
        if self.grown.is_some_and(|end| board.una() >= end) {
            self.grown = None;
        }
        if heard.spurious && self.grown.is_none() {
            self.grown = Some(board.next());
            self.more += 1;
            self.persists = RECOVERIES;
        } else if self.recovering && !heard.recovering {
            self.persists = self.persists.saturating_sub(1);
            if self.persists == 0 {
                self.more = 0;
            }
        }
        self.recovering = heard.recovering;
    }

    /// The reordering window (`RACK.reo_wnd`).
    fn window(&self, smoothed: Option<Duration>, board: &Scoreboard) -> Duration {
        if !self.reordering && (self.recovering || board.sacked() >= u64::from(DUP_THRESH)) {
            return Duration::ZERO;
        }
        let quarter = self.shortest.unwrap_or(Duration::ZERO).0 / 4;
        let window = Duration(quarter.saturating_mul(1 + u64::from(self.more)));
        smoothed.map_or(window, |smoothed| window.min(smoothed))
    }

    /// Marks the packets that are lost by now (section 6.2, step 5). Returns when to look again, if no acknowledgment
    /// comes before that: when all packets that were sent before the latest one that has arrived will be lost. A
    /// delayed acknowledgment tells when the first of its packets was sent, and the order of the last one; so what is
    /// in flight may have been sent after that time.
    pub fn find_lost(&mut self, now: Time, smoothed: Option<Duration>, board: &mut Scoreboard) -> Option<Time> {
        let (latest_at, latest) = self.latest?;
        let wait = self.rtt + self.window(smoothed, board);
        while let Some(&Sent { at, order, segment }) = self.sent.front() {
            if let Some(segment) = segment.filter(|&segment| board.is_in_flight(segment)) {
                if !is_after(latest, order) {
                    return None;
                }
                if at + wait > now {
                    return Some(latest_at.max(at) + wait);
                }
                board.lose_packet(segment, order);
            }
            self.sent.pop_front();
        }
        None
    }

    /// The retransmission timer has expired (section 6.3): the first outstanding segment is lost, and so are packets
    /// that were sent longer ago than a round-trip time and the reordering window. If the timeout may prove spurious,
    /// [`Rack::restore`] can undo that.
    pub fn on_timeout(&mut self, now: Time, smoothed: Option<Duration>, may_be_spurious: bool, board: &mut Scoreboard) {
        self.recovering = true;
        if !may_be_spurious {
            self.given_up.clear();
        }
        let wait = self.rtt + self.window(smoothed, board);
        while let Some(&Sent { at, order, segment }) = self.sent.front() {
            if let Some(segment) = segment.filter(|&segment| board.is_in_flight(segment)) {
                if at + wait > now {
                    break;
                }
                board.lose_packet(segment, order);
                if may_be_spurious {
                    self.given_up.push(Sent { at, order, segment: Some(segment) });
                }
            }
            self.sent.pop_front();
        }
        let first = board.una();
        if board.is_in_flight(first)
            && let Some(sent) = self.sent.iter_mut().find(|sent| sent.segment == Some(first))
        {
            board.lose_packet(first, sent.order);
            sent.segment = None;
        }
        board.repair_in_order();
    }

    /// The timeouts were spurious: the packets that they gave up, and that are still given up on the scoreboard, are
    /// again among those in flight.
    pub fn restore(&mut self, board: &mut Scoreboard) {
        for sent in self.given_up.drain(..).rev() {
            if sent.segment.is_some_and(|segment| board.is_lost(segment)) {
                self.sent.push_front(sent);
            }
        }
    }
}

/// Whether packet number `a` was sent after `b`.
fn is_after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A flow whose packet n is sent at n ms, and is acknowledged 100 ms later if it arrives.
    struct Flow {
        rack: Rack,
        board: Scoreboard,
        recovering: bool,
    }

    impl Flow {
        fn of(packets: u64) -> Flow {
            let (mut rack, mut board) = (Rack::default(), Scoreboard::default());
            for n in 0..packets {
                rack.on_send(ms(n), n as u32, board.send_new());
            }
            Flow { rack, board, recovering: false }
        }

        /// The packet with which `segment` was sent first arrives after all of `before`. Returns when to look again.
        fn hear(&mut self, now: Time, segment: u64) -> Option<Time> {
            self.hear_of(now, segment, segment as u32, ms(segment))
        }

        fn hear_of(&mut self, now: Time, segment: u64, order: u32, sent: Time) -> Option<Time> {
            let news = if segment == self.board.una() {
                self.board.acknowledge(segment + 1) > 0
            } else {
                self.board.sack(segment)
            };
            let found = self.board.take_news();
            let heard = Heard {
                sent,
                order,
                news,
                reordered: found.reordered > 0,
                spurious: found.late > 0,
                recovering: self.recovering,
            };
            self.rack.on_ack(now, &heard, &self.board);
            self.find(now)
        }

        fn find(&mut self, now: Time) -> Option<Time> {
            self.rack.find_lost(now, Some(RTT), &mut self.board)
        }

        /// The lost segments, which are sent again `now`.
        fn resend(&mut self, now: Time, mut order: u32) -> Vec<u64> {
            let mut lost = Vec::new();
            while let Some(segment) = self.board.next_lost() {
                self.board.resend(segment, order);
                self.rack.on_send(now, order, segment);
                lost.push(segment);
                order += 1;
            }
            lost
        }
    }

    #[test]
    fn after_a_delayed_acknowledgment_the_next_look_is_later() {
        let mut flow = Flow::of(6);
        flow.hear_of(ms(140), 0, 3, ms(0));
        // Packets are lost 140 ms and a quarter of that after they were sent: the first of segments 1 and 2 by now.
        assert_eq!((flow.find(ms(176)), flow.board.next_lost()), (Some(ms(177)), Some(1)));
    }

    #[test]
    fn one_later_packet_and_a_quarter_of_a_round_trip_mean_a_loss() {
        let mut flow = Flow::of(3);
        flow.hear(ms(100), 0);
        // Packet 1 is lost. Packet 2 was sent at 2 ms: all before it are lost 25 ms after its acknowledgment.
        assert_eq!(flow.hear(ms(102), 2), Some(ms(127)));
        assert_eq!(flow.find(ms(125)), Some(ms(127)), "packet 1, of 1 ms, is waited for until 126 ms");
        assert_eq!(flow.find(ms(127)), None);
        assert_eq!(flow.resend(ms(127), 3), [1]);
    }

    #[test]
    fn three_later_packets_mean_a_loss_at_once_unless_packets_have_been_reordered() {
        let mut flow = Flow::of(5);
        flow.hear(ms(100), 0);
        flow.hear(ms(102), 2);
        flow.hear(ms(103), 3);
        assert_eq!(flow.board.in_flight(), 2);
        flow.hear(ms(104), 4);
        assert_eq!(flow.resend(ms(104), 5), [1]);

        let mut flow = Flow::of(8);
        flow.hear(ms(101), 1);
        flow.hear(ms(102), 0);
        for (now, segment) in [(104, 4), (105, 5), (106, 6)] {
            flow.hear(ms(now), segment);
        }
        assert_eq!(flow.resend(ms(106), 8), [] as [u64; 0]);
    }

    #[test]
    fn a_repair_that_is_lost_is_sent_again() {
        let mut flow = Flow::of(5);
        for (now, segment) in [(100, 0), (102, 2), (103, 3), (104, 4)] {
            flow.hear(ms(now), segment);
        }
        assert_eq!(flow.resend(ms(104), 5), [1]);
        flow.recovering = true;
        // A new packet after the repair arrives, and the repair does not.
        flow.rack.on_send(ms(105), 6, flow.board.send_new());
        flow.hear_of(ms(205), 5, 6, ms(105));
        assert_eq!(flow.resend(ms(205), 7), [1]);
    }

    #[test]
    fn the_window_grows_by_a_quarter_per_round_trip_with_spurious_repairs_and_shrinks_after_sixteen_recoveries() {
        let mut rack = Rack { reordering: true, ..Rack::default() };
        let mut board = Scoreboard::default();
        let on_ack = |rack: &mut Rack, board: &Scoreboard, spurious, recovering| {
            let heard = Heard { sent: ms(0), order: 0, news: true, reordered: false, spurious, recovering };
            rack.on_ack(ms(100), &heard, board);
            rack.window(Some(RTT), board)
        };
        board.send_new();
        board.send_new();
        assert_eq!(on_ack(&mut rack, &board, false, false), Duration::from_millis(25));
        assert_eq!(on_ack(&mut rack, &board, true, false), Duration::from_millis(50));
        assert_eq!(on_ack(&mut rack, &board, true, false), Duration::from_millis(50), "in the same round trip");
        board.acknowledge(2);
        assert_eq!(on_ack(&mut rack, &board, true, false), Duration::from_millis(75));
        for left in (0..16).rev() {
            on_ack(&mut rack, &board, false, true);
            let window = on_ack(&mut rack, &board, false, false);
            assert_eq!(window, Duration::from_millis(if left > 0 { 75 } else { 25 }), "{left} recoveries left");
        }
    }
}
