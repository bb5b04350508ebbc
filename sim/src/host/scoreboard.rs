//! What the source knows of each segment that it has sent and not heard cumulatively acknowledged (RFC 6675, section 4).
//!
//! Every operation costs O(1), amortised over the segments sent: a state byte per outstanding segment in a ring, sweeps that
//! never go back, and no byte touched at all while nothing is lost or out of order.

use std::collections::VecDeque;

/// What is known of an outstanding segment.
const IN_FLIGHT: u8 = 0;
/// It arrived.
const SACKED: u8 = 1;
/// It was lost and has not been sent again.
const LOST: u8 = 2;
/// It was lost and is in flight again.
const RESENT: u8 = 3;

/// So many later segments must have arrived before one counts as lost (RFC 6675, DupThresh).
pub const DUP_THRESH: u32 = 3;

/// The outstanding segments of one flow.
#[derive(Clone, Debug)]
pub struct Scoreboard {
    /// State of segment s at s modulo its length, a power of two.
    states: Vec<u8>,
    /// First segment not acknowledged cumulatively, and first segment never sent.
    una: u64,
    next: u64,
    in_flight: u64,
    /// Segments whose state is not [`IN_FLIGHT`].
    marked: u64,
    lost: u64,
    /// The three highest segments that arrived, falling: a segment below the third is lost.
    highest: [u64; 3],
    /// Below this, no segment is in state [`IN_FLIGHT`].
    swept: u64,
    /// Below this, no segment is in state [`LOST`], but for those in `lost_again`.
    repaired: u64,
    /// The highest segment that was ever found lost, and the last packet sent again that was.
    highest_lost: Option<u64>,
    last_lost_again: Option<u32>,
    /// Segments sent again, in that order, each with its order among all the flow's packets.
    resent: VecDeque<(u32, u64)>,
    /// Of those, which were lost once more.
    lost_again: VecDeque<u64>,
}

impl Default for Scoreboard {
    fn default() -> Scoreboard {
        Scoreboard {
            states: Vec::new(),
            una: 0,
            next: 0,
            in_flight: 0,
            marked: 0,
            lost: 0,
            highest: [0; 3],
            swept: 0,
            repaired: 0,
            highest_lost: None,
            last_lost_again: None,
            resent: VecDeque::new(),
            lost_again: VecDeque::new(),
        }
    }
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

    /// Segments sent and neither arrived nor lost (RFC 6675's pipe).
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether a packet was found lost that was sent when `recover` was the next new segment and `order` the next packet's
    /// order, or later.
    pub fn lost_since(&self, recover: u64, order: u32) -> bool {
        self.highest_lost.is_some_and(|segment| segment >= recover)
            || self.last_lost_again.is_some_and(|lost| lost.wrapping_sub(order) as i32 >= 0)
    }

    #[inline]
    fn state(&mut self, segment: u64) -> &mut u8 {
        let mask = self.states.len() - 1;
        &mut self.states[segment as usize & mask]
    }

    #[inline]
    fn mark(&mut self, segment: u64, state: u8) {
        if self.states.len() < (self.next - self.una) as usize {
            self.grow();
        }
        let slot = self.state(segment);
        let before = std::mem::replace(slot, state);
        self.marked += (before == IN_FLIGHT) as u64;
        self.in_flight -= (before == IN_FLIGHT || before == RESENT) as u64;
        self.lost -= (before == LOST) as u64;
        self.in_flight += (state == RESENT) as u64;
        self.lost += (state == LOST) as u64;
    }

    #[cold]
    fn grow(&mut self) {
        let outstanding = (self.next - self.una) as usize;
        let mut states = vec![IN_FLIGHT; outstanding.next_power_of_two().max(64)];
        if !self.states.is_empty() {
            let (old, new) = (self.states.len() - 1, states.len() - 1);
            // No more than `old + 1` segments were outstanding when the last mark was set.
            for segment in self.una..self.next.min(self.una + self.states.len() as u64) {
                states[segment as usize & new] = self.states[segment as usize & old];
            }
        }
        self.states = states;
    }

    /// The next new segment is sent.
    #[inline]
    pub fn send_new(&mut self) -> u64 {
        if self.marked > 0 && (self.next - self.una) as usize >= self.states.len() {
            self.next += 1;
            self.grow();
        } else {
            self.next += 1;
        }
        self.in_flight += 1;
        self.next - 1
    }

    /// All segments before `cumulative` have arrived. Returns how many of them were not known to have.
    #[inline]
    pub fn acknowledge(&mut self, cumulative: u64) -> u64 {
        if cumulative <= self.una || cumulative > self.next {
            return 0;
        }
        let mut newly = cumulative - self.una;
        if self.marked == 0 {
            self.in_flight -= newly;
        } else {
            for segment in self.una..cumulative {
                match std::mem::replace(self.state(segment), IN_FLIGHT) {
                    IN_FLIGHT => {
                        self.in_flight -= 1;
                        continue;
                    }
                    SACKED => newly -= 1,
                    LOST => self.lost -= 1,
                    _ => self.in_flight -= 1,
                }
                self.marked -= 1;
            }
        }
        self.una = cumulative;
        newly
    }

    /// `segment` has arrived, out of order. Says whether that is news.
    pub fn sack(&mut self, segment: u64) -> bool {
        if segment < self.una || segment >= self.next {
            return false;
        }
        if !self.states.is_empty() && *self.state(segment) == SACKED {
            return false;
        }
        self.mark(segment, SACKED);
        if segment > self.highest[0] {
            self.highest = [segment, self.highest[0], self.highest[1]];
        } else if segment > self.highest[1] {
            self.highest = [self.highest[0], segment, self.highest[1]];
        } else if segment > self.highest[2] {
            self.highest[2] = segment;
        }
        true
    }

    /// Finds what is lost by now (RFC 6675, IsLost): segments with three later ones arrived. `heard` is the order of the
    /// packet whose arrival was just acknowledged; packets sent again at least three before it are lost again (the
    /// RFC leaves these to the timeout; RACK, RFC 8985, and QUIC do not).
    pub fn find_lost(&mut self, heard: u32) {
        if self.marked == 0 {
            self.resent.clear();
            return;
        }
        let end = self.highest[2];
        self.swept = self.swept.max(self.una);
        while self.swept < end {
            let segment = self.swept;
            if *self.state(segment) == IN_FLIGHT {
                self.mark(segment, LOST);
                self.repaired = self.repaired.min(segment);
                self.highest_lost = self.highest_lost.max(Some(segment));
            }
            self.swept += 1;
        }
        while let Some(&(order, segment)) = self.resent.front()
            && (heard.wrapping_sub(order) as i32) >= DUP_THRESH as i32
        {
            self.resent.pop_front();
            if segment >= self.una && *self.state(segment) == RESENT {
                self.mark(segment, LOST);
                self.lost_again.push_back(segment);
                self.last_lost_again = Some(order);
            }
        }
    }

    /// `segment` is lost, whatever has arrived (RFC 6582, by duplicate acknowledgments).
    pub fn lose(&mut self, segment: u64) {
        if segment >= self.una && segment < self.next {
            self.mark(segment, LOST);
            self.repaired = self.repaired.min(segment);
        }
    }

    /// Everything outstanding that has not arrived is lost (after a timeout).
    pub fn lose_all(&mut self) {
        for segment in self.una..self.next {
            if self.states.is_empty() || *self.state(segment) != SACKED {
                self.mark(segment, LOST);
            }
        }
        self.repaired = self.una;
        self.swept = self.next;
        self.lost_again.clear();
        self.resent.clear();
    }

    /// The segment to repair next, if one is lost (RFC 6675, NextSeg rule 1).
    pub fn next_lost(&mut self) -> Option<u64> {
        if self.lost == 0 {
            return None;
        }
        while let Some(&segment) = self.lost_again.front() {
            if segment >= self.una && *self.state(segment) == LOST {
                return Some(segment);
            }
            self.lost_again.pop_front();
        }
        self.repaired = self.repaired.max(self.una);
        while self.repaired < self.next {
            if *self.state(self.repaired) == LOST {
                return Some(self.repaired);
            }
            self.repaired += 1;
        }
        None
    }

    /// `segment`, which was lost, is sent again as the flow's packet number `order`.
    pub fn resend(&mut self, segment: u64, order: u32) {
        self.mark(segment, RESENT);
        self.resent.push_back((order, segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, by brute force: every segment's fate in a plain list.
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Fate {
        InFlight,
        Arrived,
        Lost,
        Resent(u32),
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
            let mut fates: Vec<Fate> = Vec::new();
            let mut una = 0;
            let mut order = 0;
            // The network: packets in order, each with its order number.
            let mut wire = VecDeque::new();
            for step in 0..4000 {
                match draw(if step % 1000 > 700 { 5 } else { 10 }) {
                    0..=2 if wire.len() < 300 => {
                        assert_eq!(board.send_new(), fates.len() as u64);
                        wire.push_back((order, fates.len() as u64));
                        fates.push(Fate::InFlight);
                        order += 1;
                    }
                    3..=4 => {
                        let expected = fates.iter().position(|f| *f == Fate::Lost).map(|s| s as u64);
                        let next = board.next_lost();
                        assert_eq!(next.is_some(), expected.is_some());
                        if let Some(segment) = next {
                            assert_eq!(fates[segment as usize], Fate::Lost);
                            board.resend(segment, order);
                            fates[segment as usize] = Fate::Resent(order);
                            wire.push_back((order, segment));
                            order += 1;
                        }
                    }
                    5..=8 => {
                        let Some((heard, segment)) = wire.pop_front() else { continue };
                        if draw(4) == 0 {
                            continue; // lost
                        }
                        fates[segment as usize] = Fate::Arrived;
                        let cumulative = fates.iter().position(|f| *f != Fate::Arrived).unwrap_or(fates.len()) as u64;
                        board.acknowledge(cumulative);
                        una = cumulative;
                        board.sack(segment);
                        let arrived: Vec<_> =
                            (una as usize..fates.len()).filter(|&s| fates[s] == Fate::Arrived).collect();
                        if let Some(third) = arrived.len().checked_sub(3) {
                            for fate in &mut fates[..arrived[third]] {
                                if *fate == Fate::InFlight {
                                    *fate = Fate::Lost;
                                }
                            }
                        }
                        for fate in &mut fates {
                            if matches!(*fate, Fate::Resent(sent) if sent + 3 <= heard) {
                                *fate = Fate::Lost;
                            }
                        }
                        board.find_lost(heard);
                    }
                    _ if draw(100) == 0 => {
                        board.lose_all();
                        wire.clear();
                        for fate in fates.iter_mut().filter(|f| **f != Fate::Arrived) {
                            *fate = Fate::Lost;
                        }
                    }
                    _ => {}
                }
                let in_flight = fates.iter().filter(|f| matches!(f, Fate::InFlight | Fate::Resent(_))).count() as u64;
                let lost = fates.iter().filter(|f| **f == Fate::Lost).count() as u64;
                assert_eq!((board.una, board.in_flight, board.lost), (una, in_flight, lost), "seed {seed} step {step}");
            }
        }
    }
}
