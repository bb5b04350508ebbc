//! The onset of congestion after a minimum filter over the delays: `thalweg`'s own estimator.
//!
//! Packets of other traffic delay some packets of a stream, but not those after them. These delays hide a growing queue
//! until it is several packets long, so that [`onset`](super::onset::onset) finds more than is available. The least
//! delay of a few packets in a row shows the queue without the packets of other traffic.

use super::onset::last_onset;
use super::sample::Sample;
use crate::units::Duration;

/// An excursion ends when the filtered delay's rise above its first packet is at most 1/F of the excursion's largest
/// rise. This F is less than pathChirp's, as filtered delays are steadier.
const DECREASE: f64 = 1.25;
/// The number of packets that the filter spans at most.
const FILTER_PACKETS: usize = 8;
/// The filter spans only packets that were sent within this time. On fast links, a queue of packets of other traffic
/// lasts less than this, even if a clock spaces these packets. The queues that fast flows cause among slow ones last
/// longer; a slow flow that filtered them out would starve. The drawback: on links of less than about 20 Mbps, the
/// filter spans too few packets to be of any use.
const FILTER_SPAN: Duration = Duration::from_micros(1500);

/// The rate at which congestion begins, bits per second; none if there are fewer than two samples. Each delay is first
/// replaced by the least delay of that packet and the next ones. Delays that differ by up to `resolution` picoseconds
/// count as equal. The samples keep the filtered delays, so that [`Sample::sent`] means nothing afterwards.
pub fn minimum_filtered_onset(samples: &mut [Sample], resolution: i64) -> Option<f64> {
    for i in 0..samples.len() {
        let near = samples[i..].iter().take(FILTER_PACKETS);
        let near = near.take_while(|sample| sample.sent().saturating_sub(samples[i].sent()) <= FILTER_SPAN.0 as i64);
        samples[i].delay = near.map(|sample| sample.delay).fold(samples[i].delay, i64::min);
    }
    last_onset(samples, resolution, DECREASE)
}

#[cfg(test)]
mod tests {
    use super::super::onset::onset;
    use super::*;

    /// Rates 1, 2, ... and these delays.
    fn samples(delays: &[i64]) -> Vec<Sample> {
        (0..)
            .zip(delays)
            .map(|(i, &delay)| Sample { index: i, rate: f64::from(i + 1), delay, arrival: 0, packets: 1 })
            .collect()
    }

    /// Every third packet comes behind one of other traffic, which delays it by 20; from the seventh on the queue
    /// grows.
    #[test]
    fn the_filter_sees_through_the_packets_of_other_traffic() {
        let queue = |i: i64| [0, 1, 3, 6, 10, 15, 21, 28, 36, 45][(i - 6).clamp(0, 9) as usize];
        let alone: Vec<i64> = (0..16).map(queue).collect();
        let delays: Vec<i64> = (0..16).map(|i| queue(i) + if i % 3 == 2 { 20 } else { 0 }).collect();
        assert_eq!([onset(&samples(&alone), 0), onset(&samples(&delays), 0)], [Some(7.0), Some(13.0)]);
        let filtered = |delays, spacing: i64| {
            let mut samples = samples(delays);
            (0..).zip(&mut samples).for_each(|(i, sample)| sample.arrival = i * spacing + sample.delay);
            minimum_filtered_onset(&mut samples, 0)
        };
        let ms = 1_000_000_000;
        assert_eq!([filtered(&alone, ms / 10), filtered(&delays, ms / 10), filtered(&delays, ms / 2)], [Some(7.0); 3]);
        // In a slow flow, no two packets lie within the filter, and a fall by a fifth ends an excursion.
        assert_eq!(filtered(&delays, 2 * ms), Some(16.0));
    }

    #[test]
    fn delays_that_are_as_far_apart_as_can_be_are_compared() {
        let mut extremes = samples(&[i64::MIN, i64::MAX, 0, i64::MIN, i64::MAX]);
        assert!(minimum_filtered_onset(&mut extremes, 0).is_some());
    }
}
