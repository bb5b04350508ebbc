//! Formulas that simulations are compared with. Most are response functions: the mean window to which a protocol
//! settles, in packets (packets per round trip), if a loss event happens once every 1/p packets.
//!
//! BIC-2004 calls them R(p), prints them with a factor 1/RTT (packets per second) and says "in the unit of packets per
//! RTT"; **decided**: without the factor, in packets. All response functions are for loss event rates 0 < p < 1 and
//! windows above the protocol's low window, below which the protocol behaves as [`tcp`]: over all rates, the larger of
//! the two holds.

use control::{Ack, Bytes, Duration, Loss, Rate, Sender, Time};
use lambert_w::lambert_w0;
use libm::{exp, log, log2, pow, sqrt};
use serde::Deserialize;
use std::ops::Range;

/// TCP: AIMD(1, 0.5), sqrt(3/2) p^-0.5.
pub fn tcp(p: f64) -> f64 {
    aimd(1.0, 0.5, p)
}

/// AIMD(a, b): sqrt(a (2 - b) / (2 b)) p^-0.5 (BIC-2004, section VI-B, below equation 6).
pub fn aimd(a: f64, b: f64, p: f64) -> f64 {
    sqrt(a * (2.0 - b) / (2.0 * b) / p)
}

/// HighSpeed TCP: 0.12 p^-0.835 (RFC 3649, section 5).
pub fn highspeed(p: f64) -> f64 {
    0.12 * pow(p, -HIGHSPEED)
}

/// HighSpeed TCP with a low window of `low` packets: the line through TCP's window there and 83,000 packets at 1e-7, by
/// which RFC 3649 defines it. The draft before the RFC, which BIC-2004 used, had a low window of 31.
pub fn highspeed_from(low: f64, p: f64) -> f64 {
    let p_low = 1.5 / (low * low);
    let d = log(83_000.0 / low) / log(p_low / 1e-7);
    low * pow(p_low / p, d)
}

/// Scalable TCP with a = 0.01, b = 0.125: 0.08 / p, a packet's mean growth equalling its mean loss (Kelly, CCR 2003).
pub fn scalable(p: f64) -> f64 {
    0.08 / p
}

/// CUBIC, for a flow whose round trips take `rtt` (RFC 9438, section 5.1): (C (3 + beta) / (4 (1 - beta)))^1/4
/// (RTT/p)^3/4, where `c` is in packets per second cubed and `beta` the share kept on a loss. In its Reno-friendly
/// region, where that is less, [`tcp`]. The RFC derives it for a loss every 1/p packets exactly.
pub fn cubic(c: f64, beta: f64, rtt: Duration, p: f64) -> f64 {
    pow(c * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25) * pow(rtt.as_secs() / p, 0.75)
}

/// BIC's parameters, as in [`control::bic::Bic`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bic {
    /// S_max, packets.
    pub smax: f64,
    /// S_min, packets.
    pub smin: f64,
    /// Share of the window by which a loss reduces it.
    pub beta: f64,
}

impl Default for Bic {
    fn default() -> Bic {
        Bic { smax: 32.0, smin: 0.01, beta: 0.125 }
    }
}

impl Bic {
    /// BIC-2004, section VI-B: equation 5 if there is additive increase (N1 > 0), else the exact expression above
    /// equation 7.
    ///
    /// The equations hold together: (2) and (3) sum to (4), (4) gives (5), (5) tends to (6), and the two cases meet
    /// where W_max beta = 2 S_max. What does not hold is the text's "slope 1/S_max" of additive increase, which is
    /// S_max per round trip, as (2) has it. And they describe rounds in which the distance to W_max halves, while the
    /// pseudo-code of VI-A adds half the distance packet by packet, which leaves exp(-1/2) of it and takes 2 ln 2 =
    /// 1.39 times as many rounds. So even with a loss every 1/p packets exactly the protocol stays 9 to 18 % below for
    /// p from 1e-3 to 1e-5. With losses at random it exceeds them, by 60 % at p = 1e-3, 18 % at 1e-4 and 3 % at 1e-5: a
    /// window that meets no loss for long grows past W_max, ever faster. [`mean_window`] tells what the protocol itself
    /// does.
    pub fn mean_window(&self, p: f64) -> f64 {
        let Bic { smax, smin, beta } = *self;
        let wmax = self.wmax_without_additive_increase(p);
        if wmax * beta <= 2.0 * smax {
            return 1.0 / p / (log2(wmax * beta / smin) + 2.0); // above equation 7: Y / N
        }
        let (a, b, c) = self.quadratic();
        let root = sqrt(b * b + 4.0 * a * (c + 1.0 / p));
        (2.0 - beta) / p / (root + (1.0 - beta) * b + beta * (2.0 - beta) / 2.0) // equation 5
    }

    /// The window at which the loss comes, packets.
    pub fn wmax(&self, p: f64) -> f64 {
        let wmax = self.wmax_without_additive_increase(p);
        if wmax * self.beta <= 2.0 * self.smax {
            return wmax;
        }
        let (a, b, c) = self.quadratic();
        (sqrt(b * b + 4.0 * a * (c + 1.0 / p)) - b) / (2.0 * a) // equation 4
    }

    /// The a, b and c of equation 4.
    fn quadratic(&self) -> (f64, f64, f64) {
        let Bic { smax, smin, beta } = *self;
        (beta * (2.0 - beta) / (2.0 * smax), log2(smax / smin) + (2.0 - beta) / 2.0, smax - smin)
    }

    /// W_max in packets if N1 = 0, from W_max (log2(W_max beta / S_min) + 2 (1 - beta)) p = 1; e^(-2 ln(2) beta) is
    /// 4^-beta.
    fn wmax_without_additive_increase(&self, p: f64) -> f64 {
        let ln2 = std::f64::consts::LN_2;
        ln2 / (lambert_w0(4.0 * ln2 * self.beta * pow(4.0, -self.beta) / (p * self.smin)) * p)
    }
}

/// The exponent d of the response function c/p^d of TCP and AIMD.
pub const AIMD: f64 = 0.5;
/// The exponent d of HighSpeed TCP (RFC 3649). BIC-2004 says 0.82, which belongs to a low window of 31 instead of 38.
pub const HIGHSPEED: f64 = 0.835;
/// The exponent d of Scalable TCP.
pub const SCALABLE: f64 = 1.0;

/// The exponent e in (RTT2/RTT1)^e, the ratio of two flows' throughputs under synchronised losses, if their response
/// function is c/p^d: 1/(1-d) (BIC-2004, section IV). Infinite for d = 1.
pub fn rtt_unfairness(d: f64) -> f64 {
    1.0 / (1.0 - d)
}

/// The exponent d of a response function c/p^d near `p`: its steepness on logarithmic scales.
pub fn steepness(response: impl Fn(f64) -> f64, p: f64) -> f64 {
    let step = 1.01;
    log(response(p / step) / response(p * step)) / (2.0 * log(step))
}

/// The largest `x` in `range` at which two curves cross; none if they do not cross. The range is positive. Two
/// crossings closer together than a thousandth of the range, on a logarithmic scale, may not be found.
pub fn crossing(one: impl Fn(f64) -> f64, other: impl Fn(f64) -> f64, range: Range<f64>) -> Option<f64> {
    let above = |x: f64| one(exp(x)) > other(exp(x));
    let (from, to) = (log(range.start), log(range.end));
    let steps = || (0..=1000).map(|i| to + (from - to) * f64::from(i) / 1000.0);
    let (mut high, mut low) = steps().zip(steps().skip(1)).find(|&(high, low)| above(high) != above(low))?;
    for _ in 0..60 {
        let middle = (high + low) / 2.0;
        if above(middle) == above(high) { high = middle } else { low = middle }
    }
    Some(exp(high))
}

/// The loss rate at which TCP with packets of `packet` and round trips of `rtt` gets the rate `x`: (k P / (T_RTT X))^2,
/// with k between 1 and 2 (RRR-2008, equation 18).
pub fn tcp_loss(k: f64, packet: Bytes, rtt: Duration, x: Rate) -> f64 {
    let ratio = k * packet.as_bits() / (rtt.as_secs() * x.as_bps());
    ratio * ratio
}

/// The queue that flows of FAST keep together, and the share of the link that each flow gets. Queues are in multiples
/// of alpha. `unseen` has for each flow the least queue that it has met, whose delay it takes for propagation delay
/// (persistent congestion: Low, Peterson, Wang, "Understanding Vegas: a duality model", Journal of the ACM 49(2),
/// 2002).
///
/// A flow keeps alpha packets beyond the queue b that it does not see. So with a queue of q, its rate times the delay
/// of q - b is alpha; its share is alpha/(q - b), and the shares sum to 1. If all flows have met an empty queue, q is
/// alpha for each flow. If a second flow took the queue of the first for propagation delay, 1/u + 1/(u - 1) = 1 for u =
/// q/alpha, which is (3 + sqrt 5)/2.
pub fn fast(unseen: &[f64]) -> (f64, Vec<f64>) {
    let shares = |queue: f64| unseen.iter().map(move |b| 1.0 / (queue - b));
    let most = unseen.iter().fold(0.0, |most: f64, &b| most.max(b));
    let (mut low, mut high) = (most, most + unseen.len() as f64);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if shares(middle).sum::<f64>() > 1.0 { low = middle } else { high = middle }
    }
    (high, shares(high).collect())
}

/// The mean window over time, in packets, of a window protocol's own sender on a path without a queue, with round trips
/// of `rtt`, that loses one packet after each of `intervals` packets: what a response function approximates, without
/// hosts, queues and recoveries. The first half of the intervals is not counted, so that the window can settle. None if
/// the sender has no window.
pub fn mean_window(sender: &mut dyn Sender, packet: Bytes, rtt: Duration, intervals: &[u64]) -> Option<f64> {
    let ack = Ack { acked: packet, rtt: Some(rtt), ..Ack::default() };
    let mut now = Time::ZERO + rtt;
    let (mut packets, mut rounds) = (0.0, 0.0);
    for (i, &interval) in intervals.iter().enumerate() {
        if i == intervals.len() / 2 {
            (packets, rounds) = (0.0, 0.0);
        }
        for _ in 0..interval {
            let round = 1.0 / sender.state().window?; // a round trip per window
            packets += 1.0;
            rounds += round;
            now += rtt.scale(round);
            sender.on_ack(now, &ack);
        }
        sender.on_loss(now, &Loss::Event);
    }
    Some(packets / rounds)
}

/// The most acknowledgments per round trip in [`synchronised_window`]. Each is for as many packets as that takes; with
/// one per packet, the exponents of BIC's throughput are the same to three digits.
const MOST_ACKS: f64 = 64.0;

/// The mean window over time, in packets, of a window protocol's own sender on a path without a queue, with round trips
/// of `rtt`, that has `losses` loss events, one after each time `every`, however much it sends: BIC-2004's model of
/// synchronised losses (section IV). The first loss ends slow start at a window of `first` packets. The first half of
/// the time is not counted. None if the sender has no window.
pub fn synchronised_window(
    sender: &mut dyn Sender,
    packet: Bytes,
    rtt: Duration,
    first: f64,
    every: Duration,
    losses: u32,
) -> Option<f64> {
    let ack = |packets: f64| Ack { acked: Bytes(packet.0 * packets as u64), rtt: Some(rtt), ..Ack::default() };
    let mut now = Time::ZERO + rtt;
    while sender.state().window? < first {
        sender.on_ack(now, &ack(1.0));
    }
    let (mut packets, mut rounds) = (0.0, 0.0);
    for i in 0..losses {
        sender.on_loss(now, &Loss::Event);
        if i == losses / 2 {
            (packets, rounds) = (0.0, 0.0);
        }
        let end = now + every;
        while now < end {
            let window = sender.state().window?;
            let acked = libm::floor(window / MOST_ACKS).max(1.0);
            packets += acked;
            rounds += acked / window;
            now += rtt.scale(acked / window);
            sender.on_ack(now, &ack(acked));
        }
    }
    Some(packets / rounds)
}

/// The mean window of a protocol with this `response` function that has one loss event in `rounds` round trips
/// (BIC-2004, equation 1: a mean window of w packets sends w times `rounds` = 1/p packets between two losses).
pub fn synchronised_response(response: impl Fn(f64) -> f64, rounds: f64) -> f64 {
    let (mut low, mut high) = (log(1e-15), log(1.0));
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        let p = exp(middle);
        if response(p) * rounds * p > 1.0 { high = middle } else { low = middle }
    }
    response(exp(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Conditions, registry};

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a / b - 1.0).abs() <= tolerance
    }

    /// Loss event rates.
    const RATES: Range<f64> = 1e-10..1e-1;

    /// For protocols that do not depend on it.
    const RTT: Duration = Duration::from_millis(10);

    /// The protocol's own mean window with a loss every 1/p packets.
    fn periodic(name: &str, rtt: Duration, p: f64) -> f64 {
        let controller = registry::find(name).unwrap();
        let mut sender = controller.build(controller.defaults(), &Conditions::exact(Bytes(1000))).unwrap().sender;
        mean_window(&mut *sender, Bytes(1000), rtt, &[(1.0 / p) as u64; 120]).unwrap()
    }

    #[test]
    fn protocols_follow_their_response_functions() {
        for p in [1e-3, 1e-4, 1e-5] {
            for (name, expected) in [
                ("reno", tcp(p)),
                ("aimd", aimd(32.0, 0.125, p)),
                ("highspeed", highspeed(p)),
                ("scalable", scalable(p)),
            ] {
                let found = periodic(name, RTT, p);
                assert!(close(found, expected, 0.08), "{name} at {p}: {found} instead of {expected}");
            }
        }
    }

    #[test]
    fn cubic_follows_its_response_function_in_either_region() {
        for (name, beta) in [("cubic", 0.7), ("cubic-2008", 0.8)] {
            for (rtt, p) in [(10, 1e-3), (10, 1e-4), (200, 1e-3), (100, 1e-4), (200, 1e-4)] {
                let rtt = Duration::from_millis(rtt);
                let curve = cubic(0.4, beta, rtt, p);
                let found = periodic(name, rtt, p);
                assert!(close(found, curve.max(tcp(p)), 0.1), "{name}, {rtt}, {p}: {found}");
            }
        }
    }

    #[test]
    fn cubics_mean_windows_are_those_of_rfc_9438s_table() {
        // Section 5.1, table for C = 0.4 at 100 ms.
        for (p, packets) in [(1e-4, 187.0), (1e-5, 1054.0), (1e-6, 5926.0), (1e-7, 33325.0), (1e-8, 187400.0)] {
            assert!(close(cubic(0.4, 0.7, Duration::from_millis(100), p), packets, 0.005), "{p}");
        }
    }

    #[test]
    fn fast_flows_that_took_a_queue_for_the_path_queue_more_and_get_more() {
        let (queue, shares) = fast(&[0.0; 4]);
        assert!(close(queue, 4.0, 1e-9) && shares.iter().all(|&share| close(share, 0.25, 1e-9)), "{queue} {shares:?}");
        let (queue, shares) = fast(&[0.0, 1.0]);
        let golden = (1.0 + sqrt(5.0)) / 2.0;
        assert!(close(queue, golden * golden, 1e-9) && close(shares[1], 1.0 / golden, 1e-9), "{queue} {shares:?}");
    }

    /// One epoch in the paper's rounds: the packets sent and the rounds taken.
    fn bic_epoch(bic: &Bic, wmax: f64) -> (f64, f64) {
        let mut w = wmax * (1.0 - bic.beta);
        let (mut packets, mut rounds) = (0.0, 0.0);
        while wmax - w > bic.smin / 2.0 {
            packets += w;
            rounds += 1.0;
            w += ((wmax - w) / 2.0).clamp(bic.smin, bic.smax);
        }
        (packets + wmax, rounds + 1.0)
    }

    #[test]
    fn bics_equations_are_its_rounds() {
        // S_min and S_max as the equations assume them: distances are whole multiples, halved down to S_min exactly.
        for bic in [Bic { smin: 1.0 / 128.0, ..Bic::default() }, Bic { smax: 16.0, smin: 0.25, beta: 0.125 }] {
            for wmax in [16.0, 64.0, 512.0, 1024.0, 4096.0, 65536.0] {
                let (packets, rounds) = bic_epoch(&bic, wmax);
                let p = 1.0 / packets;
                assert!(close(bic.wmax(p), wmax, 0.005), "{bic:?} {wmax}: {}", bic.wmax(p));
                let mean = packets / rounds;
                assert!(close(bic.mean_window(p), mean, 0.005), "{bic:?} {mean}: {}", bic.mean_window(p));
            }
        }
    }

    #[test]
    fn bics_cases_meet() {
        // At W_max beta = 2 S_max. Just on either side, as sqrt(p) varies by 1e-4, so do the windows, and not by more.
        let bic = Bic::default();
        let p = 1.0 / 7369.6; // Y of equations 2 and 3 there
        let (above, below) = (bic.mean_window(p * 0.9999), bic.mean_window(p * 1.0001));
        assert!(close(bic.wmax(p), 512.0, 1e-4), "{}", bic.wmax(p));
        assert!(close(above, below, 3e-4), "{above} {below}");
    }

    #[test]
    fn bics_pseudo_code_is_a_little_slower_than_its_equations() {
        for p in [1e-3, 1e-4, 1e-5] {
            let ratio = periodic("bic", RTT, p) / Bic::default().mean_window(p);
            assert!((0.8..1.0).contains(&ratio), "{p}: {ratio}");
        }
    }

    #[test]
    fn bic_goes_from_scalables_steepness_to_aimds() {
        // BIC-2004, section VI-B: 1/2 < d < 1, falling with p, and equation 6.
        let bic = Bic::default();
        let d: Vec<f64> = [1e-2, 1e-4, 1e-6, 1e-8].map(|p| steepness(|p| bic.mean_window(p), p)).to_vec();
        assert!(d.is_sorted_by(|a, b| a > b) && d[0] < SCALABLE && d[0] > 0.85 && d[3] > AIMD && d[3] < 0.51, "{d:?}");
        assert!(close(bic.mean_window(1e-9), aimd(32.0, 0.125, 1e-9), 0.005));
    }

    #[test]
    fn crossings_with_tcp_are_the_low_windows() {
        let window = |response: fn(f64) -> f64| tcp(crossing(response, tcp, RATES).unwrap());
        assert!(close(window(highspeed), 38.0, 0.04)); // RFC 3649, section 3
        assert!(close(window(|p| highspeed_from(31.0, p)), 31.0, 1e-6)); // BIC-2004, section VI-B.3
        assert!([1e-4, 1e-5, 1e-6].iter().all(|&p| close(highspeed_from(38.0, p), highspeed(p), 0.04)));
        assert!(close(window(scalable), 1.5 / 0.08, 1e-6)); // by hand; BIC-2004 rounds its low window down to 16
        assert!(close(window(|p| Bic::default().mean_window(p)), 14.0, 0.03)); // BIC-2004, section VI-B.3
        assert_eq!(crossing(|p| aimd(32.0, 0.125, p), tcp, RATES), None); // in parallel
    }

    #[test]
    fn tcp_and_a_tcp_like_feedback_share_by_the_ratio_of_their_scales() {
        // RRR-2008, section 5.2: k P/(T X) = X_T/(C - X), so that X = C s/(s + X_T) for s = k P/T.
        let (packet, rtt, capacity) = (Bytes(1500), Duration::from_millis(60), 10.0);
        let rrrp = |x: f64| pow(0.3 / (capacity - x), 2.0);
        let x = crossing(|x| tcp_loss(1.22, packet, rtt, Rate::from_mbps(x)), rrrp, 0.1..9.9).unwrap();
        let scale = 1.22 * 0.012 / 0.06;
        assert!(close(x, capacity * scale / (scale + 0.3), 1e-9), "{x}");
    }

    #[test]
    fn rtt_unfairness_is_the_papers() {
        // BIC-2004, section IV.
        assert_eq!(rtt_unfairness(AIMD), 2.0);
        assert!(close(rtt_unfairness(0.82), 5.56, 1e-3));
        assert_eq!(rtt_unfairness(SCALABLE), f64::INFINITY);
        assert!(close(steepness(highspeed, 1e-5), HIGHSPEED, 1e-9));
        // HSTCP's 0.82 from BIC-2004's own low window.
        let d = steepness(|p| highspeed_from(31.0, p), 1e-5);
        assert!(close(d, 0.82, 0.005), "{d}");
    }
}
