//! Pacing of window protocols by the host, as Linux and QUIC do it (RFC 9002, section 7.7).

use control::pace::Pacer;
use control::{Bytes, Duration, Next, Phase, Rate, Sender, Time};

/// The least number of windows that leave per smoothed round-trip time in slow start, in which the window doubles
/// (Linux: `tcp_pacing_ss_ratio`).
const SLOW_START: f64 = 2.0;

/// Spaces the packets of one flow.
pub struct Pacing {
    /// How many windows leave per smoothed round-trip time.
    windows: f64,
    /// The present rate; none before the first round-trip time is known, when packets are not spaced.
    rate: Option<Rate>,
    pacer: Pacer,
}

impl Pacing {
    /// Before the first packet.
    pub fn new(windows: f64) -> Pacing {
        Pacing { windows, rate: None, pacer: Pacer::default() }
    }

    /// When the next packet may leave, for which `controller` has room. `smoothed` is the smoothed round-trip time. A
    /// controller that has no window, as a hybrid while it sends by a rate, spaces packets itself.
    pub fn next(&mut self, controller: &dyn Sender, smoothed: Option<Duration>) -> Next {
        let (Some(window), Some(smoothed)) = (controller.window(), smoothed) else {
            self.stop();
            return Next::Now;
        };
        let is_slow_start = controller.state().phase == Phase::SlowStart;
        let windows = if is_slow_start { self.windows.max(SLOW_START) } else { self.windows };
        let rate = window.over(smoothed) * windows;
        self.rate = Some(rate);
        Next::At(self.pacer.due(rate))
    }

    /// The controller spaces packets itself: what it sends from now on does not count.
    pub fn stop(&mut self) {
        (self.rate, self.pacer) = (None, Pacer::default());
    }

    /// A packet of `size` leaves.
    pub fn on_send(&mut self, now: Time, size: Bytes) {
        if let Some(rate) = self.rate {
            self.pacer.on_send(now, size, rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::source::testing::{Flow, ms};
    use control::{Ack, Loss, Pipe, Recovery, Stamp, State};
    use serde_json::json;

    /// The departures of the second round trip of a flow of NewReno with a window of 10 packets at first, in ms since
    /// its beginning.
    fn second_round(pacing: Option<f64>) -> Vec<f64> {
        let parameters = json!({"initial-window": 10});
        let parameters = parameters.as_object().expect("an object");
        let mut flow = Flow::with(Recovery::Sack, Some(30), "newreno", parameters, |setup| setup.pacing = pacing);
        flow.run_until(ms(1000));
        let sent = flow.log[10..].iter().map(|(sent, _)| sent.since(ms(100)).as_millis());
        sent.take_while(|&at| at < 100.0).collect()
    }

    /// A controller with this window at present.
    struct Having(Option<Bytes>);

    impl Sender for Having {
        fn next(&mut self, _: Time, _: &Pipe) -> Next {
            Next::Now
        }
        fn window(&self) -> Option<Bytes> {
            self.0
        }
        fn on_send(&mut self, _: Time, _: Bytes, _: &Pipe) -> Stamp {
            Stamp::None
        }
        fn on_ack(&mut self, _: Time, _: &Ack) {}
        fn on_loss(&mut self, _: Time, _: &Loss) {}
        fn state(&self) -> State {
            State { window: None, rate: None, phase: Phase::CongestionAvoidance }
        }
    }

    #[test]
    fn what_a_hybrid_sends_without_its_window_does_not_delay_what_it_sends_with_it() {
        let (window, rtt) = (Having(Some(Bytes(10_000))), Some(Duration::from_millis(100)));
        let mut pacing = Pacing::new(1.0);
        for _ in 0..2 {
            pacing.next(&window, rtt);
            pacing.on_send(ms(0), Bytes(1000));
        }
        assert_eq!(pacing.next(&window, rtt), Next::At(ms(20)), "ten packets in 100 ms");
        for now in 20..1000 {
            assert_eq!(pacing.next(&Having(None), rtt), Next::Now);
            pacing.on_send(ms(now), Bytes(1000));
        }
        assert!(matches!(pacing.next(&window, rtt), Next::At(time) if time <= ms(1000)));
    }

    #[test]
    fn with_a_limit_on_bursts_the_rest_of_the_window_leaves_in_time() {
        let parameters = json!({"initial-window": 10});
        let parameters = parameters.as_object().expect("an object");
        let sent = |max_burst| {
            let mut flow = Flow::with(Recovery::Sack, None, "newreno", parameters, |setup| {
                (setup.max_burst, setup.pacing) = (max_burst, Some(1.25));
            });
            flow.run_until(ms(1000));
            flow.log.len()
        };
        assert!(sent(Some(1)) * 2 > sent(None), "{} of {}", sent(Some(1)), sent(None));
    }

    #[test]
    fn packets_leave_at_so_many_windows_per_round_trip_and_two_in_slow_start() {
        // All ten acknowledgments arrive at once, each of which lets two packets go.
        assert_eq!(second_round(None), [0.0; 20]);
        // Two windows in 100 ms: 20 to 40 packets, as the window grows from 10 to 20.
        let spaced = second_round(Some(1.25));
        let gaps = spaced.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(spaced.len() == 20 && gaps.clone().skip(1).all(|gap| (2.4..5.1).contains(&gap)), "{spaced:?}");
        let fast = second_round(Some(8.0));
        assert!(fast.windows(2).skip(1).all(|pair| (0.6..1.3).contains(&(pair[1] - pair[0]))), "{fast:?}");
    }
}
