//! The scoreboard: what the source knows of each segment sent and not yet cumulatively acknowledged (RFC 6675, section
//! 4).
//!
//! Every operation costs O(1), amortised over the segments sent: the [state](states) of each outstanding segment is in
//! a ring, and searches never go back. While no segment is lost or out of order, there is no ring.

mod marks;
mod states;

pub use marks::News;

use marks::Marks;
use path::prefetch;
use states::SegmentState;

/// A segment counts as lost when this many later segments have arrived (RFC 6675, DupThresh).
pub const DUP_THRESH: u32 = 3;

/// The outstanding segments of one flow.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    /// First segment not acknowledged cumulatively.
    una: u64,
    /// First segment never sent.
    next: u64,
    in_flight: u64,
    /// Number of segments whose state is not [`SegmentState::InFlight`].
    marked: u32,
    /// A packet was found lost since [`Scoreboard::forget_lost`], or since [`Scoreboard::lost_since`] found none that
    /// counts.
    lost: bool,
    /// Segments were found lost, late or reordered since [`Scoreboard::take_news`].
    has_news: bool,
    /// None of it matters for the segments that are left once no segment is marked any more.
    marks: Option<Box<Marks>>,
}

impl Scoreboard {
    /// First segment not acknowledged cumulatively.
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// First segment never sent.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Prefetches what is beside the scoreboard itself, if it is needed.
    pub fn prefetch(&self) {
        if (self.marked > 0 || self.lost)
            && let Some(marks) = &self.marks
        {
            prefetch::lines(&**marks);
        }
    }

    /// Number of segments sent that have neither arrived nor been found lost (`pipe` in RFC 6675).
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether segments were found lost, late or reordered since [`Scoreboard::take_news`].
    #[inline]
    pub fn has_news(&self) -> bool {
        self.has_news
    }

    /// What was found since the last call of [`Scoreboard::take_news`].
    pub fn news(&self) -> News {
        self.marks.as_ref().map_or(News::default(), |marks| marks.news)
    }

    /// What was found since the last call.
    pub fn take_news(&mut self) -> News {
        self.has_news = false;
        let news = self.marks.as_mut().map_or(News::default(), |marks| std::mem::take(&mut marks.news));
        self.release();
        news
    }

    /// Until the next loss, other flows have more use for the memory of marks that say nothing.
    #[inline]
    fn release(&mut self) {
        if self.marked == 0 && !self.lost && !self.has_news {
            self.marks = None;
        }
    }

    /// Whether a packet was found lost that was sent at or after the time when `recover` was the next new segment and
    /// `order` the order of the next packet. That was not before the last [`Scoreboard::forget_lost`] or
    /// [`Scoreboard::restore`], and is the same until the next one.
    #[inline]
    pub fn lost_since(&mut self, recover: u64, order: u32) -> bool {
        self.lost && self.has_lost_since(recover, order)
    }

    /// Not inlined, as few acknowledgments come after a loss. The marks are not looked at again before the next one.
    #[inline(never)]
    fn has_lost_since(&mut self, recover: u64, order: u32) -> bool {
        self.lost = self.marks.as_ref().is_some_and(|marks| {
            marks.losses_end > recover || marks.last_lost_again.is_some_and(|lost| lost.wrapping_sub(order) as i32 >= 0)
        });
        self.lost
    }

    /// The controller has been told of the losses so far. (Without this, an old loss would look new 2^31 packets
    /// later.)
    pub fn forget_lost(&mut self) {
        self.lost = false;
        if let Some(marks) = &mut self.marks {
            marks.last_lost_again = None;
        }
    }

    /// Sets the state of an outstanding segment. Returns what it was.
    #[inline(always)]
    fn mark(&mut self, segment: u64, state: SegmentState) -> SegmentState {
        let marks = self.marks.get_or_insert_default();
        if marks.states.room() < self.next - self.una {
            marks.states.make_room(self.una, self.next);
        }
        let before = marks.states.replace(segment, state);
        marks.lost -= (before == SegmentState::Lost) as u32;
        marks.lost += (state == SegmentState::Lost) as u32;
        marks.sacked -= (before == SegmentState::Sacked) as u32;
        marks.sacked += (state == SegmentState::Sacked) as u32;
        let is_lost = state == SegmentState::Lost && before != SegmentState::Lost;
        marks.news.lost += is_lost as u32;
        self.has_news |= is_lost;
        self.marked += (before == SegmentState::InFlight) as u32;
        self.in_flight -= (before == SegmentState::InFlight || before == SegmentState::Resent) as u64;
        self.in_flight += (state == SegmentState::Resent) as u64;
        before
    }

    /// The state of an outstanding segment.
    fn state_of(&self, segment: u64) -> SegmentState {
        match &self.marks {
            Some(marks) if self.marked > 0 => marks.states.get(segment),
            _ => SegmentState::InFlight,
        }
    }

    /// The next new segment is sent.
    #[inline]
    pub fn send_new(&mut self) -> u64 {
        self.next += 1;
        self.in_flight += 1;
        if self.marked > 0
            && let Some(marks) = &mut self.marks
            && self.next - self.una > marks.states.room()
        {
            marks.states.make_room(self.una, self.next);
        }
        self.next - 1
    }

    /// All segments before `cumulative` have arrived. Returns how many of them were not known to have arrived.
    #[inline]
    pub fn acknowledge(&mut self, cumulative: u64) -> u64 {
        if cumulative <= self.una || cumulative > self.next {
            return 0;
        }
        let before = std::mem::replace(&mut self.una, cumulative);
        if self.marked == 0 {
            self.in_flight -= cumulative - before;
            cumulative - before
        } else {
            self.clear(before, cumulative)
        }
    }

    fn clear(&mut self, from: u64, to: u64) -> u64 {
        let mut newly = to - from;
        if let Some(marks) = &mut self.marks {
            for segment in from..to {
                let state = marks.states.replace(segment, SegmentState::InFlight);
                self.marked -= (state != SegmentState::InFlight) as u32;
                self.has_news |= marks.news.note(state, segment < marks.highest[0]);
                match state {
                    SegmentState::Sacked => {
                        newly -= 1;
                        marks.sacked -= 1;
                    }
                    SegmentState::Lost => marks.lost -= 1,
                    _ => self.in_flight -= 1,
                }
            }
        }
        self.release();
        newly
    }

    /// `segment` has arrived out of order. Returns whether that was not known.
    #[inline(always)]
    pub fn sack(&mut self, segment: u64) -> bool {
        if segment < self.una || segment >= self.next {
            return false;
        }
        let before = self.mark(segment, SegmentState::Sacked);
        if before == SegmentState::Sacked {
            return false;
        }
        if let Some(marks) = self.marks.as_deref_mut() {
            self.has_news |= marks.news.note(before, segment < marks.highest[0]);
            let highest = &mut marks.highest;
            if segment > highest[0] {
                *highest = [segment, highest[0], highest[1]];
            } else if segment > highest[1] {
                *highest = [highest[0], segment, highest[1]];
            } else if segment > highest[2] {
                highest[2] = segment;
            }
        }
        true
    }

    /// Marks the segments that are lost by now (RFC 6675, IsLost): three later segments have arrived. `heard` is the
    /// order of the packet that was just acknowledged: packets sent again at least three packets before it are lost
    /// again. (The RFC leaves these to the timeout; RACK, RFC 8985, and QUIC do not.)
    #[inline]
    pub fn find_lost(&mut self, heard: u32) {
        if self.marked > 0 {
            self.sweep(heard);
        }
    }

    fn sweep(&mut self, heard: u32) {
        let Some(marks) = &mut self.marks else { return };
        let end = marks.highest[2];
        let mut from = marks.swept.max(self.una);
        marks.swept = from.max(end);
        while let Some(marks) = &self.marks
            && let Some(segment) = marks.states.find(SegmentState::InFlight, from, end)
        {
            self.lose_first(segment);
            from = segment + 1;
        }
        while let Some(marks) = &mut self.marks
            && let Some(&(order, segment)) = marks.resent.front()
            && (heard.wrapping_sub(order) as i32) >= DUP_THRESH as i32
        {
            marks.resent.pop_front();
            if let Some(segment) = outstanding(self.una, segment)
                && marks.states.get(segment) == SegmentState::Resent
            {
                self.lose_again(segment, order);
            }
        }
    }

    /// The first packet that carried `segment` is lost.
    fn lose_first(&mut self, segment: u64) {
        self.lose(segment);
        self.lost = true;
        if let Some(marks) = &mut self.marks {
            marks.losses_end = marks.losses_end.max(segment + 1);
        }
    }

    /// Packet number `order`, with which `segment` was sent again, is lost.
    fn lose_again(&mut self, segment: u64, order: u32) {
        self.mark(segment, SegmentState::Lost);
        self.lost = true;
        if let Some(marks) = &mut self.marks {
            marks.lost_again.push_back(segment);
            marks.last_lost_again = Some(order);
        }
    }

    /// Packet number `order`, the last one that carried `segment`, is lost.
    pub fn lose_packet(&mut self, segment: u64, order: u32) {
        match self.state_of(segment) {
            SegmentState::InFlight => self.lose_first(segment),
            SegmentState::Resent => self.lose_again(segment, order),
            SegmentState::Sacked | SegmentState::Lost => {}
        }
    }

    /// Whether `segment` was sent, and has neither arrived nor been found lost since it was last sent.
    pub fn is_in_flight(&self, segment: u64) -> bool {
        (self.una..self.next).contains(&segment)
            && matches!(self.state_of(segment), SegmentState::InFlight | SegmentState::Resent)
    }

    /// How many segments have arrived out of order, and are not acknowledged cumulatively.
    pub fn sacked(&self) -> u64 {
        self.marks.as_ref().map_or(0, |marks| marks.sacked.into())
    }

    /// Marks `segment` as lost, whatever has arrived.
    pub fn lose(&mut self, segment: u64) {
        if segment >= self.una && segment < self.next {
            self.mark(segment, SegmentState::Lost);
            if let Some(marks) = &mut self.marks {
                marks.repaired = marks.repaired.min(segment);
            }
        }
    }

    /// Marks as lost all outstanding segments that have not arrived (after a timeout).
    pub fn lose_all(&mut self) {
        for segment in self.una..self.next {
            if self.state_of(segment) != SegmentState::Sacked {
                self.mark(segment, SegmentState::Lost);
            }
        }
        if let Some(marks) = &mut self.marks {
            marks.swept = self.next;
            marks.resent.clear();
        }
        self.repair_in_order();
    }

    /// Whether `segment` was found lost or given up, and has not been sent again.
    pub fn is_lost(&self, segment: u64) -> bool {
        (self.una..self.next).contains(&segment) && self.state_of(segment) == SegmentState::Lost
    }

    /// Whether `segment` or a later one has arrived out of order.
    pub fn has_sacked(&self, segment: u64) -> bool {
        self.marks.as_ref().is_some_and(|marks| marks.highest[0] >= segment)
    }

    /// The last timeout was spurious: segments that it gave up, and that were not sent again, are in flight, and count
    /// as lost again by the rules alone.
    pub fn restore(&mut self) {
        let Some(marks) = &mut self.marks else { return };
        for segment in self.una..self.next {
            if marks.states.get(segment) == SegmentState::Lost {
                marks.states.replace(segment, SegmentState::InFlight);
                self.marked -= 1;
                self.in_flight += 1;
            }
        }
        marks.lost = 0;
        marks.lost_again.clear();
        marks.swept = self.una;
        (marks.losses_end, marks.last_lost_again) = (0, None);
    }

    /// Lost segments are sent again from the first one on, also those that were lost again (after a timeout).
    pub fn repair_in_order(&mut self) {
        if let Some(marks) = &mut self.marks {
            marks.repaired = self.una;
            marks.lost_again.clear();
        }
    }

    /// The lost segment to send again next, if there is one (RFC 6675, NextSeg rule 1).
    #[inline]
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.marked == 0 { None } else { self.first_lost() }
    }

    fn first_lost(&mut self) -> Option<u64> {
        let marks = self.marks.as_deref_mut().filter(|marks| marks.lost > 0)?;
        while let Some(&segment) = marks.lost_again.front() {
            if segment >= self.una && marks.states.get(segment) == SegmentState::Lost {
                return Some(segment);
            }
            marks.lost_again.pop_front();
        }
        let from = marks.repaired.max(self.una);
        let found = marks.states.find(SegmentState::Lost, from, self.next);
        marks.repaired = found.unwrap_or(from.max(self.next));
        found
    }

    /// `segment`, which was lost, is sent again, as the flow's packet number `order`.
    pub fn resend(&mut self, segment: u64, order: u32) {
        self.mark(segment, SegmentState::Resent);
        if let Some(marks) = &mut self.marks {
            while marks.resent.front().is_some_and(|&(_, segment)| outstanding(self.una, segment).is_none()) {
                marks.resent.pop_front();
            }
            marks.resent.push_back((order, segment as u32));
        }
    }
}

/// The segment whose number is `segment` modulo 2^32, if it is not before `una`. It must be less than 2^31 segments
/// away from `una`. A segment that was sent again is: before the flow has sent 2^31 more packets, it has been
/// acknowledged or counted as lost.
fn outstanding(una: u64, segment: u32) -> Option<u64> {
    u64::try_from(segment.wrapping_sub(una as u32) as i32).ok().map(|ahead| una + ahead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// The state of a segment in the definition, which the test applies to a plain list of all segments.
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum DefinedState {
        InFlight,
        Arrived,
        Lost,
        Resent(u32),
    }

    #[test]
    fn a_segment_is_known_by_its_number_modulo_2_to_the_32() {
        for una in [0, 7, (1 << 32) - 2, 1 << 32, (5 << 32) + 7] {
            for ahead in [0, 1, 100, (1 << 31) - 1] {
                assert_eq!(outstanding(una, (una + ahead) as u32), Some(una + ahead));
            }
        }
        assert_eq!(outstanding(1 << 32, u32::MAX), None);
        assert_eq!(outstanding(7, 6), None);
    }

    #[test]
    fn a_segment_that_was_found_lost_and_arrives_is_late() {
        let mut board = Scoreboard::default();
        for _ in 0..8 {
            board.send_new();
        }
        for segment in [2, 3, 4] {
            board.sack(segment);
        }
        board.find_lost(4);
        assert_eq!(board.take_news(), News { lost: 2, ..News::default() });
        board.resend(0, 8);
        board.sack(1); // lost
        board.acknowledge(1); // sent again
        assert_eq!(board.take_news(), News { late: 2, never_resent: 1, ..News::default() });
        board.acknowledge(8); // neither
        assert!(!board.has_news());
    }

    #[test]
    fn agrees_with_the_definition_under_random_losses_and_timeouts() {
        for seed in 0..50u64 {
            let mut random = seed * 2 + 1;
            let mut draw = |n: u64| {
                random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (random >> 33) % n
            };
            let mut board = Scoreboard::default();
            let mut states: Vec<DefinedState> = Vec::new();
            let mut una = 0;
            let mut order = 0;
            // The packets on the network, each with its order and its segment.
            let mut wire = VecDeque::new();
            for step in 0..4000 {
                match draw(if step % 1000 > 700 { 5 } else { 10 }) {
                    0..=2 if wire.len() < 300 => {
                        assert_eq!(board.send_new(), states.len() as u64);
                        wire.push_back((order, states.len() as u64));
                        states.push(DefinedState::InFlight);
                        order += 1;
                    }
                    3..=4 => {
                        let expected = states.iter().position(|f| *f == DefinedState::Lost).map(|s| s as u64);
                        let next = board.next_lost();
                        assert_eq!(next.is_some(), expected.is_some());
                        if let Some(segment) = next {
                            assert_eq!(states[segment as usize], DefinedState::Lost);
                            board.resend(segment, order);
                            states[segment as usize] = DefinedState::Resent(order);
                            wire.push_back((order, segment));
                            order += 1;
                        }
                    }
                    5..=8 => {
                        let Some((heard, segment)) = wire.pop_front() else { continue };
                        if draw(4) == 0 {
                            continue; // lost
                        }
                        states[segment as usize] = DefinedState::Arrived;
                        let cumulative =
                            states.iter().position(|f| *f != DefinedState::Arrived).unwrap_or(states.len()) as u64;
                        board.acknowledge(cumulative);
                        una = cumulative;
                        board.sack(segment);
                        let arrived: Vec<_> =
                            (una as usize..states.len()).filter(|&s| states[s] == DefinedState::Arrived).collect();
                        if let Some(third) = arrived.len().checked_sub(3) {
                            for state in &mut states[..arrived[third]] {
                                if *state == DefinedState::InFlight {
                                    *state = DefinedState::Lost;
                                }
                            }
                        }
                        for state in &mut states {
                            if matches!(*state, DefinedState::Resent(sent) if sent + 3 <= heard) {
                                *state = DefinedState::Lost;
                            }
                        }
                        board.find_lost(heard);
                    }
                    _ if draw(100) == 0 => {
                        board.lose_all();
                        wire.clear();
                        for state in states.iter_mut().filter(|f| **f != DefinedState::Arrived) {
                            *state = DefinedState::Lost;
                        }
                    }
                    _ => {}
                }
                let in_flight =
                    states.iter().filter(|f| matches!(f, DefinedState::InFlight | DefinedState::Resent(_))).count()
                        as u64;
                let lost = states.iter().filter(|f| **f == DefinedState::Lost).count() as u64;
                assert_eq!(
                    (board.una, board.in_flight, board.marks.as_ref().map_or(0, |marks| marks.lost.into())),
                    (una, in_flight, lost),
                    "seed {seed} step {step}"
                );
            }
        }
    }
}
