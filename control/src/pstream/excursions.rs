//! Excursions of the one-way delay: packets in a row whose delay rises above that of the one before them and then falls
//! back (pathChirp: Ribeiro, Riedi, Baraniuk, Navratil and Cottrell, "pathChirp: Efficient Available Bandwidth
//! Estimation for Network Paths", PAM 2003). The papers refer to it for "several heuristics to account for bursty
//! cross-traffic" (PACKET-SCALE-2017, section IV-B).

use super::sample::Sample;

/// An excursion that ends within fewer packets is noise (pathChirp's L).
const NOISE: usize = 5;

/// The excursions of the delays of `samples`, where delays that differ by up to `resolution` picoseconds count as
/// equal. An excursion ends when its delay has fallen by the factor `decrease` from its highest (pathChirp's F). Those
/// that end within the stream, after at least [`NOISE`] packets, are passed to `finished` as ranges of indices of
/// `samples`. Returns where the one starts that does not end within the stream.
pub(super) fn excursions(
    samples: &[Sample],
    resolution: i64,
    decrease: f64,
    mut finished: impl FnMut(usize, usize),
) -> Option<usize> {
    let n = samples.len();
    let mut i = 0;
    while i + 1 < n {
        // Equation 2: no excursion starts as long as q_(i+1) <= q_i.
        if samples[i + 1].delay.saturating_sub(samples[i].delay) <= resolution {
            i += 1;
            continue;
        }
        // Equation 3: q_(i+1) > q_i.
        let mut highest = 0;
        let mut j = i + 1;
        while j < n {
            let rise = samples[j].delay.saturating_sub(samples[i].delay);
            highest = highest.max(rise);
            if rise as f64 <= highest as f64 / decrease {
                break;
            }
            j += 1;
        }
        if j == n {
            return Some(i);
        }
        if j - i >= NOISE {
            finished(i, j);
            i = j;
        } else {
            i += 1;
        }
    }
    None
}
