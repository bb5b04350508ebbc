//! Datagrams that leave with one system call: those that a controller lets go at one time, to one place and of one size
//! (the kernel divides them: generic segmentation offload). A controller that paces has one of them at a time.

use crate::datagram::{Addressing, Datagram};
use quinn::udp::Transmit;

/// The most datagrams in a batch. Other connections of the endpoint wait while it is sent.
const MOST: usize = 16;

/// Datagrams of one size and addressing, of which the last may be smaller.
pub(crate) struct Batch {
    most: usize,
    addressing: Option<Addressing>,
    bytes: Vec<u8>,
    /// Bytes of the first datagram.
    size: usize,
    count: usize,
}

impl Batch {
    /// For a socket that takes up to `segments` datagrams in one call.
    pub(crate) fn new(segments: usize) -> Batch {
        Batch { most: segments.clamp(1, MOST), addressing: None, bytes: Vec::new(), size: 0, count: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        (self.addressing, self.size, self.count) = (None, 0, 0);
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Whether a datagram of `size` bytes can join the batch.
    pub(crate) fn takes(&self, addressing: &Addressing, size: usize) -> bool {
        let is_even = self.bytes.len() == self.count * self.size;
        let fits = self.count < self.most && is_even && size <= self.size;
        self.count == 0 || fits && self.addressing.as_ref() == Some(addressing)
    }

    pub(crate) fn add(&mut self, datagram: &Datagram) {
        let contents = datagram.contents();
        if self.count == 0 {
            (self.addressing, self.size) = (Some(datagram.addressing), contents.len());
        }
        if contents.len() > self.size {
            return; // it counts as lost; no controller has stamps of two sizes, so that this does not happen
        }
        self.bytes.extend_from_slice(contents);
        self.count += 1;
    }

    /// The batch as sockets take it; none if it is empty.
    pub(crate) fn transmit(&self) -> Option<Transmit<'_>> {
        let Addressing { destination, source: src_ip, ecn } = self.addressing?;
        let segment_size = (self.count > 1).then_some(self.size);
        Some(Transmit { destination, ecn, contents: &self.bytes, segment_size, src_ip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    #[test]
    fn a_batch_takes_only_datagrams_that_the_kernel_can_divide_again() {
        let to = |port| Addressing { destination: SocketAddr::from(([127, 0, 0, 1], port)), source: None, ecn: None };
        let datagram = |size| {
            let contents = vec![7; size];
            let destination = to(1).destination;
            let transmit = Transmit { destination, ecn: None, contents: &contents, segment_size: None, src_ip: None };
            Datagram::new(Vec::new(), &transmit, None, 0)
        };
        let mut batch = Batch::new(64);
        assert!(batch.transmit().is_none() && batch.takes(&to(2), 1200));
        batch.add(&datagram(1200));
        assert_eq!(batch.transmit().unwrap().segment_size, None, "one datagram is not divided");
        assert!(!batch.takes(&to(2), 1200), "another destination");
        assert!(!batch.takes(&to(1), 1201), "larger than the first");
        batch.add(&datagram(1200));
        batch.add(&datagram(100));
        assert!(!batch.takes(&to(1), 100), "a smaller one is the last");
        let transmit = batch.transmit().unwrap();
        assert_eq!((transmit.segment_size, transmit.contents.len()), (Some(1200), 2500));
        batch.clear();
        (0..MOST).for_each(|_| batch.add(&datagram(50)));
        assert!(!batch.takes(&to(1), 50), "a full batch");
    }
}
