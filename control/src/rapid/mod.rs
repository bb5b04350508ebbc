//! RAPID, as published: a sender that probes with every packet. It sends p-streams, whose rates rise around the wanted
//! average rate. The receiver finds the rate from which on packets queue, and the average rate follows this estimate.
//!
//! There are two versions: RAPID-2009 (Konda and Kaur, "RAPID: Shrinking the Congestion-control Timescale", INFOCOM
//! 2009) and PACKET-SCALE-2017 (Lovewell et al., "Packet-Scale Congestion Control Paradigm", IEEE/ACM ToN 25(1), 2017).
//! They differ in parameters, in the layout of the stream and in slow start, but not in the sender's state machine.
//! What the papers leave open is decided in `docs/rapid.md`.
//!
//! | PACKET-SCALE-2017 | RAPID-2009 | what | where |
//! |---|---|---|---|
//! | equation 1 | 1, 5 | the average rate, for packets of equal size | [`Stream::new`](crate::pstream::Stream::new) |
//! | footnote 10 | footnote 5 | a shorter stream if there is too little data | [`RapidSender`], `Stream::new` |
//! | footnote 11 | footnote 6 | the gap before a stream | [`Outgoing`](crate::pstream::Outgoing) (not after slow start) |
//! | 2, 3 | 2, 3 | which packets of a stream queue | [`onset`](crate::pstream::onset) |
//! | footnote 13 | footnote 7 | the estimate if none or all queue | the same |
//! | 4 | 4 | rates that rise by the spread factor | [`Stream`](crate::pstream::Stream) |
//! | 5 | 6 | an increase is adopted within tau | [`Filter`] |
//! | 6 | | a decrease is adopted within eta streams | [`Filter`] |
//! | V-A3, table I | III-A5, table IV | slow start | [`SlowStart`], [`RapidSender`] |
//! | IV-C | III-A6 | losses | [`RapidSender`] |
//! | VI-A, VI-B | | noise | [`pstream`](crate::pstream): bunches, regression |
//! | VI-C | | paths with a small bandwidth-delay product | [`hybrid`](crate::hybrid) |
//!
//! [`pstream`](crate::pstream) says how indices in the code compare with those in the papers.

mod filter;
mod receiver;
mod sender;

pub use filter::Filter;
pub use receiver::RapidReceiver;
pub use sender::{RapidSender, Version};

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::pstream::{Analysis, Estimator, Layout, SMOOTHING, SlowStart, check_range, check_resolution};
use crate::roles::{Conditions, Receiver, Sender};
use crate::setting::Setting;
use crate::units::{Duration, Rate};
use alloc::boxed::Box;
use alloc::string::String;

crate::parameters! {
    /// Parameters of both versions.
    #[cfg_attr(feature = "registry", schemars(inline))]
    pub struct Rapid {
        /// Packets in a p-stream (N)
        pub stream: u16,
        /// Spread factor (m): the rate of a packet over that of the one before it
        pub spread: f64,
        /// Time over which an increase of the available bandwidth is adopted
        pub tau: Duration,
        /// Number of p-streams over which a decrease is adopted
        pub eta: f64,
        /// Factor on the average rate after a loss
        pub beta: f64,
        /// Mean rate of the first stream (r_init)
        pub initial_rate: Rate,
        /// How the receiver draws an estimate from a stream; `auto`: by `onset` on a host whose times are exact, by
        /// `regression` on others
        pub estimator: Setting<Estimator>,
        /// Largest difference of one-way delays that count as equal; `auto`: 50 ps or the timing error of the
        /// receiver's host, whichever is larger
        pub resolution: Setting<Duration>,
        /// Packets that arrive at most this far apart, after a gap more than eight times as long, were held back by a
        /// host or network card, and the analysis smooths their arrivals; zero: it does not
        pub smoothing: Duration,
    }
}

/// Parameters of the version of 2009, with defaults from its sections III-A and III-B.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[cfg_attr(feature = "registry", derive(schemars::JsonSchema))]
pub struct Rapid2009(pub Rapid);

impl Default for Rapid {
    /// PACKET-SCALE-2017, table I.
    fn default() -> Rapid {
        Rapid {
            stream: 90,
            spread: 1.039,
            tau: Duration::from_millis(250),
            eta: 1.5,
            beta: 0.5,
            initial_rate: Rate::from_mbps(1.0),
            estimator: Setting::Auto,
            resolution: Setting::Auto,
            smoothing: SMOOTHING,
        }
    }
}

impl Default for Rapid2009 {
    fn default() -> Rapid2009 {
        Rapid2009(Rapid {
            stream: 30,
            spread: 1.07,
            tau: Duration::from_millis(200),
            eta: 1.0,
            initial_rate: Rate::from_mbps(0.1),
            ..Rapid::default()
        })
    }
}

impl Rapid {
    /// The version of 2017 with these parameters.
    pub(crate) fn version(&self) -> Version {
        Version {
            len: self.stream,
            spread: self.spread,
            layout: Layout::AllRising,
            slow_start: SlowStart::PACKET_SCALE_2017,
            initial_rate: self.initial_rate,
            beta: self.beta,
            filter: Filter { tau: self.tau, eta: self.eta },
            afresh: true,
        }
    }

    /// The estimator that was given, or the one that suits the host: if packets are late by a quarter of a gap without
    /// being held back in bunches, an onset is lost in the noise, but a line through the whole stream is not.
    fn estimator_on(&self, host: &Conditions) -> Estimator {
        self.estimator.or(if host.is_exact() { Estimator::Onset } else { Estimator::Regression })
    }
}

impl Protocol for Rapid {
    fn check(&self) -> Result<(), String> {
        within("stream", self.stream as f64, 3.0..=10_000.0)?;
        within("spread", self.spread, 1.0001..=4.0)?;
        check_range(self.stream, self.spread)?;
        check_resolution(self.resolution)?;
        within("smoothing", self.smoothing.as_secs(), 0.0..=0.1)?;
        within("tau", self.tau.as_secs(), 1e-6..=1e6)?;
        within("eta", self.eta, 1.0..=1e6)?;
        within("beta", self.beta, 0.01..=1.0)?;
        within("initial-rate", self.initial_rate.as_bps(), 1e3..=1e15)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(RapidSender::new(self.version(), host))
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        let longest = usize::from(self.stream.max(SlowStart::PACKET_SCALE_2017.longest));
        let analysis = Analysis::on(host, self.estimator_on(host), self.resolution, longest);
        Some(Box::new(RapidReceiver::new(analysis, self.smoothing, longest)))
    }
}

impl Protocol for Rapid2009 {
    fn check(&self) -> Result<(), String> {
        self.0.check()
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let slow_start = SlowStart::RAPID_2009;
        let version = Version { layout: Layout::AverageFirst, slow_start, afresh: false, ..self.0.version() };
        Box::new(RapidSender::new(version, host))
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        self.0.receiver(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn an_estimator_that_is_left_to_the_host_suits_it_and_one_that_is_given_counts() {
        let chosen = |timing, estimator| {
            let host = Conditions { timing_error: Duration(timing), ..Conditions::exact(Bytes(1000)) };
            Rapid { estimator, ..Rapid::default() }.estimator_on(&host)
        };
        let given = Setting::Given(Estimator::PathChirp);
        assert_eq!([0, 7_000].map(|timing| chosen(timing, Setting::Auto)), [Estimator::Onset, Estimator::Regression]);
        assert_eq!([0, 7_000].map(|timing| chosen(timing, given)), [Estimator::PathChirp; 2]);
    }
}
