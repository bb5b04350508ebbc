//! How far above its average rate a flow aims.
//!
//! All flows see the same spare bandwidth, and feedback is a round trip and a stream old, so flows that adopted all of
//! it would climb together far above the capacity. A flow aims above its rate r by at most the sum of two steps:
//!
//! - kappa r. Kappa tunes itself: it is lowered by a *collapse*, an estimate far below r, which means that the senders
//!   together climb faster than their feedback arrives, and grows slowly otherwise. It has narrow bounds, because
//!   shares stay as they are only while all flows have the same kappa: a slow flow sees few collapses, and with a
//!   larger kappa it would climb far above its share.
//! - sqrt(floor r), which is larger for slow flows, in proportion, and makes rates equal. A flow that begins has a
//!   higher floor.
//!
//! With these bounds, a flow would need many seconds to fill a path that has become much faster or that other flows
//! have left. So a *surge* multiplies kappa: it doubles each time that no estimate was near r for a round trip and 32
//! streams, or four times tau if the streams take less, and an estimate near r ends it. Slow flows, of which there may
//! be many, have long streams, and their surges grow more slowly than those of fast flows.
//!
//! **Search.** Slow start may end far below a flow's share of the path, because others that begin at the same time
//! overload the path. So a *search* follows slow start: as long as every estimate is above the average rate, the rate
//! may grow by half within the time that feedback takes. (If a flow begins with all that slow start found, this
//! estimate is not above its rate, and there is no search.) There is a search, too, where the hybrid takes over from a
//! slow start that nothing has stopped. What is free is not known then, and a single low estimate of bursts may come
//! from an interruption of the host, so that it takes two in a row to end this search.
//!
//! **Losses without a queue.** Where losses are the only signal of congestion ([`super::classifier`]), no stream shows
//! what is free, and each of many flows loses the same share of its packets. There kappa has its least value, nothing
//! surges or searches, and the floor of the other step is a packet per round trip, by which TCP's window grows. So a
//! flow that sends w packets in a round trip climbs by the share sqrt(1 / w) of its rate within tau.
//!
//! **Batches.** Where the path hands packets on in batches, an overload is seen coarsely, and each flow sees other
//! collapses, so that kappas become different by chance. There kappa is at most one over the packets of a burst, so that
//! a burst grows by one packet within tau, or by the least value.
//!
//! **The time scale.** How fast a flow may follow its estimates depends on how soon it hears what came of that. So tau,
//! of which all times of the rule are multiples, is that of the parameters where feedback takes `slow_feedback` or
//! longer, and shorter in proportion where it is faster. As a flow's decreases are faster by the same factor, flows
//! with different round-trip times have equal shares all the same.

use crate::units::{Bytes, Duration, Rate};

/// The parameters of a climb.
#[derive(Clone, Debug)]
pub struct ClimbParameters {
    /// Time over which an increase is adopted.
    pub tau: Duration,
    /// The least and the largest value of kappa.
    pub kappa: (f64, f64),
    /// The floor in the step of sqrt(floor r). If the steps of all flows were equal, a thousand slow flows would climb
    /// a hundred times as fast as ten fast ones; if all steps were proportional to r, no slow flow would catch up.
    pub floor: Rate,
    /// The floor of a flow that begins. It falls to `floor` within a hundred times tau, so that the shares of flows
    /// become equal soon, and queues are short afterwards.
    pub young_floor: Rate,
    /// By which share of the rate the step of the floor lets a flow climb at most in a round trip and a stream, after
    /// which feedback arrives, or within tau if that is shorter.
    pub climb_in_round_trip: f64,
    /// An estimate below this share of the average is a collapse.
    pub collapse: f64,
    /// Factor on kappa upon a collapse, once per round trip.
    pub back_off: f64,
    /// Growth of kappa per tau while there is no collapse, as a share of kappa.
    pub regrow: f64,
    /// Where feedback takes less time than this, tau is shorter in proportion, and so are all times of the rule, which
    /// are multiples of it.
    pub slow_feedback: Duration,
}

/// What is known when a stream begins.
#[derive(Clone, Copy, Debug)]
pub struct StreamStart {
    /// The newest estimate.
    pub estimate: Rate,
    /// Whether it came since the stream before began.
    pub is_new: bool,
    /// How long the stream would last at the present average rate.
    pub duration: Duration,
    /// The number of its bursts over the number of bursts in a full stream.
    pub fullness: f64,
    /// The number of packets in each of its bursts.
    pub burst: u16,
    /// The time between two batches in which the path hands packets on; zero: it does not.
    pub batches: Duration,
    /// The newest round-trip time.
    pub rtt: Duration,
    /// The size of a packet.
    pub packet: Bytes,
    /// Where losses are the only signal of congestion: by how much the share of packets that were lost since the last
    /// stream exceeds that of errors.
    pub excess: Option<f64>,
}

/// The bounds of a flow's climb, and what they depend on.
#[derive(Clone, Debug)]
pub struct Climb {
    parameters: ClimbParameters,
    /// The present value of kappa. It starts with the largest one.
    kappa: f64,
    /// Factor on kappa while the path has much to spare.
    surge: f64,
    /// The total duration of the streams that were sent since an estimate was last near the average rate, or since the
    /// surge last grew.
    spared: Duration,
    /// The total duration of the streams that were sent since kappa was last lowered, and of all streams.
    since_lowered: Duration,
    age: Duration,
    /// The factor on tau.
    time_scale: f64,
    /// How many estimates in a row that are as low as the average rate end the search; zero: there is none.
    patience: u32,
    /// How many such estimates there were.
    lows: u32,
}

/// An estimate of this multiple of the average rate or less ends a surge.
const NEAR: f64 = 1.25;
/// The factor by which a surge grows each time. It needs no bound, as streams show at most two or three times their
/// average rate.
const SURGE: f64 = 2.0;
/// A surge grows after a round trip and so many streams with much to spare. To a slow flow, whose streams take long, a
/// small part of the path is much to spare.
const SURGE_STREAMS: f64 = 32.0;
/// The share of its rate by which a flow that searches may climb within the time that feedback takes.
const SEARCH: f64 = 0.5;
/// The least time for which these streams count, in multiples of tau. The streams of a fast flow take so little time
/// that it would have taken all that is to spare before the others see it. Behind a policer, which delays nothing, all
/// see much to spare.
const SURGE_TIME: f64 = 4.0;
/// A flow has a higher floor for so many times tau.
const YOUTH: f64 = 100.0;
/// The least time scale. Pauses of hosts take some milliseconds on all paths.
const LEAST_TIME_SCALE: f64 = 0.05;

impl Climb {
    /// The climb of a flow that begins.
    pub fn new(parameters: ClimbParameters) -> Climb {
        Climb {
            kappa: parameters.kappa.1,
            parameters,
            surge: 1.0,
            spared: Duration::ZERO,
            since_lowered: Duration::ZERO,
            age: Duration::ZERO,
            time_scale: 1.0,
            patience: 0,
            lows: 0,
        }
    }

    /// Begins a search, which ends with so many estimates in a row that are as low as the average rate, or with one
    /// where streams have single packets; zero: there is no search.
    pub fn search(&mut self, patience: u32) {
        (self.patience, self.lows) = (patience, 0);
    }

    /// Ends the search where an estimate shows that there is no more.
    fn go_on_searching(&mut self, average: f64, start: &StreamStart) {
        if start.is_new {
            self.lows = if start.estimate.as_bps() <= average { self.lows + 1 } else { 0 };
        }
        let patience = if start.burst > 1 { self.patience } else { self.patience.min(1) };
        if self.lows >= patience || start.excess.is_some() {
            self.search(0);
        }
    }

    /// This time went by without an estimate, as streams that would last for `stream` were interrupted.
    pub fn wait(&mut self, time: Duration, rtt: Duration, stream: Duration) {
        self.hear_after(rtt, stream);
        self.grow_older(time);
    }

    /// Sets the time scale for streams that last for `stream`.
    fn hear_after(&mut self, rtt: Duration, stream: Duration) {
        let share = feedback(rtt, stream).as_secs() / self.parameters.slow_feedback.as_secs();
        self.time_scale = share.clamp(LEAST_TIME_SCALE, 1.0);
    }

    fn grow_older(&mut self, time: Duration) {
        self.age += time.scale(1.0 / self.time_scale);
    }

    /// Tau at the present time scale, seconds.
    pub fn tau(&self) -> f64 {
        self.parameters.tau.as_secs() * self.time_scale
    }

    /// A stream begins, whose sender has this average rate, bits per second.
    pub fn begin_stream(&mut self, average: f64, start: &StreamStart) {
        self.hear_after(start.rtt, start.duration);
        let (estimate, pace) = (start.estimate.as_bps(), self.share_of_tau(start.duration));
        self.grow_older(start.duration);
        self.since_lowered += start.duration;
        if estimate >= average * self.parameters.collapse {
            self.kappa = (self.kappa * (1.0 + self.parameters.regrow * pace)).min(self.parameters.kappa.1);
        } else if self.since_lowered >= start.rtt + start.duration {
            self.on_collapse();
            self.since_lowered = Duration::ZERO;
        }
        if start.excess.is_some() {
            self.kappa = self.parameters.kappa.0;
        } else if start.batches > Duration::ZERO {
            self.kappa = self.kappa.min(1.0 / f64::from(start.burst)).max(self.parameters.kappa.0);
        }
        self.go_on_searching(average, start);
        if estimate <= average * NEAR || start.excess.is_some() {
            (self.surge, self.spared) = (1.0, Duration::ZERO);
        } else {
            self.spared += start.duration;
            let (streams, least) = (start.duration.scale(SURGE_STREAMS), Duration::from_secs(self.tau() * SURGE_TIME));
            if self.spared >= start.rtt + streams.max(least) {
                self.surge *= SURGE;
                self.spared = Duration::ZERO;
            }
        }
    }

    /// Lowers kappa and ends a surge, because an estimate collapsed, or more packets were lost than errors explain.
    pub fn on_collapse(&mut self) {
        (self.surge, self.spared) = (1.0, Duration::ZERO);
        self.kappa = (self.kappa * self.parameters.back_off).max(self.parameters.kappa.0);
    }

    /// Takes back what collapses did to kappa: the losses taken for them were errors, the delay wanders by itself, or
    /// the flow begins anew.
    pub fn forget_collapses(&mut self) {
        self.kappa = self.parameters.kappa.1;
    }

    /// The most by which a flow may aim above its average rate, bits per second.
    pub fn largest_step(&self, average: f64, start: &StreamStart) -> f64 {
        let floor_step = match start.excess {
            None => self.floor_step(average, start.rtt, start.duration),
            Some(_) => self.packet_step(average, start),
        };
        let step = self.kappa * self.surge * average + floor_step;
        if self.patience == 0 {
            return step;
        }
        // Within the time that feedback takes, the share feedback / tau of a step is adopted.
        step.max(SEARCH * average * self.tau() / feedback(start.rtt, start.duration).as_secs())
    }

    /// The step that lets slow flows catch up, bits per second, where a stream takes this long.
    pub fn floor_step(&self, average: f64, rtt: Duration, stream: Duration) -> f64 {
        let most = self.parameters.climb_in_round_trip * average;
        libm::sqrt(self.floor() * average).min(most * self.in_feedback(rtt, stream))
    }

    /// The same where losses are the only signal of congestion.
    fn packet_step(&self, average: f64, start: &StreamStart) -> f64 {
        let floor = self.floor().max(start.packet.over(start.rtt).as_bps());
        libm::sqrt(floor * average).min(average * self.in_feedback(start.rtt, start.duration))
    }

    /// The floor of a flow of this age, bits per second.
    fn floor(&self) -> f64 {
        let ClimbParameters { floor, young_floor, tau, .. } = &self.parameters;
        let young = (1.0 - self.age.as_secs() / (YOUTH * tau.as_secs())).max(0.0);
        floor.as_bps() + (young_floor.as_bps() / self.time_scale - floor.as_bps()).max(0.0) * young
    }

    /// How many times what is adopted of a step within the time that feedback takes, or within tau if that is shorter,
    /// the step is.
    fn in_feedback(&self, rtt: Duration, stream: Duration) -> f64 {
        (self.tau() / feedback(rtt, stream).as_secs()).max(1.0)
    }

    /// Which share of a step is adopted in this time.
    pub fn share_of_tau(&self, time: Duration) -> f64 {
        (time.as_secs() / self.tau()).min(1.0)
    }
}

/// The time from a change of the rate until the sender hears what came of it: a stream of this duration is heard of a
/// round trip after its end.
fn feedback(rtt: Duration, stream: Duration) -> Duration {
    rtt + stream
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn climb() -> Climb {
        Climb::new(ClimbParameters {
            tau: Duration::from_millis(250),
            kappa: (0.1, 0.8),
            floor: Rate::from_bps(0.0),
            young_floor: Rate::from_bps(0.0),
            climb_in_round_trip: 1.0,
            collapse: 0.5,
            back_off: 0.5,
            regrow: 0.02,
            slow_feedback: Duration(1),
        })
    }

    fn stream(mbps: f64, ms: f64) -> StreamStart {
        let duration = Duration::from_secs(ms / 1e3);
        StreamStart {
            estimate: Rate::from_mbps(mbps),
            is_new: true,
            duration,
            fullness: 1.0,
            burst: 1,
            batches: Duration::ZERO,
            rtt: RTT,
            packet: Bytes(1250),
            excess: None,
        }
    }

    /// Streams of a flow of 100 Mbps begin, each of this duration and with this estimate.
    fn streams(climb: &mut Climb, count: usize, mbps: f64, ms: f64) {
        (0..count).for_each(|_| climb.begin_stream(100e6, &stream(mbps, ms)));
    }

    fn step_mbps(climb: &Climb, average: f64) -> f64 {
        let step = climb.largest_step(average * 1e6, &stream(average, 0.0));
        (step / 1e4).round() / 100.0
    }

    #[test]
    fn kappa_falls_once_per_round_trip_and_recovers() {
        let mut climb = climb();
        streams(&mut climb, 1, 100.0, 0.0);
        assert_eq!(step_mbps(&climb, 100.0), 80.0);
        // The first collapse comes when the first round trip is over.
        streams(&mut climb, 25, 10.0, 10.0);
        assert_eq!(step_mbps(&climb, 100.0), 20.0);
        streams(&mut climb, 200, 100.0, 250.0);
        assert_eq!(step_mbps(&climb, 100.0), 80.0);
        (0..100).for_each(|_| climb.on_collapse());
        assert_eq!(step_mbps(&climb, 100.0), 10.0);
    }

    #[test]
    fn a_surge_doubles_while_much_is_to_spare_and_ends_near_the_rate() {
        let mut climb = climb();
        (climb.kappa, climb.parameters.regrow) = (0.1, 0.0);
        // A round trip and four times tau are 440 streams of 2.5 ms.
        streams(&mut climb, 439, 150.0, 2.5);
        assert_eq!(step_mbps(&climb, 100.0), 10.0);
        streams(&mut climb, 1, 150.0, 2.5);
        assert_eq!(step_mbps(&climb, 100.0), 20.0);
        streams(&mut climb, 440, 150.0, 2.5);
        assert_eq!(step_mbps(&climb, 100.0), 40.0);
        streams(&mut climb, 1, 120.0, 2.5);
        assert_eq!(step_mbps(&climb, 100.0), 10.0);
    }

    #[test]
    fn a_flow_of_long_streams_surges_later() {
        let mut climb = climb();
        // A round trip and 32 streams of 100 ms are 33 streams.
        streams(&mut climb, 32, 150.0, 100.0);
        assert_eq!(step_mbps(&climb, 100.0), 80.0);
        streams(&mut climb, 1, 150.0, 100.0);
        assert_eq!(step_mbps(&climb, 100.0), 160.0);
    }

    #[test]
    fn a_search_lets_a_flow_climb_by_half_per_feedback_until_an_estimate_is_as_low_as_its_rate() {
        let mut climb = climb();
        climb.kappa = 0.1;
        climb.search(1);
        streams(&mut climb, 1, 101.0, 0.0);
        assert_eq!(step_mbps(&climb, 100.0), 125.0, "50 in the round trip of 100 ms, of the 250 ms of tau");
        streams(&mut climb, 1, 100.0, 0.0);
        assert_eq!(step_mbps(&climb, 100.0), 10.0);
    }

    #[test]
    fn a_search_after_another_protocols_slow_start_ends_with_the_second_low_estimate_of_bursts_in_a_row() {
        // Whether the search goes on after streams of bursts of so many packets, and of these estimates, of which the
        // second one is new or not.
        let goes_on = |burst, is_new, estimates: &[f64]| {
            let mut climb = climb();
            climb.kappa = 0.1;
            climb.search(2);
            for (index, &mbps) in estimates.iter().enumerate() {
                climb.begin_stream(1e8, &StreamStart { burst, is_new: is_new || index != 1, ..stream(mbps, 0.0) });
            }
            step_mbps(&climb, 100.0) > 100.0
        };
        assert!(goes_on(2, true, &[90.0]) && goes_on(2, true, &[90.0, 101.0, 90.0]));
        assert!(!goes_on(2, true, &[90.0, 90.0]));
        assert!(goes_on(2, false, &[90.0, 90.0]), "one estimate counts once");
        assert!(!goes_on(1, true, &[90.0]), "a stream of single packets");
    }

    #[test]
    fn the_floor_lets_slow_flows_climb_faster_for_their_size() {
        let mut climb = climb();
        climb.parameters.floor = Rate::from_mbps(1.0);
        climb.kappa = 0.0;
        assert_eq!([1.0, 100.0].map(|mbps| step_mbps(&climb, mbps)), [1.0, 10.0]);
        climb.parameters.climb_in_round_trip = 0.1;
        assert_eq!(step_mbps(&climb, 1.0), 0.25, "a tenth in 100 ms, of the 250 ms of tau");
        let ms = Duration::from_millis;
        assert_eq!(climb.floor_step(1e6, RTT, ms(25)), 0.2e6, "until feedback arrives from the stream");
        assert_eq!(climb.floor_step(1e6, RTT, ms(250)), 0.1e6, "within tau, if feedback takes longer");
    }

    #[test]
    fn times_are_shorter_where_feedback_is_fast() {
        let (mut climb, of_100_mbps) = (climb(), stream(100.0, 0.0));
        climb.parameters.slow_feedback = Duration::from_millis(100);
        climb.parameters.young_floor = Rate::from_mbps(1.0);
        let mut begin = |rtt, stream| {
            let (rtt, duration) = (Duration::from_millis(rtt), Duration::from_millis(stream));
            climb.begin_stream(1e8, &StreamStart { rtt, duration, ..of_100_mbps });
            (climb.time_scale, climb.share_of_tau(Duration::from_millis(1)), climb.age)
        };
        let ms = Duration::from_millis;
        assert_eq!(begin(100, 10), (1.0, 1.0 / 250.0, ms(10)));
        assert_eq!(begin(15, 10), (0.25, 1.0 / 62.5, ms(50)), "a round trip and a stream");
        assert_eq!(begin(1, 1), (0.05, 1.0 / 12.5, ms(70)), "a twentieth at least");
    }

    #[test]
    fn where_losses_are_the_only_signal_a_flow_climbs_by_a_packet_per_round_trip() {
        let mut climb = climb();
        let lossy = StreamStart { excess: Some(0.0), ..stream(1000.0, 25.0) };
        climb.search(1);
        climb.begin_stream(100e6, &lossy);
        // A packet of 10,000 bits per 100 ms is a floor of 100 kbps, and kappa has its least value.
        assert_eq!((climb.largest_step(10e6, &lossy) / 1e4).round(), 200.0, "a tenth of 10 Mbps, and a tenth more");
        assert_eq!((climb.largest_step(1e6, &lossy) / 1e4).round(), 42.0, "a third of 1 Mbps, and a tenth more");
        assert_eq!(
            (climb.largest_step(1e3, &lossy) / 1e1).round(),
            210.0,
            "once its rate at most while feedback takes, and a tenth of it"
        );
        climb.begin_stream(100e6, &stream(1000.0, 25.0));
        assert!(climb.largest_step(10e6, &stream(1000.0, 25.0)) < 1.01e6, "neither floor nor search");
    }

    #[test]
    fn behind_batches_a_burst_grows_by_one_packet_within_tau() {
        let after = |burst, batches| {
            let mut climb = climb();
            let start = StreamStart { burst, batches: Duration::from_millis(batches), ..stream(1000.0, 25.0) };
            climb.begin_stream(100e6, &start);
            (climb.largest_step(100e6, &start) / 1e4).round() / 100.0
        };
        assert_eq!([after(1, 2), after(4, 2), after(100, 2)], [80.0, 25.0, 10.0], "kappa is a tenth at least");
        assert_eq!(after(4, 0), 80.0, "bursts of a host");
    }

    #[test]
    fn a_flow_that_begins_climbs_faster() {
        let mut climb = climb();
        climb.parameters.young_floor = Rate::from_mbps(4.0);
        let steps = [(); 6].map(|()| {
            let step = climb.floor_step(100e6, RTT, Duration::ZERO) / 1e6;
            climb.wait(Duration::from_millis(25 * 250), RTT, Duration::ZERO);
            step.round()
        });
        // The roots of 4, 3, 2, 1 and 0 Mbps times 100 Mbps.
        assert_eq!(steps, [20.0, 17.0, 14.0, 10.0, 0.0, 0.0]);
    }
}
