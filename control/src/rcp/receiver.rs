//! The receiver of RCP: reports the rate that the routers allow.

use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Time};

/// Reports the rate that each packet carries, unless the packet has passed no router.
pub struct RcpReceiver;

impl Receiver for RcpReceiver {
    fn on_arrival(&mut self, _: Time, stamp: &Stamp, _: Bytes) -> Option<Report> {
        match *stamp {
            Stamp::Rate { rate, .. } if rate.is_finite() => Some(Report::Allowed { rate }),
            _ => None,
        }
    }
}
