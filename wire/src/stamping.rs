//! What a connection's packets are stamped with.

use crate::datagram::Datagram;
use crate::passage::Passage;
use crate::tag::{self, Key};
use control::{Bytes, Duration, Rate, Stamp};
use header::Header;

/// What a connection's packets are stamped with, once its peer has asked for it.
pub(crate) struct Stamping {
    /// The peer's name for the flow.
    token: u64,
    /// Of the tags.
    key: Key,
    /// The last number.
    number: u64,
    /// Bytes of the last header.
    size: usize,
    /// Whether it gets through.
    pub(crate) passage: Passage,
}

impl Stamping {
    /// Of the flow that the peer knows by `token`, with tags by `key`.
    pub(crate) fn new(token: u64, key: Key) -> Stamping {
        Stamping { token, key, number: 0, size: 0, passage: Passage::default() }
    }

    /// Bytes of the last header.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Writes the header in front of a packet.
    pub(crate) fn write(&mut self, stamp: Stamp, datagram: &mut Datagram) {
        self.number += 1;
        let header = Header { token: self.token, number: self.number, stamp };
        self.size = datagram.stamp(|room| tag::write(&header, &self.key, room));
    }
}

/// The stamp of a packet that left `gap` after the one before. The sender re-plans when it is late by more than a gap; then the
/// packet has not probed the rate it was meant for, but the one that came of it. So no estimate is above what this host can send.
pub(crate) fn as_it_was(stamp: Stamp, size: Bytes, gap: Duration) -> Stamp {
    match stamp {
        Stamp::Probe { stream, index, len, rate, sent } if index > 0 => {
            let planned = Rate::from_bps(f64::from(rate)).time_for(size);
            let late = gap.0 / 2 > planned.0;
            let rate = if late { size.over(gap).as_bps() as f32 } else { rate };
            Stamp::Probe { stream, index, len, rate, sent }
        }
        stamp => stamp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Time;

    #[test]
    fn a_probe_that_was_late_by_more_than_its_gap_probed_less() {
        let probe = |index, rate| Stamp::Probe { stream: 1, index, len: 90, rate, sent: Time(5) };
        let as_it_was = |index, rate, us| as_it_was(probe(index, rate), Bytes(1000), Duration::from_micros(us));
        assert_eq!(as_it_was(3, 1e9, 15), probe(3, 1e9), "8 us and a little late");
        assert_eq!(as_it_was(3, 1e9, 20), probe(3, 4e8));
        assert_eq!(as_it_was(0, 1e9, 20), probe(0, 1e9), "the first follows a pause");
    }
}
