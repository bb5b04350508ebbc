//! What acknowledgments tell a source of arrivals, losses and marks: RFC 6675 with selective acknowledgments, RFC 6582
//! without.

use super::Source;
use super::frto::Frto;
use super::optional::Optional;
use crate::host::scoreboard::DUP_THRESH;
use crate::host::sink::Sink;
use crate::packet::Packet;
use control::{Bytes, Loss, Recovery, Time};

impl Source {
    /// Marks what `packet`, an acknowledgment, says has arrived and what is lost by now. Returns how many segments have
    /// newly arrived.
    #[inline(always)]
    pub(super) fn read_ack(&mut self, now: Time, packet: &Packet, out_of_order: u32, sink: &mut Sink) -> u64 {
        let acked = match self.recovery {
            Recovery::Sack => {
                let acked = self.on_selective(packet.segment, out_of_order, sink);
                // After a spurious timeout, losses are looked for from the next acknowledgment on: a loss event is told
                // before its acknowledgment, but the controller is to undo the timeout first.
                if self.frto != Frto::Spurious {
                    self.board.find_lost(packet.order);
                }
                acked
            }
            Recovery::RackTlp => {
                let acked = self.on_selective(packet.segment, out_of_order, sink);
                self.read_times(now, packet.sent, packet.order, acked);
                acked
            }
            Recovery::NewReno => {
                // Without selective acknowledgments, the source does not learn which segments arrived out of order.
                skip(&mut self.heard, out_of_order, sink, |_| ());
                self.on_cumulative(packet.segment)
            }
        };
        if self.recovering && self.board.una() >= self.recover {
            self.recovering = false;
            self.duplicates = 0;
        }
        // A loss among packets sent after the last reduction is a loss event of its own, also while the last one is
        // being repaired (RFC 9002, section 7.3.2; RFC 6675 leaves lost repairs to the timeout).
        if self.recovery != Recovery::NewReno && self.board.lost_since(self.recover, self.reduced) {
            self.enter_recovery(now);
        }
        if self.recovery == Recovery::NewReno && !self.recovering && self.duplicates == DUP_THRESH {
            // RFC 6582, step 2: duplicates caused by what the last recovery or timeout sent again do not count.
            if self.board.una() > self.recover || self.recover == 0 {
                self.board.lose(self.board.una());
                self.enter_recovery(now);
            }
        }
        acked
    }

    /// Returns three numbers of bytes: those found lost, those that have arrived and had been declared lost though they
    /// were not, and those newly reported as marked. `heard` is the order of the packet that is acknowledged, and
    /// `marked` how many packets had arrived marked then.
    #[cold]
    pub(super) fn read_news(&mut self, heard: u32, marked: u32) -> (Bytes, Bytes, Bytes) {
        let news = self.board.take_news();
        let is_original = self.is_before_reduction(heard);
        // An old acknowledgment that later ones overtook has a lower count.
        let marks = (marked.wrapping_sub(self.heard_marked) as i32).max(0) as u32;
        self.heard_marked = self.heard_marked.wrapping_add(marks);
        let bytes = |segments: u32| Bytes(u64::from(segments) * u64::from(self.backlog.packet));
        (bytes(news.lost), bytes(if is_original { news.late } else { 0 }), bytes(marks))
    }

    /// Whether packet number `order` was sent before the last reduction. Then it is an original: what was sent again
    /// was sent after the reduction (RFC 3522, section 3.2, with orders in place of timestamps).
    pub(super) fn is_before_reduction(&self, order: u32) -> bool {
        (order.wrapping_sub(self.reduced) as i32) < 0
    }

    #[inline(always)]
    fn on_selective(&mut self, cumulative: u64, out_of_order: u32, sink: &mut Sink) -> u64 {
        // What was not sent is acknowledged by a receiver that misbehaves.
        let mut acked = self.board.acknowledge(cumulative.min(self.board.next()));
        if out_of_order != self.heard {
            acked += self.read_record(out_of_order, sink);
        }
        if matches!(self.frto, Frto::Expired | Frto::Probing) {
            self.judge_timeout(acked);
        }
        acked
    }

    /// Reads the sink's record of out-of-order arrivals up to entry `until`. Returns how many of them were not known.
    #[inline(never)]
    fn read_record(&mut self, until: u32, sink: &mut Sink) -> u64 {
        let Source { board, heard, .. } = self;
        let mut acked = 0;
        skip(heard, until, sink, |segment| acked += board.sack(segment) as u64);
        acked
    }

    fn on_cumulative(&mut self, cumulative: u64) -> u64 {
        let (una, cumulative) = (self.board.una(), cumulative.min(self.board.next()));
        if cumulative == una {
            if self.board.next() > una {
                self.duplicates += 1;
            }
            return 0;
        }
        if cumulative < una {
            return 0; // an old acknowledgment that later ones overtook
        }
        let acked = self.board.acknowledge(cumulative);
        if self.recovering && cumulative < self.recover {
            // RFC 6582, step 3, a partial acknowledgment: the next segment is lost, too. Of the packets that the
            // duplicates stand for, those acknowledged now are no longer counted as in flight by the scoreboard.
            self.duplicates = u64::from(self.duplicates + 1).saturating_sub(acked) as u32;
            self.board.lose(cumulative);
            self.repair_at_once = true;
        } else {
            self.duplicates = 0;
        }
        acked
    }

    pub(super) fn enter_recovery(&mut self, now: Time) {
        self.recovering = true;
        if let Some(it) = Optional::rack_tlp(&mut self.optional) {
            it.forget_probe();
        }
        self.note_reduction();
        self.repair_at_once = true;
        self.counters.loss_events += 1;
        self.controller.on_loss(now, &Loss::Event);
    }

    /// RFC 6298, sections 5.4 to 5.7; RFC 6675, section 5.1: the retransmission timer has expired, and everything
    /// outstanding counts as lost, or what RACK finds lost then.
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.counters.loss_events += 1;
        self.counters.timeouts += 1;
        self.timed_out = self.order;
        self.expect_late();
        match self.recovery {
            Recovery::RackTlp => self.lose_by_timeout(now),
            Recovery::Sack | Recovery::NewReno => self.board.lose_all(),
        }
        self.board.take_news(); // the controller hears of a timeout, not of single losses
        self.note_reduction();
        self.recovering = false;
        self.duplicates = 0;
        // With RACK, packets that were sent a short time ago are still in flight, and may fill the window.
        self.repair_at_once = self.recovery == Recovery::RackTlp;
        self.timer.timeout.back_off();
        self.controller.on_loss(now, &Loss::Timeout);
    }

    /// The controller is about to reduce its rate: losses of packets sent before belong to the same loss event.
    fn note_reduction(&mut self) {
        self.board.forget_lost();
        self.recover = self.board.next();
        self.reduced = self.order;
    }
}

/// Reads the sink's record of out-of-order arrivals up to entry `until`, of which `heard` have been read.
#[inline]
fn skip(heard: &mut u32, until: u32, sink: &mut Sink, mut each: impl FnMut(u64)) {
    while (until.wrapping_sub(*heard) as i32) > 0 {
        let Some(segment) = sink.next_recorded() else { return };
        *heard = heard.wrapping_add(1);
        each(segment);
    }
}
