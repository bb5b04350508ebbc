//! The router of RCP: feeds the rate controller, and writes its rate on packets.

use super::RateController;
use crate::roles::{Control, Router, Stamp};
use crate::units::{Bytes, Rate, Time};

/// Counts the packets of all protocols that arrive, and writes R on the packets of RCP that leave.
pub struct RcpRouter {
    controller: RateController,
}

impl RcpRouter {
    /// The router with this rate controller.
    pub fn new(controller: RateController) -> RcpRouter {
        RcpRouter { controller }
    }
}

impl Router for RcpRouter {
    fn on_arrival(&mut self, _: Time, stamp: &mut Stamp, size: Bytes, _: Bytes) {
        let rtt = if let Stamp::Rate { rtt, .. } = stamp { *rtt } else { 0.0 };
        self.controller.on_arrival(size, rtt);
    }

    fn on_departure(&mut self, _: Time, stamp: &mut Stamp, _: Bytes, _: Bytes) {
        if let Stamp::Rate { rate, .. } = stamp {
            *rate = rate.min(self.controller.rate() as f32);
        }
    }

    fn next_tick(&self) -> Option<Time> {
        Some(self.controller.due())
    }

    fn on_tick(&mut self, now: Time, until: Time, backlog: Bytes) {
        self.controller.update(now, until, backlog);
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.controller.set_capacity(rate);
    }

    fn state(&self) -> Control {
        Control { rate: Some(Rate::from_bps(self.controller.rate())), growth: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rcp::{RcpReceiver, RcpRouting};
    use crate::roles::{Receiver, Report};

    /// The receiver of a packet reports the smallest rate of the routers on the way, and nothing if there was none.
    #[test]
    fn the_receiver_reports_the_smallest_rate_on_the_path() {
        let report = |mbps: &[f64]| {
            let mut stamp = Stamp::Rate { rate: f32::INFINITY, rtt: 0.0 };
            for &mbps in mbps {
                let controller = RateController::new(&RcpRouting::default(), Rate::from_mbps(mbps));
                let mut router = RcpRouter::new(controller);
                router.on_arrival(Time::ZERO, &mut stamp, Bytes(1000), Bytes(0));
                router.on_departure(Time::ZERO, &mut stamp, Bytes(1000), Bytes(0));
            }
            RcpReceiver.on_arrival(Time::ZERO, &stamp, Bytes(1000))
        };
        let allowed = |mbps: f32| Some(Report::Allowed { rate: mbps * 1e6 });
        assert_eq!(report(&[]), None);
        for order in [[100.0, 10.0, 50.0], [10.0, 50.0, 100.0], [100.0, 50.0, 10.0]] {
            assert_eq!(report(&order), allowed(0.5));
        }
    }

    #[test]
    fn packets_of_other_protocols_count_as_load() {
        let mut router = RcpRouter::new(RateController::new(&RcpRouting::default(), Rate::from_mbps(100.0)));
        let mut stamp = Stamp::None;
        for _ in 0..250 {
            router.on_arrival(Time::ZERO, &mut stamp, Bytes(1000), Bytes(0)); // 200 Mbps over 10 ms
        }
        let now = router.next_tick().unwrap();
        router.on_tick(now, now, Bytes(0));
        assert!(router.state().rate.unwrap() < Rate::from_mbps(5.0));
    }
}
