//! The onset of congestion: the rate of a stream from which on its packets queue (PACKET-SCALE-2017, section IV-B,
//! equations 2 and 3).
//!
//! If q_i is the queueing delay of packet i at the bottleneck and AB the bandwidth available there,
//!
//! > q_i <= q_(i-1) if r_i <= AB (equation 2), and q_i > q_(i-1) otherwise (equation 3),
//!
//! where RAPID-2009 has q_k = 0 in place of equation 2. As rates rise, all packets queue from the first packet i\* on
//! for which equation 3 holds. **Decided**: the estimate is the rate of the packet before it, the last one that did not
//! queue. In the indices of 2017 this is r_(i\*-1), the papers' ABest. In those of 2009, r_(i\*-1) is the rate of
//! packet i\* itself, which is higher by the spread factor (`docs/rapid.md`, "Indices").
//!
//! **Decided**: if the last excursion of the delays is still open when the stream ends, the packet before i\* is the
//! one at which this excursion starts. If none is open, no packet queues.

use super::excursions::excursions;
use super::sample::Sample;

/// The rate at which congestion begins, bits per second; none if there are fewer than two samples. Delays that differ
/// by up to `resolution` picoseconds count as equal.
pub fn onset(samples: &[Sample], resolution: i64) -> Option<f64> {
    let (first, last) = (samples.first()?, samples.last()?);
    match samples.len() {
        1 => return None,
        // **Decided**: one step is no trend. RAPID-2009's first slow-start stream has two packets, 83 ms apart; any
        // packet of other traffic between them would end slow start at half of 100 kbps.
        2 => return Some(last.rate),
        _ => {}
    }
    Some(match excursions(samples, resolution, |_, _| ()) {
        None => last.rate, // r_N (2017, footnote 13); r_(N-1) (2009, footnote 7)
        Some(0) => half_the_lowest(samples, first),
        // `samples[i]` is packet i* - 1, counted from 1; without losses, i = i* - 2.
        Some(i) => samples[i].rate,
    })
}

/// The estimate if every rate of the stream exceeds the available bandwidth: r_1/2 (2017, footnote 13; 2009, footnote
/// 7). **Decided**: every rate does if the second packet queues, as delays are known only relative to that of the first
/// packet. The lower rate of the first two packets is r_1: in RAPID-2009, the first packet has the rate r_avg, which is
/// higher than r_1, the rate of the second.
pub(super) fn half_the_lowest(samples: &[Sample], first: &Sample) -> f64 {
    first.rate.min(samples[1].rate) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates 1, 2, ... and these delays.
    fn samples(delays: &[i64]) -> Vec<Sample> {
        (0..)
            .zip(delays)
            .map(|(i, &delay)| Sample { index: i, rate: f64::from(i + 1), delay, arrival: 0, packets: 1 })
            .collect()
    }

    #[test]
    fn a_stream_that_does_not_queue_yields_its_top_rate() {
        assert_eq!(onset(&samples(&[0; 10]), 0), Some(10.0));
        assert_eq!(onset(&samples(&[90, 80, 70, 60, 50]), 0), Some(5.0), "an old queue drains");
    }

    #[test]
    fn a_stream_that_queues_from_a_packet_on_yields_the_rate_before_it() {
        assert_eq!(onset(&samples(&[0, 0, 0, 0, 1, 3, 6, 10]), 0), Some(4.0));
        assert_eq!(onset(&samples(&[5, 3, 1, 0, 1, 3, 6, 10]), 0), Some(4.0), "after an old queue has drained");
    }

    #[test]
    fn two_packets_show_no_trend() {
        assert_eq!((onset(&samples(&[0]), 0), onset(&samples(&[0, 9]), 0)), (None, Some(2.0)));
    }

    #[test]
    fn a_stream_that_queues_from_the_start_yields_half_its_first_rate() {
        assert_eq!(onset(&samples(&[0, 1, 2, 3, 4]), 0), Some(0.5));
    }

    #[test]
    fn a_burst_of_cross_traffic_that_passes_is_not_congestion() {
        let delays = [0, 9, 12, 10, 9, 8, 2, 0, 0, 0, 0, 4, 9, 15];
        assert_eq!(onset(&samples(&delays), 0), Some(11.0));
        let short = [0, 9, 2, 0, 0, 0, 0, 0, 0, 0, 0, 4, 9, 15];
        assert_eq!(onset(&samples(&short), 0), Some(11.0));
    }

    #[test]
    fn delays_within_the_resolution_are_no_queue() {
        let delays: Vec<i64> = (0..30).map(|i| i % 2).collect();
        assert_eq!(onset(&samples(&delays), 1), Some(30.0));
    }

    /// Delays are differences of two hosts' clocks, either of which may show any time.
    #[test]
    fn delays_that_are_as_far_apart_as_can_be_are_compared() {
        assert!(onset(&samples(&[i64::MIN, i64::MAX, 0, i64::MIN, i64::MAX]), 0).is_some());
    }
}
