//! Excursions of the one-way delay: packets in a row whose delay rises above that of the one before them and then falls
//! back (pathChirp: Ribeiro, Riedi, Baraniuk, Navratil and Cottrell, "pathChirp: Efficient Available Bandwidth
//! Estimation for Network Paths", PAM 2003). The papers refer to it for "several heuristics to account for bursty
//! cross-traffic" (PACKET-SCALE-2017, section IV-B).

use super::sample::Sample;

/// An excursion of fewer packets than this that ends within the stream is noise (pathChirp's L).
const MIN_PACKETS: usize = 5;

/// An excursion ends when the delay's rise above its first packet is at most 1/F of the excursion's largest rise. This
/// is pathChirp's F.
const DECREASE: f64 = 1.5;

/// Finds the excursions of the delays of `samples`. Delays that differ by up to `resolution` picoseconds count as
/// equal.
///
/// Passes each excursion of at least [`MIN_PACKETS`] packets that ends within the stream to `finished`, as a range of
/// indices of `samples`. If the last excursion is still open when the stream ends, returns the index of the sample at
/// which it starts. That `samples[i]` is the packet before the first one that queues, the papers' packet i\* - 1,
/// counted from 1. Without losses, i = i\* - 2.
pub(super) fn excursions(samples: &[Sample], resolution: i64, mut finished: impl FnMut(usize, usize)) -> Option<usize> {
    let n = samples.len();
    let mut i = 0;
    while i + 1 < n {
        // Equation 2: no excursion starts as long as q_(i+1) <= q_i.
        if samples[i + 1].delay.saturating_sub(samples[i].delay) <= resolution {
            i += 1;
            continue;
        }
        // Equation 3: q_(i+1) > q_i.
        let mut largest_rise = 0;
        let mut j = i + 1;
        while j < n {
            let rise = samples[j].delay.saturating_sub(samples[i].delay);
            largest_rise = largest_rise.max(rise);
            if rise as f64 <= largest_rise as f64 / DECREASE {
                break;
            }
            j += 1;
        }
        if j == n {
            return Some(i);
        }
        if j - i >= MIN_PACKETS {
            finished(i, j);
            i = j;
        } else {
            i += 1;
        }
    }
    None
}
