//! CUBIC: the window is a cubic function of the time since the last loss, flat near the window of that loss (RFC 9438). Without
//! HyStart++ (RFC 9406), which section 4.10 recommends: slow start ends with a loss, as in the papers' comparisons.

use crate::registry::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::{Bytes, Time};
use crate::window::{Law, Window, within};
use libm::cbrt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cubic {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// C: how steep the cubic function is, in packets per second cubed
    pub c: f64,
    /// beta: share of the window kept on a loss, 0 to 1
    pub beta: f64,
    /// Whether a flow in decline aims below the window of its last loss
    pub fast_convergence: bool,
}

impl Default for Cubic {
    fn default() -> Cubic {
        Cubic { initial_window: 2.0, c: 0.4, beta: 0.7, fast_convergence: true }
    }
}

impl Cubic {
    /// The constants of Ha, Rhee, Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", ACM SIGOPS OSR 42(5), 2008, which writes
    /// beta = 0.2 for the share given up. Its function, its Reno-friendly growth 3 beta/(2 - beta) and its fast convergence are
    /// those of the RFC; what the RFC adds is that the Reno-friendly window grows by 1 in the end.
    pub fn of_2008() -> Cubic {
        Cubic { beta: 0.8, ..Cubic::default() }
    }
}

impl Protocol for Cubic {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("c", self.c, 1e-6..=1e6)?;
        within("beta", self.beta, 0.01..=0.99)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Window::new(Curve::new(self, host.packet), self.initial_window, host.packet))
    }
}

/// The cubic function, and where on it the window is.
pub(crate) struct Curve {
    cubic: Cubic,
    /// Bytes in a packet.
    packet: f64,
    /// alpha_cubic: the growth per round trip with which AIMD(alpha, 1 - beta) has Reno's mean window (section 4.3).
    alpha: f64,
    /// W_max, packets; zero before the first loss and after a timeout.
    wmax: f64,
    /// cwnd_prior: the window at the last loss, packets.
    prior: f64,
    stage: Option<Stage>,
    /// Smoothed RTT, seconds (RFC 6298).
    rtt: f64,
    /// When the last acknowledgment arrived.
    heard: Time,
}

/// A stage of congestion avoidance.
struct Stage {
    /// t_epoch: when it began.
    epoch: Time,
    /// K: how long it takes to W_max, seconds.
    k: f64,
    /// W_est: Reno's window, packets.
    west: f64,
}

impl Curve {
    /// Before the first loss.
    pub(crate) fn new(cubic: &Cubic, packet: Bytes) -> Curve {
        Curve {
            cubic: cubic.clone(),
            packet: packet.0 as f64,
            alpha: 3.0 * (1.0 - cubic.beta) / (1.0 + cubic.beta),
            wmax: 0.0,
            prior: f64::INFINITY,
            stage: None,
            rtt: 0.0,
            heard: Time::ZERO,
        }
    }

    /// Section 4.2.
    fn begin(&mut self, now: Time, w: f64) -> Stage {
        // Section 4.8: after a timeout, W_max is the window at which the stage begins, and K is zero.
        self.wmax = self.wmax.max(w);
        Stage { epoch: now, k: cbrt((self.wmax - w) / self.cubic.c), west: w }
    }
}

impl Law for Curve {
    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            let rtt = rtt.as_secs();
            self.rtt = if self.rtt > 0.0 { self.rtt + (rtt - self.rtt) / 8.0 } else { rtt };
        }
        // Section 5.8: time in which the application held the window back does not count.
        if let Some(stage) = self.stage.as_mut().filter(|_| ack.app_limited) {
            stage.epoch += now.since(self.heard);
        }
        self.heard = now;
    }

    fn increase(&mut self, now: Time, w: f64, ack: &Ack) -> f64 {
        let mut stage = match self.stage.take() {
            Some(stage) => stage,
            None => self.begin(now, w),
        };
        let cubic = |t: f64| {
            let from_k = t - stage.k;
            self.cubic.c * from_k * from_k * from_k + self.wmax // section 4.2: W_cubic(t)
        };
        let t = now.since(stage.epoch).as_secs();
        // Section 4.3: W_est, which grows as Reno's once it has regained what the loss took.
        let segments = ack.acked.0 as f64 / self.packet;
        let alpha = if stage.west < self.prior { self.alpha } else { 1.0 };
        stage.west += alpha * segments / w;
        let growth = if cubic(t) < stage.west {
            ((stage.west - w) / segments).max(0.0)
        } else {
            let target = cubic(t + self.rtt).clamp(w, 1.5 * w); // section 4.2
            (target - w) / w // sections 4.4 and 4.5
        };
        self.stage = Some(stage);
        growth
    }

    /// Section 4.6, with the window for flight_size: it does not grow while the application leaves it unused.
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        let Cubic { beta, fast_convergence, .. } = self.cubic;
        self.wmax = if fast_convergence && w < self.wmax { w * (1.0 + beta) / 2.0 } else { w }; // section 4.7
        self.prior = w;
        self.stage = None;
        w * beta
    }

    /// Section 4.8.
    fn timeout(&mut self, now: Time, w: f64) -> f64 {
        let left = self.decrease(now, w);
        self.wmax = 0.0;
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{Loss, State};
    use crate::units::Duration;

    const PACKET: Bytes = Bytes(1000);

    /// A flow of `cubic` that has just lost a packet at a window of `w`, its first.
    fn after_loss(cubic: Cubic, w: f64) -> Box<dyn Sender> {
        let mut sender = Cubic { initial_window: w, ..cubic }.sender(&Conditions::exact(PACKET));
        sender.on_loss(Time::ZERO, &Loss::Event);
        sender
    }

    /// The window after `seconds` more in which each round trip takes `rtt`, from `now` on, packet by packet.
    fn run(sender: &mut dyn Sender, now: &mut Time, seconds: f64, rtt: f64) -> f64 {
        let window = |State { window, .. }| window.unwrap();
        let end = now.as_secs() + seconds;
        let ack = Ack { acked: PACKET, rtt: Some(Duration::from_secs(rtt)), ..Ack::default() };
        while now.as_secs() < end {
            *now += Duration::from_secs(rtt / window(sender.state()));
            sender.on_ack(*now, &ack);
        }
        window(sender.state())
    }

    #[test]
    fn the_window_is_the_cubic_function_a_round_trip_ahead() {
        // Section 4.2 by hand: W_max = 10000, so K = (3000/0.4)^(1/3) = 19.57 s.
        let mut sender = after_loss(Cubic::default(), 10_000.0);
        let (mut now, k) = (Time::ZERO, 7500f64.cbrt());
        for t in [5.0, 10.0, 19.0, 25.0, 30.0] {
            let left = t - now.as_secs();
            let w = run(&mut *sender, &mut now, left, 0.1);
            // It aims at the window of a round trip later, and covers 1 - 1/e of the way in each: some 0.06 s ahead.
            let (now, ahead) = (0.4 * (t - k).powi(3) + 1e4, 0.4 * (t + 0.1 - k).powi(3) + 1e4);
            assert!(now - 1.0 < w && w < ahead + 1.0, "after {t} s {w}, not within {now} to {ahead}");
        }
    }

    #[test]
    fn in_the_reno_friendly_region_it_grows_by_alpha_and_by_one_in_the_end() {
        // Section 4.3: 3 (1 - 0.7)/(1 + 0.7) = 0.529 per round trip until 20 packets are regained, then 1; at 10 ms the cubic
        // function stays below for long.
        let mut sender = after_loss(Cubic::default(), 20.0);
        let mut now = Time::ZERO;
        let w = run(&mut *sender, &mut now, 0.10, 0.01);
        assert!((w - (14.0 + 10.0 * 0.529)).abs() < 0.3, "{w}");
        let there = run(&mut *sender, &mut now, 0.02, 0.01);
        let later = run(&mut *sender, &mut now, 0.05, 0.01);
        assert!(there > 20.0 && (later - there - 5.0).abs() < 0.2, "{there}, then {later}");
    }

    #[test]
    fn fast_convergence_aims_lower_for_a_flow_in_decline() {
        // Section 4.7: 7000 is below 10000, so W_max = 7000 x 1.7/2, or else 7000. The window is there after K seconds.
        for (fast_convergence, wmax) in [(true, 5950.0), (false, 7000.0)] {
            let mut sender = after_loss(Cubic { fast_convergence, ..Cubic::default() }, 10_000.0);
            sender.on_loss(Time::ZERO, &Loss::Event);
            let k = ((wmax - 4900.0) / 0.4f64).cbrt();
            let w = run(&mut *sender, &mut Time::ZERO.clone(), k, 0.1);
            assert!((w - wmax).abs() < 0.1, "{w} instead of {wmax}");
        }
    }

    #[test]
    fn after_a_timeout_the_curve_starts_from_where_slow_start_ended() {
        let mut sender = Cubic { initial_window: 1000.0, ..Cubic::default() }.sender(&Conditions::exact(PACKET));
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        let mut now = Time::ZERO;
        let w = run(&mut *sender, &mut now, 1.0, 0.1); // to ssthresh = 700, packet by packet in ln(700) round trips
        assert!((700.0..705.0).contains(&w), "{w}");
        let w = run(&mut *sender, &mut now, 9.0, 0.1);
        let t = 10.0 - 0.1 * 700f64.ln();
        assert!((w - 700.0 - 0.4 * t.powi(3)).abs() < 0.02 * w, "{w}"); // section 4.8: K = 0
    }

    #[test]
    fn time_without_anything_to_send_does_not_count() {
        let mut sender = after_loss(Cubic::default(), 10_000.0);
        let mut now = Time::ZERO;
        let before = run(&mut *sender, &mut now, 5.0, 0.1);
        now += Duration::from_secs(60.0);
        sender.on_ack(now, &Ack { acked: PACKET, app_limited: true, ..Ack::default() });
        let after = run(&mut *sender, &mut now, 0.1, 0.1);
        assert!((after - before) < 40.0, "{before}, then {after}"); // 0.4 x 3 x 14.6^2 x 0.1
    }

    #[test]
    fn the_papers_cubic_gives_up_a_fifth() {
        let sender = after_loss(Cubic::of_2008(), 1000.0);
        assert_eq!(sender.state().window, Some(800.0));
    }
}
