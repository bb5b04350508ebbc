//! Proportional Rate Reduction: in recovery, the window falls to ssthresh in proportion to what arrives, rather than at
//! once (RFC 9937, which obsoletes RFC 6937).

use crate::roles::Ack;
use crate::units::{Bytes, Time};
use libm::ceil;

/// An episode: from a loss event until its losses are repaired. All sizes are in packets, as the RFC's examples are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prr {
    /// The window to reach.
    ssthresh: f64,
    /// RecoverFS: what was in flight when the loss was found, the lost packets included; none before the first
    /// acknowledgment.
    flight: Option<f64>,
    /// prr_delivered: acknowledged since.
    delivered: f64,
    /// prr_out: sent since.
    out: f64,
    /// When the loss was found.
    began: Time,
}

impl Prr {
    /// A loss event is found. The window is to fall to `ssthresh` packets.
    pub fn new(now: Time, ssthresh: f64) -> Prr {
        Prr { ssthresh, flight: None, delivered: 0.0, out: 0.0, began: now }
    }

    /// `packets` are sent.
    pub fn on_send(&mut self, packets: f64) {
        self.out += packets;
    }

    /// An acknowledgment arrives before the losses are repaired; packets have `packet` bytes. Returns the window.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, packet: Bytes) -> f64 {
        let packets = |bytes: Bytes| bytes.0 as f64 / packet.0 as f64;
        let (acked, lost, in_flight) = (packets(ack.acked), packets(ack.lost), packets(ack.in_flight));
        // Without what was acknowledged before, and with what this acknowledgment newly does.
        let flight = *self.flight.get_or_insert((in_flight + acked + lost - self.out).max(1.0));
        self.delivered += acked;
        let mut sndcnt = if in_flight > self.ssthresh {
            ceil(self.delivered * self.ssthresh / flight) - self.out
        } else {
            // The conservative reduction bound, or the slow start reduction bound after a safe acknowledgment.
            let slow_start = f64::from(u8::from(self.is_safe(now, ack)));
            ((self.delivered - self.out).max(acked) + slow_start).min(self.ssthresh - in_flight)
        };
        if self.out == 0.0 && sndcnt <= 0.0 {
            sndcnt = 1.0; // the fast retransmit
        }
        (in_flight + sndcnt.max(0.0)).max(1.0)
    }

    /// Whether recovery makes progress (safeACK). The RFC's sign is an acknowledgment that advances SND.UNA and shows
    /// no further loss. **Decided**: in place of the former, that a packet sent since the loss was found has arrived,
    /// as not all hosts have a SND.UNA. Repairs leave first, so the two differ only where repairs are lost again.
    fn is_safe(&self, now: Time, ack: &Ack) -> bool {
        ack.acked.0 > 0 && ack.lost.0 == 0 && ack.rtt.is_some_and(|rtt| now - rtt >= self.began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Duration;

    const PACKET: Bytes = Bytes(1000);
    const RTT: Duration = Duration::from_millis(100);

    /// A flow of 20 packets in flight that sends as much as the window allows, on a path that loses the first `lost` of
    /// them. By limited transmit, it has sent two packets more for the first two duplicate acknowledgments.
    struct Flow {
        prr: Prr,
        now: Time,
        in_flight: u64,
    }

    impl Flow {
        fn new(lost: u64) -> Flow {
            let now = Time::ZERO + RTT;
            Flow { prr: Prr::new(now, 10.0), now, in_flight: 20 + 2 - lost - 2 }
        }

        /// A packet that was sent `since` before is acknowledged. Returns the window, and how many packets it lets out.
        fn ack(&mut self, lost: u64, since: Duration) -> (f64, u64) {
            self.in_flight -= 1;
            let bytes = |packets: u64| Bytes(packets * PACKET.0);
            let ack = Ack {
                acked: PACKET,
                lost: bytes(lost),
                in_flight: bytes(self.in_flight),
                recovery: true,
                rtt: Some(since),
                ..Ack::default()
            };
            let window = self.prr.on_ack(self.now, &ack, PACKET);
            let sent = (window as u64).saturating_sub(self.in_flight);
            self.prr.on_send(sent as f64);
            self.in_flight += sent;
            (window, sent)
        }

        /// The acknowledgments of the packets in flight when the loss was found: the third duplicate, which shows
        /// `lost` losses, and those up to number 19.
        fn first_round_trip(&mut self, lost: u64) -> Vec<(f64, u64)> {
            (0..20 - lost - 2).map(|i| self.ack(if i == 0 { lost } else { 0 }, RTT)).collect()
        }
    }

    /// The RFC's example of a single loss (also in RFC 6937, section 3.1): every second acknowledgment sends a packet,
    /// and the window is ssthresh in the end.
    #[test]
    fn after_one_loss_the_window_falls_by_half_a_packet_per_acknowledgment() {
        let mut flow = Flow::new(1);
        let (windows, sent): (Vec<f64>, Vec<u64>) = flow.first_round_trip(1).into_iter().unzip();
        let expected = [19, 18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12, 12, 11, 10];
        assert_eq!(windows, expected.map(f64::from));
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0]);
        // Then the two packets of limited transmit and the repair.
        let windows: Vec<f64> = (0..3).map(|_| flow.ack(0, RTT).0).collect();
        assert_eq!(windows, [10.0, 10.0, 10.0]);
    }

    /// The RFC's example of fifteen losses in a row: what is in flight falls below ssthresh at once. What arrives is
    /// replaced, without a burst; once repairs arrive, the window grows by a packet for each more.
    #[test]
    fn after_fifteen_losses_no_burst_is_sent_and_slow_start_restores_what_is_in_flight() {
        let mut flow = Flow::new(15);
        assert_eq!(flow.first_round_trip(15), [(5.0, 1), (5.0, 1), (5.0, 1)]);
        assert_eq!([0, 1].map(|_| flow.ack(0, RTT)), [(5.0, 1); 2], "the two packets of limited transmit");
        flow.now += RTT;
        let (windows, sent): (Vec<f64>, Vec<u64>) = (0..7).map(|_| flow.ack(0, RTT)).unzip();
        assert_eq!((windows, sent), (vec![6.0, 7.0, 8.0, 9.0, 10.0, 10.0, 10.0], vec![2, 2, 2, 2, 2, 1, 1]));
    }

    #[test]
    fn a_further_loss_suspends_the_slow_start() {
        let mut flow = Flow::new(15);
        flow.first_round_trip(15);
        flow.now += RTT;
        assert_eq!(flow.ack(1, RTT), (5.0, 1));
    }

    #[test]
    fn the_first_repair_leaves_however_little_arrived() {
        let mut prr = Prr::new(Time::ZERO, 10.0);
        let ack = Ack { lost: PACKET, in_flight: Bytes(19 * PACKET.0), recovery: true, ..Ack::default() };
        assert_eq!(prr.on_ack(Time::ZERO, &ack, PACKET), 20.0);
    }
}
