//! Which of a sender's events are written: enough to draw it, and no more the more packets there are.
//!
//! Metrics are written once per [`EVERY`] at most, and of them those that have changed. Losses are counted, and written
//! as often. Changes of state are all written, up to [`MOST_STATES`] in this time; beyond that, the last one counts.

use crate::event::{Happened, Metric, Metrics, milliseconds};
use control::{Ack, Bytes, Duration, Phase, State, Time};
use host::RoundTrip;

/// The least time between two records of metrics, and of losses.
const EVERY: Duration = Duration::from_millis(10);
/// The most changes of state that are written within that time.
const MOST_STATES: u32 = 10;

/// What is known of a sender, what was written of it, and what is to be written now.
pub struct Thinned {
    packet: Bytes,
    now: Time,
    rtt: RoundTrip,
    newest: Option<Duration>,
    least: Option<Duration>,
    timeouts: u32,
    in_flight: Bytes,
    state: Option<State>,
    threshold: Option<f64>,
    /// Acknowledged since [`Thinned::rate_from`], bytes.
    acked: Bytes,
    /// Since when `acked` counts; none before the first acknowledgment.
    rate_from: Option<Time>,
    /// Found lost since the last record of losses, bytes.
    lost: Bytes,

    /// The values of all metrics as they were written last.
    metrics: Metrics,
    /// From when on metrics and losses may be written again.
    due: [Time; 2],
    /// The state that was written last.
    phase: Option<Phase>,
    /// How many changes of state were written since `states_from`.
    states: u32,
    states_from: Time,

    /// What is to be written.
    pub written: Vec<(Time, Happened)>,
}

impl Thinned {
    /// A sender that has sent nothing, whose full packets have this size.
    pub fn new(packet: Bytes) -> Thinned {
        Thinned {
            packet,
            now: Time::ZERO,
            rtt: RoundTrip::default(),
            newest: None,
            least: None,
            timeouts: 0,
            in_flight: Bytes(0),
            state: None,
            threshold: None,
            acked: Bytes(0),
            rate_from: None,
            lost: Bytes(0),
            metrics: Metrics::default(),
            due: [Time::ZERO; 2],
            phase: None,
            states: 0,
            states_from: Time::ZERO,
            written: Vec::new(),
        }
    }

    /// Bytes in flight.
    pub fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    /// A packet leaves, with which so much is in flight. Returns whether it is the first one.
    #[inline]
    pub fn on_send(&mut self, in_flight: Bytes) -> bool {
        self.in_flight = in_flight;
        self.state.is_none()
    }

    /// An acknowledgment arrives.
    pub fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt.sample(rtt);
            self.newest = Some(rtt);
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        self.timeouts = 0;
        self.in_flight = ack.in_flight;
        // What the first acknowledgment tells was delivered before it: the rate counts from there.
        match self.rate_from {
            Some(_) => self.acked += ack.acked,
            None => self.rate_from = Some(now),
        }
        self.lost += ack.lost;
    }

    /// A timeout has given up so many bytes in flight.
    pub fn on_timeout(&mut self, now: Time, given_up: Bytes) {
        self.timeouts += 1;
        self.in_flight = Bytes(self.in_flight.0.saturating_sub(given_up.0));
        self.now = now;
        if given_up > Bytes(0) {
            let lost = self.losses(given_up, Some("pto_expired"));
            self.written.push((now, lost));
        }
        self.write_metrics();
    }

    /// The sender is in this state now, with this slow-start threshold in packets. `trigger` is why it may have
    /// changed.
    pub fn show(&mut self, now: Time, state: &State, threshold: Option<f64>, trigger: Option<&'static str>) {
        self.now = now;
        (self.state, self.threshold) = (Some(*state), threshold);
        if self.phase == Some(state.phase) {
            return;
        }
        if now.since(self.states_from) >= EVERY {
            (self.states, self.states_from) = (0, now);
        }
        if self.states < MOST_STATES {
            self.states += 1;
            self.write_state(state.phase, trigger);
        }
    }

    /// Writes losses and metrics if it is time for them.
    pub fn write_due(&mut self) {
        if self.lost > Bytes(0) && self.now >= self.due[1] {
            self.write_losses();
        }
        if self.now >= self.due[0] {
            self.write_metrics();
        }
    }

    /// Nothing more will happen.
    pub fn finish(&mut self) {
        let Some(state) = self.state else { return };
        if self.phase != Some(state.phase) {
            self.write_state(state.phase, None);
        }
        if self.lost > Bytes(0) {
            self.write_losses();
        }
        self.write_metrics();
    }

    fn write_state(&mut self, phase: Phase, trigger: Option<&'static str>) {
        let name = |phase: Phase| phase.to_string().replace('-', "_");
        let old = self.phase.replace(phase).map(name);
        let happened = Happened::State { old, new: name(phase), trigger: trigger.map(String::from) };
        self.written.push((self.now, happened));
    }

    fn write_losses(&mut self) {
        let lost = std::mem::replace(&mut self.lost, Bytes(0));
        let lost = self.losses(lost, None);
        self.written.push((self.now, lost));
        self.due[1] = self.now + EVERY;
    }

    fn losses(&self, bytes: Bytes, trigger: Option<&str>) -> Happened {
        let packets = bytes.0.div_ceil(self.packet.0.max(1));
        Happened::Lost { packets, bytes: Some(bytes.0), trigger: trigger.map(String::from) }
    }

    fn write_metrics(&mut self) {
        let packets = |packets: f64| (packets * self.packet.0 as f64).round();
        let mut now = Metrics::default();
        now.set(Metric::MinRtt, self.least.map(milliseconds));
        now.set(Metric::SmoothedRtt, self.rtt.smoothed().map(milliseconds));
        now.set(Metric::LatestRtt, self.newest.map(milliseconds));
        now.set(Metric::RttVariance, self.rtt.variation().map(milliseconds));
        now.set(Metric::PtoCount, Some(self.timeouts.into()));
        now.set(Metric::CongestionWindow, self.state.and_then(|state| state.window).map(packets));
        now.set(Metric::BytesInFlight, Some(self.in_flight.0 as f64));
        // It is infinite before the first loss.
        now.set(Metric::Ssthresh, self.threshold.filter(|threshold| threshold.is_finite()).map(packets));
        now.set(Metric::PacketsInFlight, Some(self.in_flight.0.div_ceil(self.packet.0.max(1)) as f64));
        now.set(Metric::PacingRate, self.state.and_then(|state| state.rate).map(|rate| rate.as_bps().round()));
        now.set(Metric::DeliveryRate, self.delivery_rate());
        let changed = self.metrics.update(&now);
        self.due[0] = self.now + EVERY;
        if !changed.is_empty() {
            self.written.push((self.now, Happened::Metrics(changed)));
        }
    }

    /// The rate at which data was acknowledged since the last call, bits per second.
    fn delivery_rate(&mut self) -> Option<f64> {
        let seconds = self.now.since(self.rate_from?).as_secs();
        if seconds <= 0.0 {
            return None;
        }
        let acked = std::mem::replace(&mut self.acked, Bytes(0));
        self.rate_from = Some(self.now);
        Some((acked.0 as f64 * 8.0 / seconds).round())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::Rate;

    const PACKET: Bytes = Bytes(1250);

    /// What is written of `seconds` in which an acknowledgment of a packet comes every `micros`, which tells each time
    /// that a packet is lost, while the state changes each time.
    fn written(seconds: u64, micros: u64) -> Vec<(Time, Happened)> {
        let mut thinned = Thinned::new(PACKET);
        for i in 0..seconds * 1_000_000 / micros {
            let now = Time::ZERO + Duration::from_micros(i * micros);
            let rtt = Some(Duration::from_micros(50_000 + i));
            let ack = Ack { acked: PACKET, lost: PACKET, rtt, in_flight: Bytes(1250 * (i % 9)), ..Ack::default() };
            thinned.on_ack(now, &ack);
            let phase = if i % 2 == 0 { Phase::Cruise } else { Phase::ProbeUp };
            let rate = Some(Rate::from_bps(1e6 * i as f64));
            thinned.show(now, &State { window: Some(i as f64), rate, phase }, None, None);
            thinned.write_due();
        }
        thinned.finish();
        thinned.written
    }

    fn count(written: &[(Time, Happened)], which: fn(&Happened) -> bool) -> usize {
        written.iter().filter(|(_, happened)| which(happened)).count()
    }

    #[test]
    fn a_second_gives_as_many_records_at_any_rate() {
        for micros in [100, 10] {
            let written = written(1, micros);
            assert!((100..=101).contains(&count(&written, |it| matches!(it, Happened::Metrics(_)))), "every 10 ms");
            assert!((100..=101).contains(&count(&written, |it| matches!(it, Happened::Lost { .. }))));
            assert!(
                (1000..=1001).contains(&count(&written, |it| matches!(it, Happened::State { .. }))),
                "ten of these"
            );
            assert!(written.is_sorted_by_key(|(time, _)| *time));
        }
    }

    #[test]
    fn every_loss_is_counted() {
        let written = written(1, 100);
        let lost = written
            .iter()
            .map(|(_, happened)| if let Happened::Lost { packets, .. } = happened { *packets } else { 0 });
        assert_eq!(lost.sum::<u64>(), 10_000);
    }

    #[test]
    fn the_rate_of_delivery_is_that_of_acknowledgments() {
        let rates: Vec<f64> = written(1, 100)
            .iter()
            .filter_map(|(_, happened)| match happened {
                Happened::Metrics(metrics) => metrics.get(Metric::DeliveryRate),
                _ => None,
            })
            .collect();
        assert_eq!(rates, [1e8], "1250 bytes every 100 us, which is written once, as it does not change");
    }

    #[test]
    fn what_has_not_changed_is_not_written_again() {
        let mut thinned = Thinned::new(PACKET);
        let state = State { window: Some(10.0), rate: None, phase: Phase::SlowStart };
        thinned.on_send(PACKET);
        for ms in [0, 20, 40] {
            thinned.show(Time::ZERO + Duration::from_millis(ms), &state, Some(f64::INFINITY), None);
            thinned.write_due();
        }
        assert_eq!(thinned.written.len(), 2, "the state, and metrics once: {:?}", thinned.written);
        let Happened::Metrics(metrics) = &thinned.written[1].1 else { panic!() };
        assert_eq!(metrics.get(Metric::CongestionWindow), Some(12_500.0));
        assert_eq!(metrics.get(Metric::Ssthresh), None, "it is infinite");
    }
}
