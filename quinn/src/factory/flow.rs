//! One direction of a connection: what quinn (or noq) tells its controllers, passed on to a host.
//!
//! quinn tells of an acknowledgment first, and then of the losses and marks that it shows. Senders are told in the
//! other order. So the end of an acknowledgment is held back until quinn does something else.
//!
//! For senders, all full packets of a flow have the same size, and quinn looks for larger ones that fit through the
//! path. So senders are told of bytes in proportion to a full packet, and a window of ten packets remains one of ten
//! packets.

use control::{Bytes, Duration, Sender, Time};
use host::{AckEnd, Host, Lost, Packet, SMALL};
use std::time::Instant;

/// See the [module](self).
pub(crate) struct Flow {
    host: Host,
    /// The instant that is the zero of the host's clock.
    origin: Instant,
    /// Bytes of a full packet, as the sender knows it.
    packet: u64,
    /// Bytes of a full packet at present.
    mtu: u64,
    /// Whether the sender reacts to marks. Otherwise it is told of a loss event, as quinn's packets are ECN-capable
    /// with any controller.
    reacts_to_marks: bool,
    /// The end of an acknowledgment, and when it came.
    held: Option<(Time, AckEnd)>,
    /// The window at the start, in bytes.
    initial_window: u64,
}

impl Flow {
    /// The flow of a sender, with packets of `mtu` bytes.
    pub(crate) fn new(sender: Box<dyn Sender>, mtu: u16, reacts_to_marks: bool, now: Instant) -> Flow {
        let mtu = u64::from(mtu.max(1));
        let host = Host::new(Bytes(mtu), sender);
        let mut flow = Flow { host, origin: now, packet: mtu, mtu, reacts_to_marks, held: None, initial_window: 0 };
        flow.initial_window = flow.window();
        flow
    }

    fn at(&self, instant: Instant) -> Time {
        let picoseconds = instant.saturating_duration_since(self.origin).as_nanos().saturating_mul(1000);
        Time::ZERO + Duration(u64::try_from(picoseconds).unwrap_or(u64::MAX))
    }

    /// What the sender is told of this many bytes.
    fn told(&self, bytes: u64) -> Bytes {
        Bytes(bytes.saturating_mul(self.packet) / self.mtu)
    }

    /// The acknowledgment that was held back is complete.
    fn release(&mut self) {
        if let Some((now, end)) = self.held.take() {
            self.host.on_ack_end(now, &end);
        }
    }

    /// quinn hands `bytes` to its socket, as one or several packets.
    pub(crate) fn on_sent(&mut self, now: Instant, bytes: u64) {
        self.release();
        // quinn does not count acknowledgments as in flight, and does not say which packets are.
        if bytes <= SMALL.0 {
            return;
        }
        let mut left = bytes;
        while left > 0 {
            let size = left.min(self.mtu);
            self.on_packet_sent(now, size);
            left -= size;
        }
    }

    /// A packet that is to be acknowledged leaves.
    pub(crate) fn on_packet_sent(&mut self, now: Instant, bytes: u64) {
        self.release();
        let now = self.at(now);
        let packet = Packet { size: self.told(bytes), sent: Some(now), received: 0, ecn_capable: false };
        self.host.on_sent_in_window(now, &packet);
    }

    /// A packet is acknowledged.
    pub(crate) fn on_acked(&mut self, now: Instant, sent: Instant, bytes: u64) {
        self.release();
        self.host.on_acked(self.at(now), self.at(sent), self.told(bytes));
    }

    /// No packet of the acknowledgment follows.
    pub(crate) fn on_ack_end(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        self.release();
        self.held = Some((self.at(now), AckEnd { in_flight: self.told(in_flight), app_limited }));
    }

    /// Packets of `lost` bytes are lost; with no bytes, some were marked. The last of them was sent at `sent`.
    pub(crate) fn on_congestion(&mut self, now: Instant, sent: Instant, persistent: bool, lost: u64) {
        if lost == 0 && self.reacts_to_marks {
            return self.host.on_marks();
        }
        let size = self.told(lost);
        if let Some((_, end)) = &mut self.held {
            end.in_flight -= size;
        }
        self.host.on_lost(self.at(now), &Lost { sent: self.at(sent), size, persistent });
    }

    pub(crate) fn on_mtu(&mut self, mtu: u16) {
        self.mtu = u64::from(mtu.max(1));
    }

    /// The window, in bytes. quinn sends a packet while less than the window is in flight with it, and senders while it
    /// fits exactly; a packet may always be in flight, as quinn would not probe otherwise.
    pub(crate) fn window(&mut self) -> u64 {
        self.release();
        let window = self.host.window().map_or(0, |window| window.0);
        (window.saturating_mul(self.mtu) / self.packet).max(self.mtu).saturating_add(1)
    }

    /// For a library that paces at a rate that the controller sets: the window in bytes, and the rate in bytes per
    /// second if the sender has one.
    #[cfg(feature = "noq")]
    pub(crate) fn pace(&mut self) -> (u64, Option<u64>) {
        if self.host.window().is_some() {
            return (self.window(), None);
        }
        self.release();
        let (window, rate) = self.host.pace();
        let window = window.0.saturating_mul(self.mtu).div_ceil(self.packet).max(self.mtu);
        (window, rate.map(|rate| (rate.as_bps() / 8.0 * self.mtu as f64 / self.packet as f64) as u64))
    }

    pub(crate) fn initial_window(&self) -> u64 {
        self.initial_window
    }
}
