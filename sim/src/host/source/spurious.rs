//! What a source does to find out whether a retransmission timeout was spurious: the steps of F-RTO ([`Frto`]).

use super::Source;
use super::frto::Frto;
use super::optional::Optional;

impl Source {
    /// The retransmission timer has expired. Called before anything is given up.
    pub(super) fn expect_late(&mut self) {
        self.frto = match self.frto {
            Frto::Unused => Frto::Unused,
            // Several timeouts in a row are undone together.
            Frto::Expired => Frto::Expired,
            // Step 1: not while losses are repaired, whose repairs the acknowledgments to come may be of.
            _ if self.recovering || self.board.una() < self.recover => Frto::Off,
            _ => Frto::Expired,
        };
    }

    /// An acknowledgment of `acked` segments arrives after a timeout.
    #[cold]
    pub(super) fn judge_timeout(&mut self, acked: u64) {
        let recovery_point = self.recover;
        self.frto = if self.board.news().never_resent > 0 {
            self.restore();
            Frto::Spurious
        } else if acked == 0 || self.board.una() >= recovery_point || self.board.has_sacked(recovery_point) {
            Frto::Off // steps 2a and 3a, or nothing is left to repair
        } else {
            Frto::Probing
        };
    }

    /// What the timeouts gave up is in flight.
    fn restore(&mut self) {
        if let Some(it) = Optional::rack_tlp(&mut self.optional) {
            it.rack.restore(&mut self.board);
        }
        self.board.restore();
        // Segments that prove lost from here on are a loss event.
        self.recover = self.board.una();
        self.repair_at_once = false;
    }
}

#[cfg(test)]
mod tests {
    use crate::host::source::testing::{Flow, ms};
    use control::Recovery;
    use serde_json::json;

    const KINDS: [Recovery; 2] = [Recovery::Sack, Recovery::RackTlp];

    /// A flow of CUBIC without end, whose window is 100 packets until its first loss.
    fn flow(recovery: Recovery, frto: bool) -> Flow {
        let parameters = json!({"initial-window": 100, "frto": frto});
        Flow::new(recovery, None, "cubic", parameters.as_object().expect("an object"))
    }

    /// Steady at first, then nothing arrives from 950 ms on for this long.
    fn held(recovery: Recovery, frto: bool, millis: u64) -> Flow {
        let mut flow = flow(recovery, frto);
        flow.run_until(ms(950));
        assert_eq!(flow.source.counters.loss_events, 0);
        flow.held_until = ms(950 + millis);
        flow
    }

    #[test]
    fn a_delay_after_which_everything_arrives_leaves_the_window_as_it_was() {
        for recovery in KINDS {
            for (millis, in_a_row) in [(700, 1), (2500, 2)] {
                let mut flow = held(recovery, true, millis);
                let before = flow.window();
                flow.run_until(ms(949 + millis));
                let timeouts = flow.source.counters.timeouts;
                assert!(timeouts >= in_a_row && flow.window() == 1.0, "{recovery:?}: {timeouts} timeouts");
                flow.run_until(ms(950 + millis));
                assert!(flow.window() >= before, "{recovery:?}: {}, not {before}", flow.window());
                flow.run_until(ms(6000));
                let counters = flow.source.counters;
                // Sent again: the first segment, by each timeout, and the last one by a probe before.
                assert!(counters.retransmitted <= u64::from(timeouts) + 1, "{recovery:?}: {}", counters.retransmitted);
                assert_eq!(counters.loss_events, timeouts, "{recovery:?}: no loss event follows");
            }
        }
    }

    #[test]
    fn without_f_rto_a_delay_costs_the_window_and_sends_it_again() {
        for recovery in KINDS {
            let mut flow = held(recovery, false, 500);
            flow.run_until(ms(1500));
            assert!(flow.window() < 75.0 && flow.source.counters.retransmitted >= 10, "{recovery:?}");
        }
    }

    #[test]
    fn a_window_that_is_lost_is_repaired_and_the_timeout_counts() {
        for recovery in KINDS {
            let mut flow = flow(recovery, true);
            flow.run_until(ms(950));
            flow.loses = Box::new(|packet| packet.sent <= ms(1300));
            flow.run_until(ms(5000));
            let counters = flow.source.counters;
            assert!(counters.timeouts >= 1, "{recovery:?}");
            assert!(counters.retransmitted >= 100, "{recovery:?}: {}", counters.retransmitted);
            // ssthresh is 0.7 of the window, and all segments have arrived.
            assert!(flow.source.board.una() > 2000 && flow.source.board.news().lost == 0, "{recovery:?}");
            let ssthresh = flow.source.controller.slow_start_threshold().unwrap();
            assert!(ssthresh.is_finite(), "{recovery:?}: {ssthresh}");
        }
    }

    #[test]
    fn a_loss_among_packets_that_were_late_is_a_loss_event_of_its_own() {
        for recovery in KINDS {
            let mut flow = held(recovery, true, 500);
            let before = flow.window();
            // Some packets in the middle of what is held up are lost.
            flow.loses = Box::new(|packet| packet.segment % 100 == 50 && packet.sent <= ms(1000));
            flow.run_until(ms(2500));
            let counters = flow.source.counters;
            assert_eq!((counters.timeouts, counters.loss_events), (1, 2), "{recovery:?}");
            assert!(flow.window() < before, "{recovery:?}: the loss takes its share");
        }
    }

    #[test]
    fn without_new_data_to_send_what_was_given_up_is_sent_again() {
        for recovery in KINDS {
            let mut flow = held(recovery, true, 500);
            flow.source.stop();
            flow.run_until(ms(5000));
            assert!(flow.source.is_done() && flow.source.counters.retransmitted > 2, "{recovery:?}");
        }
    }
}
