//! Datagrams that leave together: those that a controller lets go at one time, or within the host's quantum. As few
//! system calls as possible send them: the kernel divides what is of one size and goes to one place (generic
//! segmentation offload).

use crate::datagram::{Addressing, Datagram};
use quinn::udp::Transmit;

/// The most bytes of a batch: what an IP packet holds (65,535 bytes) without the headers of IPv6 and UDP.
const MOST: usize = 65_535 - 40 - 8;

/// Datagrams that leave together, in order.
pub(crate) struct Burst {
    /// The most datagrams in a batch.
    segments: usize,
    batches: Vec<Batch>,
    /// How many of the batches are in use.
    used: usize,
}

impl Burst {
    /// For a socket that takes up to `segments` datagrams in one call.
    pub(crate) fn new(segments: usize) -> Burst {
        Burst { segments: segments.max(1), batches: Vec::new(), used: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.batches[..self.used].iter_mut().for_each(Batch::clear);
        self.used = 0;
    }

    /// How many datagrams leave.
    pub(crate) fn count(&self) -> usize {
        self.batches[..self.used].iter().map(|batch| batch.count).sum()
    }

    pub(crate) fn add(&mut self, datagram: &Datagram) {
        let fits = |batch: &Batch| batch.takes(&datagram.addressing, datagram.contents().len(), self.segments);
        if !self.batches[..self.used].last().is_some_and(fits) {
            self.used += 1;
            if self.used > self.batches.len() {
                self.batches.push(Batch::default());
            }
        }
        self.batches[self.used - 1].add(datagram);
    }

    /// What sockets take, one call each.
    pub(crate) fn transmits(&self) -> impl Iterator<Item = Transmit<'_>> {
        self.batches[..self.used].iter().filter_map(Batch::transmit)
    }
}

/// Datagrams of one size and addressing, of which the last may be smaller.
#[derive(Default)]
struct Batch {
    addressing: Option<Addressing>,
    bytes: Vec<u8>,
    /// Bytes of the first datagram.
    size: usize,
    count: usize,
}

impl Batch {
    fn clear(&mut self) {
        self.bytes.clear();
        (self.addressing, self.size, self.count) = (None, 0, 0);
    }

    /// Whether a datagram of `size` bytes can join the batch, which may have up to `segments` of them.
    fn takes(&self, addressing: &Addressing, size: usize, segments: usize) -> bool {
        let is_even = self.bytes.len() == self.count * self.size;
        let fits = self.count < segments && is_even && size <= self.size && self.bytes.len() + size <= MOST;
        self.count == 0 || fits && self.addressing.as_ref() == Some(addressing)
    }

    fn add(&mut self, datagram: &Datagram) {
        let contents = datagram.contents();
        if self.count == 0 {
            (self.addressing, self.size) = (Some(datagram.addressing), contents.len());
        }
        self.bytes.extend_from_slice(contents);
        self.count += 1;
    }

    /// The batch as sockets take it; none if it is empty.
    fn transmit(&self) -> Option<Transmit<'_>> {
        let Addressing { destination, source: src_ip } = self.addressing?;
        let segment_size = (self.count > 1).then_some(self.size);
        Some(Transmit { destination, ecn: None, contents: &self.bytes, segment_size, src_ip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    #[test]
    fn a_burst_leaves_in_as_few_batches_as_the_kernel_can_divide_again() {
        let to = |port| Addressing { destination: SocketAddr::from(([127, 0, 0, 1], port)), source: None };
        let mut burst = Burst::new(4);
        assert_eq!((burst.count(), burst.transmits().count()), (0, 0));
        let mut sent = |datagrams: &[(u16, usize)]| {
            burst.clear();
            for &(port, size) in datagrams {
                burst.add(&Datagram::new(Vec::new(), &vec![7; size], to(port), None, 0));
            }
            assert_eq!(burst.count(), datagrams.len());
            burst.transmits().map(|batch| (batch.segment_size, batch.contents.len())).collect::<Vec<_>>()
        };
        assert_eq!(sent(&[(1, 1200)]), [(None, 1200)], "one datagram is not divided");
        assert_eq!(sent(&[(1, 1200), (2, 1200)]), [(None, 1200); 2], "another destination");
        assert_eq!(sent(&[(1, 1200), (1, 1201)]), [(None, 1200), (None, 1201)], "larger than the first");
        assert_eq!(sent(&[(1, 1200), (1, 1200), (1, 100), (1, 100)]), [(Some(1200), 2500), (None, 100)]);
        assert_eq!(sent(&[(1, 50); 9]), [(Some(50), 200), (Some(50), 200), (None, 50)], "four at most");
        assert_eq!(sent(&[(1, 30_000); 3]), [(Some(30_000), 60_000), (None, 30_000)], "64 kB at most");
    }
}
