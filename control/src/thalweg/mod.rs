//! `thalweg`, the project's own protocol after RAPID of 2017 ([`rapid`](crate::rapid)): p-streams around an average
//! rate, and a receiver that estimates the available bandwidth from them.
//!
//! Flows should not oscillate or fill the buffer, whether there are two of them or a thousand. A single flow should be
//! as fast as with RAPID, even when there are transmission errors. To that end `thalweg` differs from RAPID in these
//! parts:
//! - the streams of slow flows are shorter, with the same range of rates, so that they hear of congestion as soon;
//! - [`RateRule`]: the average rate follows the estimates by steps that [`Climb`] bounds, and is reduced while there is
//!   a [`StandingQueue`];
//! - [`ThalwegReceiver`]: a decrease goes by how much the queue grows, and is a share of the flow's rate;
//! - [`LossClassifier`]: transmission errors do not lower the rate, and the receiver tells them from the losses of a
//!   full queue;
//! - [`ErrorShare`]: losses that half of the rate does not end are errors, too, unless a queue stands meanwhile;
//! - where a buffer is so short that losses are the only signal of congestion, the average rate follows their share;
//! - [`Estimator::Regression`]: a line through all delays of a stream finds the onset of congestion, also where
//!   packets of other traffic or a host's timing errors move single delays;
//! - the receiver measures the noise in the delays of a path, and delays that differ by no more count as equal;
//! - [`ThalwegSender`]: after slow start, its rate goes up a ramp to what that has found; where much is lost, it follows
//!   the rate at which packets arrive.

mod arrivals;
mod classifier;
mod climb;
mod delivery;
mod error_share;
mod lowest;
mod overload;
mod rate_rule;
mod receiver;
mod roughness;
mod sender;
mod standing_queue;
mod unexplained;
mod wander;

pub use classifier::LossClassifier;
pub use climb::{Climb, ClimbParameters, StreamStart};
pub use error_share::ErrorShare;
pub use rate_rule::{RateRule, RateRuleParameters};
pub use receiver::ThalwegReceiver;
use sender::SLOW_START;
pub use sender::{Parts, ThalwegSender};
pub use standing_queue::StandingQueue;

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::pstream::{Analysis, Estimator, SMOOTHING, check_range, check_resolution};
use crate::roles::{Conditions, Receiver, Sender};
use crate::setting::Setting;
use crate::units::{Bytes, Duration, Rate};
use alloc::boxed::Box;
use alloc::string::String;

crate::parameters! {
    /// Parameters.
    pub struct Thalweg {
        /// Packets in a p-stream (N)
        pub stream: u16,
        /// Spread factor (m): the rate of a packet over that of the one before it, in a stream of N packets. Shorter
        /// streams have the same range of rates
        pub spread: f64,
        /// Time over which an increase of the available bandwidth is adopted. A decrease is adopted over a quarter of
        /// it, a standing queue is drained over half of it, and a p-stream lasts a quarter of it at most, unless it
        /// would then have fewer than eight packets
        pub tau: Duration,
        /// Least number of full p-streams over which a decrease is adopted
        pub eta: f64,
        /// A decrease aims at r (1 - gain x), where r is the average rate and x the share by which the path is
        /// overloaded, which is by how much the queue grows in a second; zero: at the estimate
        pub gain: f64,
        /// How long feedback takes, a round trip and a p-stream, where tau is as it is here. Where feedback is faster,
        /// tau is shorter in proportion
        pub slow_feedback: Duration,
        /// Delay by a standing queue up to which the queue does not count
        pub tolerance: Duration,
        /// Factor on the average rate after a loss
        pub beta: f64,
        /// Losses of up to this share of packets, at times when the queue is short, count as transmission errors: they
        /// are repaired, and do not lower the rate
        pub errors: f64,
        /// The same for losses that half of the rate does not end, up to this share; if that is not more than `errors`,
        /// such losses count as congestion
        pub most_errors: f64,
        /// Where packets are lost before a queue shows that the path is overloaded: which share of its rate a flow
        /// gives up within tau, over the share of packets that is lost beyond what errors explain; zero: a loss that
        /// errors do not explain is answered as behind any buffer
        pub loss_gain: f64,
        /// Rate of the first packets. If packets have more than 1500 bytes, it is higher in proportion to their size, as
        /// are `step-floor` and `young-step-floor`
        pub initial_rate: Rate,
        /// Largest value of kappa, with which it starts: an increase aims at most at r + kappa r + sqrt(floor r), where
        /// r is the average rate
        pub highest_step: f64,
        /// Least value of kappa
        pub lowest_step: f64,
        /// By which share of the average rate sqrt(floor r) lets a flow climb at most in a round trip and a p-stream,
        /// or within tau if that is shorter
        pub climb_in_round_trip: f64,
        /// The floor in sqrt(floor r)
        pub step_floor: Rate,
        /// The floor of a flow that begins. It falls to `step-floor` within a hundred times tau
        pub young_step_floor: Rate,
        /// An estimate below this share of the average rate is a collapse
        pub collapse: f64,
        /// Factor on kappa upon a collapse, once per round trip
        pub back_off: f64,
        /// Growth of kappa per tau while there is no collapse, as a share of kappa
        pub regrow: f64,
        /// How the receiver draws an estimate from a stream
        pub estimator: Estimator,
        /// Largest difference of one-way delays that count as equal; `auto`: the noise that the receiver measures, up
        /// to 200 us, but at least 50 ps and the timing error of its host
        pub resolution: Setting<Duration>,
        /// Packets that arrive at most this far apart, after a gap more than eight times as long, were held back by a
        /// host or network card, and the analysis smooths their arrivals; zero: it does not
        pub smoothing: Duration,
    }
}

impl Default for Thalweg {
    fn default() -> Thalweg {
        Thalweg {
            stream: 60,
            spread: 1.02,
            tau: Duration::from_millis(250),
            eta: 2.0,
            gain: 25.0,
            slow_feedback: Duration::from_millis(100),
            tolerance: Duration::from_millis(1),
            beta: 0.8,
            errors: 0.02,
            // RFC 9743, section 5.1.1, asks for a low rate where much is lost. Behind a policer, half of one flow's rate
            // does not end the losses of many, no queue tells them from errors, and all flows lose as much as this
            // allows.
            most_errors: 0.08,
            loss_gain: 10.0,
            initial_rate: Rate::from_mbps(1.0),
            highest_step: 0.3,
            lowest_step: 0.005,
            climb_in_round_trip: 0.1,
            step_floor: Rate::from_mbps(0.001),
            young_step_floor: Rate::from_mbps(0.032),
            collapse: 0.8,
            back_off: 0.5,
            regrow: 0.02,
            estimator: Estimator::Regression,
            resolution: Setting::Auto,
            smoothing: SMOOTHING,
        }
    }
}

/// The rates among the parameters are for packets of up to this size, that of Ethernet. Streams and queues are of
/// packets. So with larger ones, what a flow sends at first and adds to its rate are as many packets in a second.
const PACKET: Bytes = Bytes(1500);

/// A p-stream lasts for this share of tau at most.
const LONGEST_STREAM: f64 = 0.25;

impl Thalweg {
    fn error_share(&self) -> ErrorShare {
        ErrorShare::new(self.errors, self.most_errors)
    }

    /// The classifier that tells which losses are transmission errors.
    pub(crate) fn classifier(&self) -> LossClassifier {
        let classifier = LossClassifier::new(self.error_share());
        if self.loss_gain > 0.0 { classifier.with_short_buffers() } else { classifier }
    }

    /// The sender with these parameters.
    pub(crate) fn thalweg_sender(&self, host: &Conditions) -> ThalwegSender {
        let of_packets = |rate: Rate| rate * (host.packet.0 as f64 / PACKET.0 as f64).max(1.0);
        let climb = ClimbParameters {
            tau: self.tau,
            kappa: (self.lowest_step, self.highest_step),
            floor: of_packets(self.step_floor),
            young_floor: of_packets(self.young_step_floor),
            climb_in_round_trip: self.climb_in_round_trip,
            collapse: self.collapse,
            back_off: self.back_off,
            regrow: self.regrow,
            slow_feedback: self.slow_feedback,
        };
        let rule = RateRuleParameters { eta: self.eta, tolerance: self.tolerance, loss_gain: self.loss_gain };
        let parts = Parts {
            len: self.stream,
            longest_stream: self.tau.scale(LONGEST_STREAM),
            spread: self.spread,
            initial_rate: of_packets(self.initial_rate),
            beta: self.beta,
            rule: RateRule::new(rule, climb),
            classifier: self.classifier(),
        };
        ThalwegSender::new(parts, host)
    }
}

impl Protocol for Thalweg {
    fn check(&self) -> Result<(), String> {
        within("stream", self.stream as f64, 3.0..=10_000.0)?;
        within("spread", self.spread, 1.0001..=4.0)?;
        check_range(self.stream, self.spread)?;
        check_resolution(self.resolution)?;
        within("smoothing", self.smoothing.as_secs(), 0.0..=0.1)?;
        within("tau", self.tau.as_secs(), 1e-6..=1e6)?;
        within("gain", self.gain, 0.0..=1e6)?;
        within("young-step-floor", self.young_step_floor.as_bps(), 0.0..=1e15)?;
        within("eta", self.eta, 1.0..=1e6)?;
        within("slow-feedback", self.slow_feedback.as_secs(), 1e-6..=1e6)?;
        within("tolerance", self.tolerance.as_secs(), 0.0..=10.0)?;
        within("step-floor", self.step_floor.as_bps(), 0.0..=1e15)?;
        within("beta", self.beta, 0.01..=1.0)?;
        within("errors", self.errors, 0.0..=1.0)?;
        within("most-errors", self.most_errors, 0.0..=1.0)?;
        within("loss-gain", self.loss_gain, 0.0..=1e6)?;
        within("initial-rate", self.initial_rate.as_bps(), 1e3..=1e15)?;
        within("lowest-step", self.lowest_step, 1e-6..=1e6)?;
        within("climb-in-round-trip", self.climb_in_round_trip, 0.0..=10.0)?;
        within("highest-step", self.highest_step, self.lowest_step..=1e6)?;
        within("collapse", self.collapse, 0.0..=1.0)?;
        within("back-off", self.back_off, 0.01..=1.0)?;
        within("regrow", self.regrow, 0.0..=100.0)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(self.thalweg_sender(host))
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        let longest = usize::from(self.stream.max(SLOW_START.longest));
        let analysis = Analysis::on(host, self.estimator, self.resolution, longest);
        let receiver = ThalwegReceiver::new(analysis, self.smoothing, self.gain, self.error_share(), longest);
        Some(Box::new(match self.resolution {
            Setting::Auto => receiver.measuring_noise(longest),
            Setting::Given(_) => receiver,
        }))
    }
}
