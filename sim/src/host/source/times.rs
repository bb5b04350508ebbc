//! RACK-TLP (RFC 8985): losses found by time, and probes for lost tails, in place of RFC 6675's rules and of most
//! timeouts.

use super::frto::Frto;
use super::optional::Optional;
use super::rack_tlp::{Expiry, Probe};
use super::{Environment, Source};
use crate::host::rack::Heard;
use control::{Duration, Next, Time};

impl Source {
    /// Marks what is lost by now, after an acknowledgment of `acked` segments that was caused by packet number
    /// `order`, which was sent at `sent`.
    #[cold]
    pub(super) fn read_times(&mut self, now: Time, sent: Time, order: u32, acked: u64) {
        let news = self.board.news();
        let recovering = self.board.una() < self.recover;
        let is_original = self.is_before_reduction(order);
        let smoothed = self.timer.timeout.smoothed();
        let Some(it) = Optional::rack_tlp(&mut self.optional) else { return };
        it.sampled |= acked > 0;
        let heard = Heard {
            sent,
            order,
            news: acked > 0,
            reordered: news.reordered > 0,
            spurious: news.late > 0 && is_original,
            recovering,
        };
        it.rack.on_ack(now, &heard, &self.board);
        if self.frto == Frto::Spurious {
            return; // losses are looked for from the next acknowledgment on
        }
        it.window_ends = it.rack.find_lost(now, smoothed, &mut self.board);
        // Section 7.4.2. An acknowledgment names the packet that caused it, so that it is known whether the packet
        // arrived that the probe repeats. If that one's acknowledgment was lost, it counts as lost, as without DSACK.
        if let Some(probe) = it.probe
            && self.board.una() >= probe.end
        {
            it.probe = None;
            if probe.repeats && (order.wrapping_sub(probe.order) as i32) >= 0 {
                self.enter_recovery(now);
            }
        }
    }

    /// The reordering window ends: packets in it are lost.
    pub(super) fn on_window_end(&mut self, now: Time) {
        let smoothed = self.timer.timeout.smoothed();
        if let Some(it) = Optional::rack_tlp(&mut self.optional) {
            it.window_ends = it.rack.find_lost(now, smoothed, &mut self.board);
        }
        if self.board.lost_since(self.recover, self.reduced) {
            self.enter_recovery(now);
        }
    }

    /// The retransmission timer has expired: marks what is lost (section 6.3).
    pub(super) fn lose_by_timeout(&mut self, now: Time) {
        let smoothed = self.timer.timeout.smoothed();
        if let Some(it) = Optional::rack_tlp(&mut self.optional) {
            it.rack.on_timeout(now, smoothed, self.frto == Frto::Expired, &mut self.board);
            (it.window_ends, it.probe) = (None, None);
        }
    }

    /// When the timer expires that is restarted `now`, while packets are in flight (sections 7.2 and 8).
    #[cold]
    pub(super) fn next_expiry(&mut self, now: Time) -> Time {
        let timeout = now + self.timer.timeout.timeout();
        let recovering = self.board.una() < self.recover;
        let Some(it) = Optional::rack_tlp(&mut self.optional) else { return timeout };
        if let Some(end) = it.window_ends {
            it.waits_for = Expiry::Window;
            return end;
        }
        let probes = it.sampled && it.probe.is_none() && !recovering && self.board.sacked() == 0;
        match self.timer.timeout.smoothed() {
            Some(smoothed) if probes => {
                let alone = self.board.in_flight() == 1;
                let wait = Duration(smoothed.0.saturating_mul(2)) + if alone { it.ack_delay } else { Duration::ZERO };
                it.waits_for = Expiry::Probe;
                (now + wait).min(timeout)
            }
            _ => {
                it.waits_for = Expiry::Timeout;
                timeout
            }
        }
    }

    /// Sends a probe, whatever the congestion window allows (section 7.3): new data if there is any, and else the last
    /// segment once more. A sender that paces packets keeps its pace; returns when the probe may leave, if that is
    /// later.
    pub(super) fn send_probe(&mut self, now: Time, environment: &mut impl Environment) -> Option<Time> {
        let next = self.board.next();
        let repeats = next >= self.limit();
        if repeats && !self.board.is_in_flight(next - 1) {
            return None;
        }
        let pipe = self.pipe(repeats);
        if let Next::At(time) = self.ask(now, &pipe, true)
            && time > now
        {
            return Some(time);
        }
        let order = self.order;
        if let Some(it) = Optional::rack_tlp(&mut self.optional) {
            it.sampled = false;
            it.probe = Some(Probe { end: if repeats { next } else { next + 1 }, order, repeats });
            if repeats {
                it.rack.replace(next - 1);
            }
        }
        self.send(now, repeats.then(|| next - 1), &pipe, environment);
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::host::source::Source;
    use crate::host::source::testing::{Flow, ms};
    use control::{Recovery, Time};
    use serde_json::json;

    /// Sends ten packets, of which those with the orders in `lost` do not arrive. Returns the source, when everything
    /// was acknowledged, and the times and segments of all packets.
    fn transfer(recovery: Recovery, lost: &'static [u32]) -> (Source, Time, Vec<(Time, u64)>) {
        let parameters = json!({"initial-window": 10});
        let mut flow = Flow::new(recovery, Some(10), "newreno", parameters.as_object().expect("an object"));
        flow.loses = Box::new(|packet| lost.contains(&packet.order));
        flow.run_until(ms(10_000));
        assert!(flow.source.is_done());
        (flow.source, flow.now, flow.log)
    }

    #[test]
    fn a_lost_tail_is_found_by_a_probe_after_two_round_trips() {
        let (source, done, log) = transfer(Recovery::RackTlp, &[8, 9]);
        // The first eight are acknowledged at 100 ms. The probe, segment 9 once more, leaves at 300; its acknowledgment
        // at 400 shows that segment 8 is lost.
        assert_eq!(log[10..], [(ms(300), 9), (ms(400), 8)]);
        assert_eq!((done, source.counters.timeouts, source.counters.loss_events), (ms(500), 0, 1));

        let (source, done, log) = transfer(Recovery::Sack, &[8, 9]);
        assert_eq!(log[10..], [(ms(400), 8), (ms(500), 9)], "the timeout is 100 + 200 ms");
        assert_eq!((done, source.counters.timeouts), (ms(600), 1));
    }

    #[test]
    fn a_loss_that_the_probe_repairs_is_a_loss_event() {
        let (source, done, log) = transfer(Recovery::RackTlp, &[9]);
        // For a single packet, 2 SRTT and the longest delay of acknowledgments are later than the timeout.
        assert_eq!(log[10..], [(ms(400), 9)]);
        assert_eq!((done, source.counters.timeouts, source.counters.loss_events), (ms(500), 0, 1));
    }

    #[test]
    fn a_probe_that_is_lost_is_followed_by_the_timeout() {
        let (source, done, log) = transfer(Recovery::RackTlp, &[8, 9, 10]);
        assert_eq!(log[10..], [(ms(300), 9), (ms(600), 8), (ms(700), 9)]);
        assert_eq!((done, source.counters.timeouts), (ms(800), 1));
    }

    #[test]
    fn nothing_is_sent_again_without_a_loss() {
        let (source, done, log) = transfer(Recovery::RackTlp, &[]);
        assert_eq!((done, log.len(), source.counters.loss_events), (ms(100), 10, 0));
    }
}
