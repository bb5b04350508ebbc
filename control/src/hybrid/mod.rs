//! A packet-scale protocol only on paths with a large bandwidth-delay product (PACKET-SCALE-2017, section VI-C). On a
//! path with a small bandwidth-delay product a p-stream lasts longer than a round trip, and a window protocol does
//! better. So a window protocol begins. When its window shows that the path holds more than a threshold, RAPID takes
//! over; when RAPID's estimates show that it holds less, the window protocol resumes. `thalweg` may stand in RAPID's
//! place.
//!
//! **Decided**, where the paper is silent:
//! - Both directions compare the same quantity with the threshold: the bandwidth-delay product at the least round-trip
//!   time seen. The paper compares the whole window; but loss-based protocols fill the buffer, and a small path with a
//!   large one would be switched up and down for ever. Its "th_AB = 200 Mbps x 100 ms / r_avg" is no bandwidth; divided
//!   by the RTT it is.
//! - With equal thresholds there is little hysteresis: the window protocol has to *carry* more than the threshold per
//!   round trip, and RAPID gives up only after `streams` estimates in a row below the threshold. But RAPID's estimates
//!   settle 3 % below the truth, so that a path just above the threshold would see a switch every 0.2 s. Once RAPID has
//!   given up, it takes over again only 10 % above the threshold, unless errors make the threshold less.
//! - The packet-scale protocol starts at the rate of the window, cwnd/RTT, without slow start. The rates of RAPID's
//!   first streams range from 0.29 to 8.6 times that rate; those of `thalweg` span less.
//! - The window protocol resumes with what RAPID had in flight, r_avg RTT, in slow start up to the threshold. When the
//!   available bandwidth falls below a stream's lowest rate, the estimates are half of that, and eight of them come
//!   within milliseconds: r_avg may be far below the truth, and CUBIC without a memory of losses takes 10 s from 0.7 to
//!   1 of 200 Mbps x 50 ms. The window does not grow for packets that RAPID sent: after a loss, twice r_avg RTT of them
//!   are still in flight, and would make the window three times as large.
//! - Transmission errors keep a window small on however large a path. Where the packet-scale protocol tells them from
//!   congestion (`thalweg` does, RAPID does not), the threshold is no more than the window that this many errors allow,
//!   once there were three, as the path may hold more. With more errors than the packet-scale protocol can explain, the
//!   window protocol stays in charge.
//! - A host that is too busy to send bursts when they are due, or late by a quantum in the mean, measures itself and
//!   not the path: the window protocol resumes, for 10 s at first and twice as long each further time.
//! - `thalweg` gives way to queues, which other protocols fill. It judges itself over periods of 16 round trips, not
//!   by single streams: the window protocol resumes if the flow gets less than the threshold, or less than the window
//!   protocol carried while a queue stands or packets are lost (`competition.rs`). It then goes on where it would be
//!   had it stayed in charge, in its first slow start or up to its window. Beside queues, and where more is lost than
//!   errors explain, neither delays nor the first losses end this slow start (`catch_up.rs`), and `thalweg` does not
//!   take over before its end. After it has judged itself, it does not take over for 10 s at first, and twice as long
//!   each further time, up to 80 s, either.
//! - Where delays vary by chance, a packet-scale protocol measures this noise, and may stay near the rate at which it
//!   took over on a path that holds a hundred times as much. If it interrupted slow start, has no more than doubled its
//!   rate in its first 16 round trips, and noise is why (`noise.rs`), the window protocol goes on with its slow start.
//! - Nothing is switched while a loss is being repaired. After a timeout while RAPID is in charge, the transfer begins
//!   afresh, as section IV-C has it: with the window protocol.

mod catch_up;
mod competition;
mod error_window;
mod noise;
mod packet_scale;
mod sender;
mod window;

pub use packet_scale::PacketScale;
pub use window::Fallback;

use crate::parameters::within;
use crate::protocol::Protocol;
use crate::pstream::{Estimator, check_resolution};
use crate::rapid::Rapid;
use crate::roles::{Conditions, Receiver, Sender};
use crate::setting::Setting;
use crate::slow_start::SlowStart;
use crate::thalweg::Thalweg;
use crate::units::{Bytes, Duration};
use alloc::boxed::Box;
use alloc::string::String;
use sender::HybridSender;

crate::parameters! {
    /// Parameters.
    pub struct Hybrid {
        /// The window protocol, with its source's parameters
        pub window: Fallback,
        /// What ends the window protocol's slow start before a loss: nothing ("standard"), HyStart of Linux
        /// ("hystart"), RFC 9406 ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// The packet-scale protocol takes over when the path holds more than this per round trip (th_cwin; also th_AB,
        /// times the RTT); thalweg also when it holds more than errors let the window protocol keep
        pub threshold: Bytes,
        /// The window protocol takes over after this many streams in a row whose estimates are below that
        pub streams: u32,
        /// What takes over, with its source's parameters but for those that follow
        pub packet_scale: PacketScale,
        /// How the receiver draws an estimate from a stream; `auto`: as the controller that takes over does
        pub estimator: Setting<Estimator>,
        /// Largest difference of one-way delays that count as equal; `auto`: 50 ps or the timing error of the
        /// receiver's host, whichever is larger
        pub resolution: Setting<Duration>,
    }
}

impl Default for Hybrid {
    /// Section VI-C: 200 Mbps x 100 ms.
    fn default() -> Hybrid {
        Hybrid {
            window: Fallback::Cubic,
            slow_start: SlowStart::Standard,
            threshold: Bytes(2_500_000),
            streams: 8,
            packet_scale: PacketScale::Rapid,
            estimator: Setting::Auto,
            resolution: Setting::Auto,
        }
    }
}

impl Hybrid {
    /// With `thalweg` in RAPID's place. Where the path holds less than the threshold and loses no packets to errors, it
    /// is CUBIC, with the slow start that `cubic` has: one that ends sooner gets less beside flows that do not.
    pub fn of_thalweg() -> Hybrid {
        Hybrid { packet_scale: PacketScale::Thalweg, ..Hybrid::default() }
    }
}

impl Protocol for Hybrid {
    fn check(&self) -> Result<(), String> {
        within("threshold, in bytes,", self.threshold.0 as f64, 1.0..=1e15)?;
        within("streams", self.streams as f64, 1.0..=1e6)?;
        check_resolution(self.resolution)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(HybridSender::new(self, host))
    }

    fn receiver(&self, host: &Conditions) -> Option<Box<dyn Receiver>> {
        let Hybrid { estimator, resolution, .. } = *self;
        match self.packet_scale {
            PacketScale::Rapid => Rapid { estimator, resolution, ..Rapid::default() }.receiver(host),
            PacketScale::Thalweg => {
                let thalweg = packet_scale::thalweg();
                Thalweg { estimator: estimator.or(thalweg.estimator), resolution, ..thalweg }.receiver(host)
            }
        }
    }
}
