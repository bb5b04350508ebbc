//! CUBIC: the window is a cubic function of the time since the last loss, flat near the window of that loss (RFC 9438).
//!
//! Slow start ends with a loss unless `slow-start` says otherwise, as in the papers' comparisons. Section 4.10
//! recommends HyStart++ (RFC 9406).
//!
//! ```text
//!                +--------------+  window reaches ssthresh
//!                |  SlowStart   | ------------+
//!                +--------------+             v
//!   loss event   +--------------+  repaired  +---------------------+
//!   ------------>|  AfterLoss   | ---------> | CongestionAvoidance |
//!   in any state +--------------+            +---------------------+
//!   timeout      +--------------+             ^
//!   ------------>| AfterTimeout | ------------+
//!   in any state +--------------+  window reaches ssthresh
//! ```

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::rtt::SmoothedRtt;
use crate::slow_start::SlowStart;
use crate::units::{Bytes, Time};
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};
use libm::cbrt;

crate::parameters! {
    /// Parameters.
    pub struct Cubic {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// C: the coefficient of the cubic function, in packets per second cubed
        pub c: f64,
        /// beta: share of the window that a loss leaves, 0 to 1
        pub beta: f64,
        /// Share of the window that a reaction to ECN marks leaves, 0 to 1; RFC 8511 has 0.85
        pub beta_ecn: f64,
        /// Whether a flow in decline aims below the window of its last loss
        pub fast_convergence: bool,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// Whether a loss takes from the window in proportion to what arrives (RFC 9937), not at once
        pub prr: bool,
        /// Whether a loss event is undone if all its packets arrive after all (section 4.9.2)
        pub undo: bool,
        /// Whether a timeout is undone if F-RTO (RFC 5682) finds it spurious (section 4.9.1)
        pub frto: bool,
    }
}

impl Default for Cubic {
    fn default() -> Cubic {
        Cubic {
            initial_window: 2.0,
            c: 0.4,
            beta: 0.7,
            beta_ecn: 0.7,
            fast_convergence: true,
            slow_start: SlowStart::Standard,
            prr: false,
            undo: false,
            frto: false,
        }
    }
}

impl Cubic {
    /// The constants of Ha, Rhee, Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", ACM SIGOPS OSR 42(5), 2008,
    /// where beta = 0.2 is the share given up on a loss.
    ///
    /// The paper's cubic function, its Reno-friendly growth of 3 beta/(2 - beta) and its fast convergence are those of
    /// the RFC. The RFC adds that the Reno-friendly window grows by 1 packet per round trip once it has regained what
    /// the loss took.
    pub fn of_2008() -> Cubic {
        Cubic { beta: 0.8, beta_ecn: 0.8, ..Cubic::default() }
    }

    /// With the slow start and recovery of today's RFCs: HyStart++ (section 4.10), RFC 9937 and section 4.9, from the
    /// initial window of RFC 6928.
    pub fn of_rfc_9438() -> Cubic {
        let slow_start = SlowStart::HyStartPlusPlus;
        Cubic { initial_window: 10.0, slow_start, prr: true, undo: true, frto: true, ..Cubic::default() }
    }

    /// With what Linux does in slow start and recovery. Its integer arithmetic, its pacing and its beta of 717/1024 are
    /// left out.
    pub fn of_linux() -> Cubic {
        let slow_start = SlowStart::HyStart;
        Cubic { initial_window: 10.0, slow_start, prr: true, undo: true, frto: true, ..Cubic::default() }
    }
}

impl Protocol for Cubic {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("c", self.c, 1e-6..=1e6)?;
        within("beta", self.beta, 0.01..=0.99)?;
        within("beta-ecn", self.beta_ecn, 0.01..=0.99)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let Cubic { slow_start, prr, undo, frto, .. } = *self;
        let window = Window::new(CubicRule::new(self, host.packet), self.initial_window, host.packet);
        Box::new(window.extended(Extensions { slow_start, paced: host.paced, prr, undo, frto }))
    }
}

/// CUBIC's window growth rule.
pub(crate) struct CubicRule {
    /// Of the parameters, those that the rule needs.
    c: f64,
    beta: f64,
    beta_ecn: f64,
    fast_convergence: bool,
    /// Size of a full packet, bytes.
    packet: u32,
    /// alpha_cubic: the growth per round trip with which AIMD(alpha, 1 - beta) has Reno's mean window (section 4.3).
    alpha: f64,
    state: CubicState,
    /// The state before the last loss event or timeout that may prove spurious, if there was one.
    before: Option<Box<CubicState>>,
    rtt: SmoothedRtt,
    /// When the last acknowledgment arrived.
    last_ack: Time,
}

/// What the last congestion event was, and whether congestion avoidance has begun since.
#[derive(Clone, Copy, Debug)]
enum CubicState {
    /// Nothing has been lost, and congestion avoidance has not begun.
    SlowStart,
    /// A loss event, and congestion avoidance has not begun since; or an idle period, and it has not gone on since.
    AfterLoss {
        /// W_max, packets.
        wmax: f64,
        /// cwnd_prior: the window before the loss, packets.
        prior: f64,
    },
    /// A timeout, and congestion avoidance has not begun since. There is no W_max (section 4.8).
    AfterTimeout {
        /// cwnd_prior: the window before the timeout, packets.
        prior: f64,
    },
    /// A stage of congestion avoidance.
    CongestionAvoidance(Stage),
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// t_epoch: when the stage began.
    epoch: Time,
    /// W_max, packets.
    wmax: f64,
    /// K: how long the window takes to W_max, seconds.
    k: f64,
    /// W_est: the window that Reno would have, packets.
    west: f64,
    /// cwnd_prior: the window before the last congestion event, packets; none before the first.
    prior: Option<f64>,
}

impl CubicState {
    /// W_max, packets, if a loss has left any.
    fn wmax(self) -> Option<f64> {
        match self {
            CubicState::SlowStart | CubicState::AfterTimeout { .. } => None,
            CubicState::AfterLoss { wmax, .. } => Some(wmax),
            CubicState::CongestionAvoidance(stage) => Some(stage.wmax),
        }
    }

    /// cwnd_prior, packets, if there was a congestion event.
    fn prior(self) -> Option<f64> {
        match self {
            CubicState::SlowStart => None,
            CubicState::AfterLoss { prior, .. } | CubicState::AfterTimeout { prior } => Some(prior),
            CubicState::CongestionAvoidance(stage) => stage.prior,
        }
    }
}

impl CubicRule {
    /// The rule before the first loss, for packets of `packet` bytes.
    pub(crate) fn new(cubic: &Cubic, packet: Bytes) -> CubicRule {
        CubicRule {
            c: cubic.c,
            beta: cubic.beta,
            beta_ecn: cubic.beta_ecn,
            fast_convergence: cubic.fast_convergence,
            packet: packet.0 as u32,
            alpha: 3.0 * (1.0 - cubic.beta) / (1.0 + cubic.beta),
            state: CubicState::SlowStart,
            before: None,
            rtt: SmoothedRtt::default(),
            last_ack: Time::ZERO,
        }
    }

    /// A congestion event leaves the share `beta` of a window of `w`.
    fn reduce(&mut self, w: f64, beta: f64) -> f64 {
        let declines = self.fast_convergence && self.state.wmax().is_some_and(|wmax| w < wmax);
        let wmax = if declines { w * (1.0 + beta) / 2.0 } else { w }; // section 4.7
        self.state = CubicState::AfterLoss { wmax, prior: w };
        w * beta
    }

    /// The present stage of congestion avoidance, or else one that begins at a window of `w`.
    fn stage(&self, now: Time, w: f64) -> Stage {
        if let CubicState::CongestionAvoidance(stage) = self.state {
            return stage;
        }
        // Section 4.8: without a W_max, it is the window at which the stage begins, and K is zero.
        let wmax = self.state.wmax().map_or(w, |wmax| wmax.max(w));
        let k = cbrt((wmax - w) / self.c); // section 4.2, figure 2
        Stage { epoch: now, wmax, k, west: w, prior: self.state.prior() }
    }
}

impl WindowRule for CubicRule {
    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        self.rtt.sample(ack.rtt);
        // Section 5.8: the time in which the application limits the flow does not count.
        if let CubicState::CongestionAvoidance(stage) = &mut self.state
            && ack.app_limited
        {
            stage.epoch += now.since(self.last_ack);
        }
        self.last_ack = now;
    }

    fn increase(&mut self, now: Time, w: f64, ack: &Ack) -> f64 {
        let mut stage = self.stage(now, w);
        let cubic = |t: f64| {
            let from_k = t - stage.k;
            self.c * from_k * from_k * from_k + stage.wmax // section 4.2, figure 1: W_cubic(t)
        };
        let t = now.since(stage.epoch).as_secs();
        // Section 4.3: W_est grows by alpha_cubic, and as Reno's window once it has regained what the loss took.
        let segments = ack.packets(Bytes(self.packet.into()));
        let alpha = if stage.prior.is_none_or(|prior| stage.west < prior) { self.alpha } else { 1.0 };
        let west = stage.west + alpha * segments / w;
        let growth = if cubic(t) < west {
            ((west - w) / segments).max(0.0) // section 4.3: the Reno-friendly region
        } else {
            let target = cubic(t + self.rtt.seconds().unwrap_or(0.0)).clamp(w, 1.5 * w); // section 4.2
            (target - w) / w // sections 4.4 and 4.5: the concave and the convex region
        };
        stage.west = west;
        self.state = CubicState::CongestionAvoidance(stage);
        growth
    }

    /// Section 4.6. The window stands for flight_size, as it does not grow while the application leaves a part of it
    /// unused.
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        self.reduce(w, self.beta)
    }

    /// Section 4.6: as for a loss; RFC 8511 leaves more of the window.
    fn mark(&mut self, _: Time, w: f64) -> f64 {
        self.reduce(w, self.beta_ecn)
    }

    /// Section 4.8.
    fn timeout(&mut self, now: Time, w: f64) -> f64 {
        let ssthresh = self.decrease(now, w);
        self.state = CubicState::AfterTimeout { prior: w };
        ssthresh
    }

    /// The idle period does not count in t (section 5.8): if congestion avoidance goes on, it is a new stage with the
    /// same W_max (section 4.2).
    fn on_idle(&mut self) {
        if let CubicState::CongestionAvoidance(Stage { wmax, prior, .. }) = self.state {
            self.state = prior.map_or(CubicState::SlowStart, |prior| CubicState::AfterLoss { wmax, prior });
        }
    }

    fn remember(&mut self) {
        match &mut self.before {
            Some(before) => **before = self.state,
            None => self.before = Some(Box::new(self.state)),
        }
    }

    /// Section 4.9: cwnd_prior, W_max, K, t_epoch and W_est as before.
    fn restore(&mut self) {
        if let Some(before) = &self.before {
            self.state = **before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{Loss, Phase, State};
    use crate::units::Duration;

    const PACKET: Bytes = Bytes(1000);

    /// A flow that has just lost its first packet, at a window of `w`.
    fn after_loss(cubic: Cubic, w: f64) -> Box<dyn Sender> {
        let mut sender = Cubic { initial_window: w, ..cubic }.sender(&Conditions::exact(PACKET));
        sender.on_loss(Time::ZERO, &Loss::Event);
        sender
    }

    /// Acknowledges packet by packet for `seconds` from `now` on, with round trips of `rtt` seconds. Returns the
    /// window.
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
    fn a_sender_takes_less_than_three_cache_lines() {
        assert_eq!(size_of::<Window<CubicRule>>(), 168); // a simulator has a hundred thousand
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
    fn in_the_reno_friendly_region_the_window_grows_by_alpha_and_by_one_in_the_end() {
        // Section 4.3: 3 (1 - 0.7)/(1 + 0.7) = 0.529 per round trip until 20 packets are regained, then 1; at 10 ms the
        // cubic function stays below for long.
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
    fn after_a_timeout_the_cubic_function_starts_where_slow_start_ended() {
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
    fn time_in_which_the_application_limits_the_flow_does_not_count() {
        let mut sender = after_loss(Cubic::default(), 10_000.0);
        let mut now = Time::ZERO;
        let before = run(&mut *sender, &mut now, 5.0, 0.1);
        now += Duration::from_secs(60.0);
        sender.on_ack(now, &Ack { acked: PACKET, app_limited: true, ..Ack::default() });
        let after = run(&mut *sender, &mut now, 0.1, 0.1);
        assert!((after - before) < 40.0, "{before}, then {after}"); // 0.4 x 3 x 14.6^2 x 0.1
    }

    #[test]
    fn after_an_idle_period_the_window_returns_to_w_max_along_a_new_cubic_function() {
        // From 10 packets, ten doublings; a loss at W_max = 10240 leaves ssthresh = 7168, so K = (3072/0.4)^(1/3) =
        // 19.73 s from the end of slow start on, however long the pause was.
        let mut sender = Cubic { initial_window: 10.0, ..Cubic::default() }.sender(&Conditions::exact(PACKET));
        for _ in 0..10 {
            sender.on_ack(Time::ZERO, &Ack { acked: Bytes(u64::MAX), ..Ack::default() });
        }
        sender.on_loss(Time::ZERO, &Loss::Event);
        let mut now = Time::ZERO;
        let (wmax, k) = (10_240.0, 7680f64.cbrt());
        let before = run(&mut *sender, &mut now, 10.0, 0.1);
        assert!(before > 9800.0, "{before}");
        for pause in [10.0, 1000.0] {
            now += Duration::from_secs(pause);
            sender.on_idle(now);
            while sender.state().phase == Phase::SlowStart {
                run(&mut *sender, &mut now, 0.01, 0.1);
            }
            let w = run(&mut *sender, &mut now, 10.0, 0.1);
            // As without a pause, it is up to a round trip ahead of the cubic function.
            let (now, ahead) = (0.4 * (10.0 - k).powi(3) + wmax, 0.4 * (10.11 - k).powi(3) + wmax);
            assert!(now < w && w < ahead, "{w}, not within {now} to {ahead}, after {pause} s");
        }
    }

    #[test]
    fn a_mark_leaves_what_beta_ecn_says_and_the_window_returns_along_the_cubic_function() {
        // RFC 8511's 0.85: from 8500 back to W_max = 10000 in K = (1500/0.4)^(1/3) = 15.54 s.
        let cubic = Cubic { beta_ecn: 0.85, initial_window: 10_000.0, ..Cubic::default() };
        let mut sender = cubic.sender(&Conditions::exact(PACKET));
        let mut now = Time::ZERO + Duration::from_secs(1.0);
        let rtt = Some(Duration::from_secs(0.1));
        sender.on_ack(now, &Ack { acked: PACKET, marked: PACKET, rtt, ..Ack::default() });
        assert_eq!(sender.state().window, Some(8500.0));
        let w = run(&mut *sender, &mut now, 3750f64.cbrt() + 0.1, 0.1); // after a round trip of no growth
        assert!((w - 10_000.0).abs() < 1.0, "{w}");
    }

    #[test]
    fn a_spurious_timeout_leaves_window_and_cubic_function_as_they_were() {
        // Section 4.9.1: the window goes on along the function that it followed before, whose epoch has not moved.
        let mut sender = after_loss(Cubic { frto: true, ..Cubic::default() }, 10_000.0);
        let mut now = Time::ZERO;
        let before = run(&mut *sender, &mut now, 5.0, 0.1);
        sender.on_loss(now, &Loss::Timeout);
        now += Duration::from_secs(1.0);
        sender.on_loss(now, &Loss::Timeout); // nothing was acknowledged between the two
        assert_eq!(sender.state().window, Some(1.0));
        let ack = Ack { acked: PACKET, rtt: Some(Duration::from_secs(0.1)), ..Ack::default() };
        sender.on_ack(now, &ack); // the first segment, after which F-RTO sends new data
        sender.on_ack(now, &Ack { spurious_timeout: true, ..ack });
        let State { window, phase, .. } = sender.state();
        assert!(window.unwrap() >= before && phase == Phase::CongestionAvoidance, "{window:?} {before}");
        let w = run(&mut *sender, &mut now, 10.0, 0.1);
        let k = 7500f64.cbrt();
        let (at, ahead) = (0.4 * (16.0 - k).powi(3) + 1e4, 0.4 * (16.1 - k).powi(3) + 1e4);
        assert!(at - 1.0 < w && w < ahead + 1.0, "{w}, not within {at} to {ahead}");
    }

    #[test]
    fn a_timeout_that_is_not_told_to_be_spurious_counts() {
        let mut sender = after_loss(Cubic { frto: true, ..Cubic::default() }, 1000.0); // 700
        let mut now = Time::ZERO;
        sender.on_ack(now, &Ack { acked: PACKET, ..Ack::default() });
        sender.on_loss(now, &Loss::Timeout);
        assert!((sender.slow_start_threshold().unwrap() - 490.0).abs() < 1.0);
        let w = run(&mut *sender, &mut now, 0.3, 0.1);
        assert!(w < 30.0, "{w}");
    }

    #[test]
    fn the_cubic_of_2008_gives_up_a_fifth_of_the_window() {
        let sender = after_loss(Cubic::of_2008(), 1000.0);
        assert_eq!(sender.state().window, Some(800.0));
    }
}
