//! RAPID only where it pays (PACKET-SCALE-2017, section VI-C): on a path with a small bandwidth-delay product a p-stream lasts
//! longer than a round trip, and a window protocol does better. So that one begins. When its window shows that the path holds
//! more than `threshold`, RAPID takes over; when RAPID's estimates show that it holds less, the window protocol does.
//!
//! **Decided**, where the paper is silent:
//! - What counts on either side is the same bandwidth-delay product at the least round-trip time seen. The paper compares the whole
//!   window; but loss-based protocols fill the buffer, and a small path with a large one would be switched up and down for
//!   ever. Its "th_AB = 200 Mbps x 100 ms / r_avg" is no bandwidth; divided by the RTT it is.
//! - Equal thresholds are almost, but not quite, a hysteresis: the window protocol has to *carry* more than `threshold` per round
//!   trip, and RAPID gives up only after `streams` estimates in a row below it. But RAPID's estimates settle 3 % below the truth,
//!   so a path just above the threshold would see a switch each 0.2 s. Once given up, RAPID takes over only [`MARGIN`] above it.
//! - RAPID starts at the rate of the window, cwnd/RTT, without slow start: its first streams reach from 0.29 to 8.6 times that.
//! - The window protocol resumes with what RAPID had in flight, r_avg RTT, in slow start up to `threshold`. When the available
//!   bandwidth falls below a stream's lowest rate, the estimates are half of that, and eight of them come within milliseconds: r_avg
//!   may be far below the truth, and CUBIC without a memory of losses takes 10 s from 0.7 to 1 of 200 Mbps x 50 ms. It does not grow
//!   for packets that RAPID sent: after a loss, twice r_avg RTT of them are still in flight, and would treble it.
//! - Transmission errors keep a window small on however large a path. Where the packet-scale protocol tells them from congestion
//!   (`thalweg` does, RAPID does not), the threshold is no more than what a window can keep at that many errors, as that may not
//!   be all there is. If there proves to be less, it is twice as much the next time. With more errors than it puts up with, the
//!   window protocol is left in charge.
//! - Nothing is switched while a loss is being repaired. A timeout in RAPID's time makes the transfer begin afresh, as section IV-C
//!   has it: with the window protocol.

use super::errors::{Errors, Kept};
use super::{Estimator, Machine, Rapid, check_resolution};
use crate::bic::{self, Bic};
use crate::cubic::{self, Cubic};
use crate::highspeed::{self, HighSpeed};
use crate::registry::Protocol;
use crate::reno::{self, Reno};
use crate::roles::{Ack, Conditions, Loss, Next, Pipe, Receiver, Report, Sender, Stamp, State};
use crate::setting::Setting;
use crate::thalweg::Thalweg;
use crate::units::{Bytes, Duration, Rate, Time};
use crate::window::{Law, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RAPID takes over again above the threshold times this: well beyond what its estimates are off by.
const MARGIN: f64 = 1.1;

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hybrid {
    /// The window protocol, with its source's parameters
    pub window: Fallback,
    /// RAPID takes over when the path holds more than this per round trip (th_cwin; also th_AB, times the RTT); thalweg also when it holds more than errors
    /// let the window protocol keep
    pub threshold: Bytes,
    /// The window protocol takes over after so many streams in a row whose estimates are below that
    pub streams: u32,
    /// What takes over, with its source's parameters but for those that follow
    pub packet_scale: PacketScale,
    /// How the receiver draws an estimate from a stream; `auto`: as `packet-scale` does
    pub estimator: Setting<Estimator>,
    /// One-way delays that differ by no more count as equal; `auto`: 50 ps or, if that is more, how exact the receiver's host is
    pub resolution: Setting<Duration>,
}

/// The packet-scale protocols to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PacketScale {
    /// PACKET-SCALE-2017.
    Rapid,
    /// Our own.
    Thalweg,
}

/// The window protocols to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// RFC 9438.
    Cubic,
    /// BIC-2004.
    Bic,
    /// RFC 3649.
    HighSpeed,
    /// RFC 5681.
    Reno,
}

impl Default for Hybrid {
    /// Section VI-C: 200 Mbps x 100 ms.
    fn default() -> Hybrid {
        Hybrid {
            window: Fallback::Cubic,
            threshold: Bytes(2_500_000),
            streams: 8,
            packet_scale: PacketScale::Rapid,
            estimator: Setting::Auto,
            resolution: Setting::Auto,
        }
    }
}

impl Hybrid {
    /// Our own.
    pub fn of_thalweg() -> Hybrid {
        Hybrid { packet_scale: PacketScale::Thalweg, ..Hybrid::default() }
    }

    fn machine(&self, host: &Conditions) -> Machine {
        match self.packet_scale {
            PacketScale::Rapid => Rapid::default().machine_of_2017(host),
            PacketScale::Thalweg => Thalweg::default().machine(host),
        }
    }

    fn errors(&self) -> Errors {
        match self.packet_scale {
            PacketScale::Rapid => Errors::up_to(0.0),
            PacketScale::Thalweg => Errors::up_to(Thalweg::default().errors),
        }
    }
}

impl Protocol for Hybrid {
    fn check(&self) -> Result<(), String> {
        within("threshold, in bytes,", self.threshold.0 as f64, 1.0..=1e15)?;
        within("streams", self.streams as f64, 1.0..=1e6)?;
        check_resolution(self.resolution)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Switch {
            hybrid: self.clone(),
            packet: host.packet,
            window: Inner::new(self.window, Reno::default().initial_window, f64::INFINITY, host.packet),
            rapid: self.machine(host),
            probing: false,
            errors: self.errors(),
            kept: Kept::default(),
            margin: 1.0,
            low: 0,
            resumed: Time::ZERO,
            last: None,
            rtt: Duration::MAX,
            least_rtt: Duration::MAX,
        })
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        let Hybrid { estimator, resolution, .. } = *self;
        match self.packet_scale {
            PacketScale::Rapid => Rapid { estimator, resolution, ..Rapid::default() }.receiver(host),
            PacketScale::Thalweg => Thalweg { estimator, resolution, ..Thalweg::default() }.receiver(host),
        }
    }
}

/// A window protocol.
enum Inner {
    Cubic(Window<cubic::Curve>),
    Bic(Window<bic::Search>),
    HighSpeed(Window<highspeed::Response>),
    Reno(Window<reno::Halve>),
}

impl Inner {
    /// In slow start from `initial` to `ssthresh` packets.
    fn new(which: Fallback, initial: f64, ssthresh: f64, packet: Bytes) -> Inner {
        fn window<L: Law>(law: L, initial: f64, ssthresh: f64, packet: Bytes) -> Window<L> {
            Window::new(law, initial, packet).slow_start_to(ssthresh)
        }
        match which {
            Fallback::Cubic => {
                Inner::Cubic(window(cubic::Curve::new(&Cubic::default(), packet), initial, ssthresh, packet))
            }
            Fallback::Bic => Inner::Bic(window(bic::Search::new(&Bic::default()), initial, ssthresh, packet)),
            Fallback::HighSpeed => {
                Inner::HighSpeed(window(highspeed::Response::new(&HighSpeed::default()), initial, ssthresh, packet))
            }
            Fallback::Reno => Inner::Reno(window(reno::Halve, initial, ssthresh, packet)),
        }
    }

    fn sender(&mut self) -> &mut dyn Sender {
        match self {
            Inner::Cubic(window) => window,
            Inner::Bic(window) => window,
            Inner::HighSpeed(window) => window,
            Inner::Reno(window) => window,
        }
    }

    fn state(&self) -> State {
        match self {
            Inner::Cubic(window) => window.state(),
            Inner::Bic(window) => window.state(),
            Inner::HighSpeed(window) => window.state(),
            Inner::Reno(window) => window.state(),
        }
    }
}

/// The sender: both, and which of them is in charge.
struct Switch {
    hybrid: Hybrid,
    packet: Bytes,
    window: Inner,
    rapid: Machine,
    /// RAPID is in charge.
    probing: bool,
    /// With so many times the threshold in the path, it takes over.
    margin: f64,
    /// Which losses are errors, and what window they leave.
    errors: Errors,
    kept: Kept,
    /// Estimates in a row below the threshold, and the last stream seen of them.
    low: u32,
    last: Option<u32>,
    /// When the window protocol was last put in charge.
    resumed: Time,
    rtt: Duration,
    least_rtt: Duration,
}

impl Switch {
    fn in_charge(&mut self) -> &mut dyn Sender {
        if self.probing { &mut self.rapid } else { self.window.sender() }
    }

    /// The estimate of a stream of which nothing was heard yet.
    fn news(&mut self, report: Option<Report>) -> Option<Rate> {
        let Some(Report::Available { stream, rate }) = report else { return None };
        (self.last.replace(stream) != Some(stream)).then_some(Rate::from_bps(rate as f64))
    }

    /// What a path holds, in bytes, that is RAPID's.
    fn threshold(&self) -> f64 {
        (self.hybrid.threshold.0 as f64).min(self.kept.window() * self.packet.0 as f64)
    }

    /// Whether that is less because of errors.
    fn is_for_errors(&self) -> bool {
        self.threshold() < self.hybrid.threshold.0 as f64
    }

    /// Section VI-C: "once the congestion-window exceeds a threshold, the transfer switches to RAPID".
    fn consider_rapid(&mut self, now: Time) {
        let Some(w) = self.window.state().window else { return };
        let held = w * self.packet.0 as f64;
        // What of that is in the path, and not waiting.
        let is_enough = held * self.least_rtt.as_secs() > self.margin * self.threshold() * self.rtt.as_secs();
        if is_enough && !(self.is_for_errors() && self.errors.are_many()) {
            self.rapid.take_over(now, Bytes(held as u64).over(self.rtt), self.rtt, &self.errors);
            self.probing = true;
            self.low = 0;
        }
    }

    /// The same, downwards: "when the estimation consistently returns estimates lower than th_AB, RAPID is turned off".
    fn consider_window(&mut self, now: Time, estimate: Rate) {
        let th_ab = Bytes(self.threshold() as u64).over(self.least_rtt);
        self.low = if estimate < th_ab { self.low + 1 } else { 0 };
        if self.errors.are_too_many() {
            self.resume_window(now);
        } else if self.low >= self.hybrid.streams {
            self.margin = MARGIN;
            self.resume_window(now);
            if self.is_for_errors() {
                self.kept.double();
            }
        }
    }

    fn resume_window(&mut self, now: Time) {
        let w = self.rapid.average().as_bps() * self.rtt.as_secs() / self.packet.as_bits();
        let ssthresh = self.threshold() / self.packet.0 as f64;
        self.window = Inner::new(self.hybrid.window, w.max(1.0), ssthresh, self.packet);
        self.probing = false;
        self.resumed = now;
    }

    /// The acknowledgment as the window protocol is to see it: what it did not send is no reason to grow.
    fn for_window(&self, now: Time, ack: &Ack) -> Ack {
        let sent_before = ack.rtt.is_some_and(|rtt| now - rtt < self.resumed);
        Ack { app_limited: ack.app_limited || sent_before, ..*ack }
    }
}

impl Sender for Switch {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.in_charge().next(now, pipe)
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.in_charge().on_send(now, size, pipe)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.least_rtt = self.least_rtt.min(rtt);
        }
        self.errors.on_ack(ack, self.packet);
        self.kept.on_ack(ack, self.packet);
        if self.probing {
            self.rapid.on_ack(now, ack);
        } else {
            let ack = self.for_window(now, ack);
            self.window.sender().on_ack(now, &ack);
        }
        let estimate = self.news(ack.report);
        if ack.recovery || self.rtt == Duration::MAX {
            return;
        }
        match (self.probing, estimate) {
            (false, _) => self.consider_rapid(now),
            (true, Some(estimate)) => self.consider_window(now, estimate),
            (true, None) => {}
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        if *loss == Loss::Event && self.errors.explain() {
            self.kept.on_error();
        }
        if self.probing && *loss == Loss::Timeout {
            self.resume_window(now);
        }
        self.in_charge().on_loss(now, loss);
    }

    fn state(&self) -> State {
        if self.probing { self.rapid.state() } else { self.window.state() }
    }

    fn available(&self) -> Option<Rate> {
        self.rapid.available().filter(|_| self.probing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::Phase;

    const PACKET: Bytes = Bytes(1000);
    const RTT: Duration = Duration::from_millis(100);

    fn ack(acked: u64, rtt: Duration) -> Ack {
        Ack { acked: Bytes(acked * PACKET.0), rtt: Some(rtt), ..Ack::default() }
    }

    /// After slow start to a window of 2560 packets, of which the threshold is 2500.
    fn grown(rtt: Duration) -> Box<dyn Sender> {
        let mut sender = Hybrid::default().sender(&Conditions::exact(PACKET));
        sender.on_ack(Time::ZERO, &ack(1, RTT));
        for w in [3, 6, 12, 24, 48, 96, 192, 384, 768, 1024] {
            sender.on_ack(Time::ZERO, &ack(w, rtt));
        }
        sender
    }

    fn estimate(stream: u32, mbps: f64) -> Ack {
        Ack { report: Some(Report::Available { stream, rate: mbps as f32 * 1e6 }), ..ack(1, RTT) }
    }

    #[test]
    fn rapid_takes_over_at_the_rate_of_the_window() {
        let state = grown(RTT).state();
        assert_eq!((state.phase, state.window), (Phase::Probing, None));
        assert_eq!(state.rate.unwrap().as_mbps().round(), 205.0); // 2560 packets of 1000 B in 100 ms
        let queued = grown(RTT.scale(1.1)).state();
        assert_eq!(queued.phase, Phase::SlowStart, "a tenth of that window waits in a queue");
    }

    #[test]
    fn eight_low_estimates_in_a_row_bring_the_window_protocol_back() {
        let mut sender = grown(RTT);
        let estimates = [150.0; 7].into_iter().chain([300.0]).chain([150.0; 8]);
        for (stream, mbps) in (1..).zip(estimates) {
            assert_eq!(sender.state().phase, Phase::Probing, "before the estimate of stream {stream}");
            sender.on_ack(Time::ZERO, &estimate(stream, mbps));
            sender.on_ack(Time::ZERO, &estimate(stream, mbps)); // reports come again with later acknowledgments
        }
        let state = sender.state();
        assert_eq!(state.phase, Phase::CongestionAvoidance);
        assert_eq!(state.window.unwrap().round(), 2560.0, "what RAPID had in flight: it sent no stream since");
    }

    #[test]
    fn the_window_does_not_grow_for_what_rapid_sent() {
        let mut sender = grown(RTT);
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        (1..=8).for_each(|stream| sender.on_ack(ms(1000), &estimate(stream, 20.0)));
        let resumed = sender.state().window;
        assert!(resumed.is_some());
        sender.on_ack(ms(1050), &ack(1, RTT));
        assert_eq!(sender.state().window, resumed, "sent at 950 ms");
        sender.on_ack(ms(1101), &ack(1, RTT));
        assert!(sender.state().window > resumed, "sent at 1001 ms");
    }

    #[test]
    fn after_a_timeout_it_begins_afresh() {
        let mut sender = grown(RTT);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(sender.state().window, Some(1.0));
    }
}
