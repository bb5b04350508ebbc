//! What most sources do without, behind one pointer, so that it takes little room in these and one look.

use super::pacing::Pacing;
use super::rack_tlp::{Expiry, RackTlp};
use control::{Bytes, Time};

/// See the [module](self).
pub struct Optional {
    /// With [`control::Recovery::RackTlp`].
    pub rack_tlp: Option<RackTlp>,
    /// What spaces the packets of a window protocol, if anything does.
    pub pacing: Option<Pacing>,
    /// When the last packet left, if the controller is told when data comes after an idle period.
    pub last_sent: Option<Time>,
}

impl Optional {
    /// In a box, if there is anything.
    pub fn boxed(self) -> Option<Box<Optional>> {
        let any = self.rack_tlp.is_some() || self.pacing.is_some() || self.last_sent.is_some();
        any.then(|| Box::new(self))
    }

    /// Packet number `order`, which carries `segment` and takes `size` bytes, is sent. Returns whether the timer waits
    /// for a probe.
    #[cold]
    pub fn on_send(&mut self, now: Time, order: u32, segment: u64, size: u32) -> bool {
        self.last_sent = self.last_sent.map(|_| now);
        if let Some(pacing) = &mut self.pacing {
            pacing.on_send(now, Bytes(size.into()));
        }
        let Some(it) = &mut self.rack_tlp else { return false };
        it.on_send(now, order, segment);
        it.waits_for == Expiry::Probe
    }

    /// What is known with RACK-TLP, if there is any.
    #[inline]
    pub fn rack_tlp(optional: &mut Option<Box<Optional>>) -> Option<&mut RackTlp> {
        optional.as_mut()?.rack_tlp.as_mut()
    }

    /// What spaces packets, if there is anything.
    #[inline]
    pub fn pacing(optional: &mut Option<Box<Optional>>) -> Option<&mut Pacing> {
        optional.as_mut()?.pacing.as_mut()
    }
}
