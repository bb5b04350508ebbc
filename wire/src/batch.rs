//! Datagrams that leave with one system call: those that a controller lets go at one time, to one place and of one size (the kernel cuts
//! them apart: generic segmentation offload). A controller that paces has one of them at a time.

use crate::datagram::Datagram;
use quinn::udp::{EcnCodepoint, Transmit};
use std::net::{IpAddr, SocketAddr};

/// No more than this at a time: other connections of the endpoint wait for so long.
const MOST: usize = 16;

/// Where datagrams go, and how.
pub(crate) type Way = (SocketAddr, Option<IpAddr>, Option<EcnCodepoint>);

/// The datagrams.
pub(crate) struct Batch {
    most: usize,
    way: Option<Way>,
    bytes: Vec<u8>,
    /// Of the first; the last may be smaller.
    size: usize,
    count: usize,
}

impl Batch {
    /// For a socket that takes so many `segments` at a time.
    pub(crate) fn new(segments: usize) -> Batch {
        Batch { most: segments.clamp(1, MOST), way: None, bytes: Vec::new(), size: 0, count: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        (self.way, self.size, self.count) = (None, 0, 0);
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether a datagram of `size` bytes can go along.
    pub(crate) fn takes(&self, way: &Way, size: usize) -> bool {
        let full = self.bytes.len() == self.count * self.size;
        self.count == 0 || self.count < self.most && full && size <= self.size && self.way.as_ref() == Some(way)
    }

    pub(crate) fn add(&mut self, datagram: &Datagram) {
        let contents = datagram.contents();
        if self.count == 0 {
            (self.way, self.size) = (Some(datagram.way), contents.len());
        }
        if contents.len() > self.size {
            return; // no controller has stamps of two sizes; if one had, this would be lost on the way
        }
        self.bytes.extend_from_slice(contents);
        self.count += 1;
    }

    /// As the socket takes it; none if it is empty.
    pub(crate) fn transmit(&self) -> Option<Transmit<'_>> {
        let (destination, src_ip, ecn) = self.way?;
        let segment_size = (self.count > 1).then_some(self.size);
        Some(Transmit { destination, ecn, contents: &self.bytes, segment_size, src_ip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_kernel_can_cut_apart_goes_together() {
        let way = |port| (SocketAddr::from(([127, 0, 0, 1], port)), None, None);
        let datagram = |size| Datagram::new(Vec::new(), &vec![7; size], way(1));
        let mut batch = Batch::new(64);
        assert!(batch.transmit().is_none() && batch.takes(&way(2), 1200));
        batch.add(&datagram(1200));
        assert_eq!(batch.transmit().unwrap().segment_size, None, "one needs no cutting");
        assert!(!batch.takes(&way(2), 1200), "another's");
        assert!(!batch.takes(&way(1), 1201), "larger than the first");
        batch.add(&datagram(1200));
        batch.add(&datagram(100));
        assert!(!batch.takes(&way(1), 100), "a small one is the last");
        let transmit = batch.transmit().unwrap();
        assert_eq!((transmit.segment_size, transmit.contents.len()), (Some(1200), 2500));
        batch.clear();
        (0..MOST).for_each(|_| batch.add(&datagram(50)));
        assert!(!batch.takes(&way(1), 50), "others have their turn");
    }
}
