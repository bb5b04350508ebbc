//! A token-bucket shaper (RFC 2475, section 2.3.3.3): delays what exceeds a rate, where a
//! [policer](crate::queue::policer) drops it.
//!
//! The bucket holds tokens for up to `burst` bytes, is full at the beginning, and fills at `rate`. A packet takes
//! tokens for its size when its transmission begins, and waits until there are enough of them.

use control::{Bytes, Rate, Time};

/// The shaper of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaper {
    /// The rate in the long run.
    pub rate: Rate,
    /// How much passes at the link's rate after a pause.
    pub burst: Bytes,
}

impl Shaper {
    /// What a link of `rate` can carry in the long run.
    pub fn limit(&self, rate: Rate) -> Rate {
        if self.rate < rate { self.rate } else { rate }
    }
}

/// The bucket. It is described by the time at which it will be full: at a time t before, it lacks the tokens that come
/// from t until then.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    shaper: Shaper,
    full_at: Time,
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(shaper: Shaper) -> TokenBucket {
        TokenBucket { shaper, full_at: Time::ZERO }
    }

    /// The next packet has `size` bytes, and could be transmitted from `ready` on. Takes its tokens, and returns when
    /// there are enough of them.
    ///
    /// **Decided**: a packet larger than the bucket is transmitted when that is full, and its other tokens are taken
    /// from those that come later.
    pub fn take(&mut self, ready: Time, size: Bytes) -> Time {
        let Shaper { rate, burst } = self.shaper;
        let begin = ready.max(self.full_at - rate.time_for(burst - size));
        self.full_at = self.full_at.max(begin) + rate.time_for(size);
        begin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = |us| Time(us * 1_000_000);

    /// When packets of these sizes begin, in microseconds, of which each could begin at the end of the one before, and
    /// not before its time. The link sends 1000 bytes in 100 us, and tokens for them come in 1000 us.
    fn begins(burst: u64, packets: &[(u64, u64)]) -> Vec<u64> {
        let mut bucket = TokenBucket::new(Shaper { rate: Rate::from_mbps(8.0), burst: Bytes(burst) });
        let mut free = Time::ZERO;
        let begin = |&(us, size): &(u64, u64)| {
            let begin = bucket.take(free.max(US(us)), Bytes(size));
            free = begin + Rate::from_mbps(80.0).time_for(Bytes(size));
            begin.0 / 1_000_000
        };
        packets.iter().map(begin).collect()
    }

    /// Three tokens at the beginning, and 0.3 more until the third packet is sent: the fourth waits for the other 0.7.
    #[test]
    fn a_burst_passes_at_the_links_rate_and_the_rest_at_the_shapers() {
        assert_eq!(begins(3000, &[(0, 1000); 6]), [0, 100, 200, 1000, 2000, 3000]);
    }

    /// After the second packet at 100 us, 0.1 tokens are left. At 1400 us there are 1.4, and at 10,000 us the bucket is
    /// full, however long the pause was.
    #[test]
    fn the_bucket_fills_up_to_the_burst_while_nothing_is_sent() {
        let packets =
            [(0, 1000), (0, 1000), (1400, 1000), (1400, 1000), (10_000, 1000), (10_000, 1000), (10_000, 1000)];
        assert_eq!(begins(2000, &packets), [0, 100, 1400, 2000, 10_000, 10_100, 11_000]);
    }

    /// Small packets need few tokens: of 1000 bytes at the beginning, 800 are taken at once. The large one waits for
    /// 1000 bytes, until 800 us, and the next small one for 100 of the bytes that come after that.
    #[test]
    fn a_packet_waits_for_as_many_tokens_as_it_has_bytes() {
        assert_eq!(begins(1000, &[(0, 800), (0, 1000), (0, 100)]), [0, 800, 900]);
    }

    /// A packet of 3000 bytes from a bucket of 1000: it begins when that is full, and leaves a debt of 2000 bytes.
    #[test]
    fn a_packet_larger_than_the_bucket_passes_when_that_is_full() {
        assert_eq!(begins(1000, &[(0, 3000), (0, 1000), (0, 3000)]), [0, 3000, 4000]);
    }
}
