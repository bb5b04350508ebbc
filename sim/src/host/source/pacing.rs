//! Pacing of window protocols by the host, as Linux and QUIC do it (RFC 9002, section 7.7).

use control::pace::Pacer;
use control::{Bytes, Duration, Next, Phase, Rate, Sender, Time};

/// How many windows leave per smoothed round-trip time in slow start at least: as many packets as the window will have
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

    /// When the next packet may leave, for which `controller` has room. One without a window, or without one at present
    /// as a hybrid, has times of its own.
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

    /// The controller has times of its own.
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
    use crate::host::source::testing::{Flow, ms};
    use control::Recovery;
    use serde_json::json;

    /// The departures of the second round trip of a flow of NewReno with a window of 10 packets at first, in ms since its
    /// beginning.
    fn second_round(pacing: Option<f64>) -> Vec<f64> {
        let parameters = json!({"initial-window": 10});
        let parameters = parameters.as_object().expect("an object");
        let mut flow = Flow::with(Recovery::Sack, Some(30), "newreno", parameters, |setup| setup.pacing = pacing);
        flow.run_until(ms(1000));
        let sent = flow.log[10..].iter().map(|(sent, _)| sent.since(ms(100)).as_millis());
        sent.take_while(|&at| at < 100.0).collect()
    }

    /// A flow of a hybrid whose window protocol hands over, and after a timeout takes over again.
    #[test]
    fn a_hybrid_whose_window_has_come_back_goes_on_at_once() {
        let parameters = json!({"threshold": "20 kB"});
        let parameters = parameters.as_object().expect("an object");
        let mut flow = Flow::with(Recovery::Sack, None, "rapid-hybrid", parameters, |setup| setup.pacing = Some(1.0));
        flow.run_until(ms(3000));
        assert!(flow.source.state().window.is_none(), "RAPID is in charge");
        flow.loses = Box::new(|packet| (ms(3000)..ms(3400)).contains(&packet.sent));
        flow.run_until(ms(6000));
        let longest = flow.log.windows(2).map(|pair| pair[1].0.since(pair[0].0)).max().expect("packets");
        assert!(longest.as_millis() < 600.0, "nothing leaves for {longest}");
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
