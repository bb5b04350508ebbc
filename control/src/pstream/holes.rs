//! The packets of a stream that did not arrive.

use super::sample::Sample;
use alloc::vec::Vec;

/// The holes in a stream, in the order of their packets.
///
/// (A hole is a run of missing packets; the time between two packets is a gap.)
#[derive(Clone, Debug)]
pub struct Holes {
    holes: Vec<Hole>,
}

/// Neighbouring packets of a stream, none of which had arrived when a later packet did; or the packets that were lost
/// of one burst.
#[derive(Clone, Copy, Debug)]
pub struct Hole {
    /// The index of its first packet.
    pub index: u16,
    /// The index after its last packet.
    pub next: u16,
    /// How many of its packets are still missing. The others arrived later, reordered; or earlier, if they are of a
    /// burst of which some packets were lost.
    pub missing: u32,
    /// How many packets of the stream had arrived before it.
    pub arrived: u16,
}

impl Holes {
    /// No holes yet, in streams of up to `longest` packets.
    pub fn new(longest: usize) -> Holes {
        Holes { holes: Vec::with_capacity(longest) }
    }

    /// A new stream begins.
    pub fn clear(&mut self) {
        self.holes.clear();
    }

    /// Packets `index` to `next` - 1 are missing, after `arrived` packets that arrived.
    pub fn on_hole(&mut self, index: u16, next: u16, arrived: usize) {
        if self.holes.len() < self.holes.capacity() {
            self.holes.push(Hole { index, next, missing: u32::from(next - index), arrived: arrived as u16 });
        }
    }

    /// Packet `index` arrived after later ones.
    pub fn on_reordered(&mut self, index: u16) {
        if let Some(hole) = self.holes.iter_mut().rfind(|hole| (hole.index..hole.next).contains(&index)) {
            hole.missing = hole.missing.saturating_sub(1);
        }
    }

    /// The units of the stream are bursts of so many packets, of which these arrived: counts packets in place of
    /// bursts, and the packets that are missing in bursts, but for the last burst, of which some may still be on their
    /// way.
    pub fn count_packets(&mut self, burst: u16, samples: &[Sample]) {
        self.holes.iter_mut().for_each(|hole| hole.missing = hole.missing.saturating_mul(u32::from(burst)));
        let before_last = &samples[..samples.len().saturating_sub(1)];
        for (arrived, sample) in before_last.iter().enumerate().filter(|(_, sample)| sample.packets < burst) {
            if self.holes.len() == self.holes.capacity() {
                break;
            }
            let (index, missing) = (sample.index, u32::from(burst - sample.packets));
            self.holes.push(Hole { index, next: index.saturating_add(1), missing, arrived: arrived as u16 });
        }
        self.holes.sort_unstable_by_key(|hole| hole.index);
    }

    /// The holes, in the order of their packets; some may have been filled since.
    pub fn all(&self) -> &[Hole] {
        &self.holes
    }

    /// How many packets had arrived before the first one that is still missing; none if no packet is
    /// missing.
    pub fn arrived_before_first(&self) -> Option<usize> {
        self.holes.iter().find(|hole| hole.missing > 0).map(|hole| usize::from(hole.arrived))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_arrive_reordered_are_not_missing() {
        let mut holes = Holes::new(90);
        assert_eq!(holes.arrived_before_first(), None);
        holes.on_hole(7, 9, 7);
        holes.on_reordered(10); // a duplicate
        assert_eq!(holes.arrived_before_first(), Some(7));
        [8, 7].into_iter().for_each(|index| holes.on_reordered(index));
        assert_eq!(holes.arrived_before_first(), None);
        holes.on_hole(30, 31, 30);
        holes.on_hole(40, 41, 39);
        assert_eq!(holes.arrived_before_first(), Some(30));
    }

    #[test]
    fn bursts_that_lost_packets_are_holes_in_the_order_of_the_stream() {
        let mut holes = Holes::new(90);
        holes.on_hole(2, 4, 2);
        let arrived = [(0, 8), (1, 8), (4, 8), (5, 3), (6, 1)];
        let samples = arrived.map(|(index, packets)| Sample { index, rate: 1.0, delay: 0, arrival: 0, packets });
        holes.count_packets(8, &samples);
        let found: Vec<_> = holes.all().iter().map(|hole| (hole.index, hole.missing, hole.arrived)).collect();
        assert_eq!(found, [(2, 16, 2), (5, 5, 3)], "the last burst may not be complete yet");
    }
}
