//! The sending party: when each packet of the p-streams leaves, in slow start, while probing and in recovery.

use super::filter::Filter;
use crate::pstream::{
    Feedback, INITIAL_RTT, Layout, MIN_RATE_SHARE, Outgoing, SlowStart, Stream, at_most_highest, feedback_timeout,
};
use crate::roles::{Ack, Conditions, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Duration, Rate, Time};

/// What distinguishes the two versions, and their parameters.
#[derive(Clone, Debug)]
pub struct Version {
    /// Packets in a p-stream (N), or bursts on a host that sends bursts.
    pub len: u16,
    /// Its spread factor (m).
    pub spread: f64,
    /// Which rate its first packet has.
    pub layout: Layout,
    /// The streams of slow start.
    pub slow_start: SlowStart,
    /// Mean rate of the first stream of slow start (r_init).
    pub initial_rate: Rate,
    /// Factor on the average rate after a loss (beta).
    pub beta: f64,
    /// How the average rate follows the estimates.
    pub filter: Filter,
    /// Whether a timeout begins the search afresh (2017). If not, it is a loss like any other (2009).
    pub afresh: bool,
}

/// The sender's state machine:
///
/// | from | event | to |
/// |---|---|---|
/// | slow start | an estimate below the present stream's highest rate | probing, at the estimate |
/// | slow start | another estimate | slow start, with the next stream |
/// | slow start, probing | a loss event | recovery |
/// | recovery | a loss event | recovery, at beta times the rate |
/// | recovery | the loss is repaired | probing, at beta times the rate (or beta times slow start's estimate) |
/// | any | a retransmission or feedback timeout | slow start, at the initial rate (2017) |
/// | probing, recovery | a retransmission or feedback timeout | probing, at beta times the rate (2009) |
/// | slow start | a retransmission or feedback timeout | slow start, at the initial rate (2009) |
///
/// **Decided**: after a timeout, slow start takes any late estimate for that of its present stream, even if an earlier
/// stream yielded it.
pub struct RapidSender {
    version: Version,
    packet: Bytes,
    mode: Mode,
    /// The mean rate of the present p-stream (r_avg).
    average: Rate,
    /// The newest estimate of the available bandwidth (ABest).
    estimate: Option<Rate>,
    feedback: Feedback,
    outgoing: Outgoing,
    /// The highest over the average rate of a full stream.
    top: f64,
    /// The newest round-trip time.
    rtt: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Sends a slow-start stream of up to `len` bursts whose estimate is at most `top`, then waits for
    /// it.
    SlowStart { len: u16, top: Rate },
    /// Sends p-streams.
    Probing,
    /// Repairs a loss; no probing.
    Recovery(Interrupted),
}

/// What a loss interrupted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Interrupted {
    SlowStart,
    Probing,
}

impl RapidSender {
    /// A sender that has sent nothing yet.
    pub fn new(version: Version, host: &Conditions) -> RapidSender {
        let mut sender = RapidSender {
            packet: host.packet,
            mode: Mode::Probing,
            average: version.initial_rate,
            estimate: None,
            feedback: Feedback::default(),
            outgoing: Outgoing::new(Stream::uniform(0, version.initial_rate), host),
            top: Stream::top_over_average(version.len, version.spread, version.layout),
            rtt: INITIAL_RTT,
            version,
        };
        sender.restart();
        sender
    }

    /// The mean rate of the present p-stream.
    pub(crate) fn average(&self) -> Rate {
        self.average
    }

    /// Whether the host sends about when the streams say.
    pub(crate) fn keeps_times(&self) -> bool {
        self.outgoing.bursts().keeps_times()
    }

    /// Takes over, now, from another protocol that sent at `rate`. There is no slow start, as streams around that rate
    /// find out whether more is available.
    pub(crate) fn take_over(&mut self, now: Time, rate: Rate, rtt: Duration) {
        self.mode = Mode::Probing;
        self.set_average(rate);
        self.rtt = rtt;
        // Estimates of streams from before the other protocol took over are out of date.
        self.estimate = None;
        self.feedback.ignore_before(self.outgoing.next_id());
        self.feedback.restart(now);
        self.outgoing.forget_lateness();
        self.outgoing.wait_from(now);
        self.outgoing.end();
    }

    /// Begins afresh at the initial rate (PACKET-SCALE-2017, section IV-C).
    fn restart(&mut self) {
        self.estimate = None;
        let SlowStart { first, .. } = self.version.slow_start;
        self.begin_slow_start(first, self.version.slow_start.first_rate(self.version.initial_rate));
    }

    fn set_average(&mut self, rate: Rate) {
        self.average = self.at_least(rate);
    }

    fn at_least(&self, rate: Rate) -> Rate {
        let least = self.version.initial_rate * MIN_RATE_SHARE;
        if rate < least { least } else { rate }
    }

    fn begin_slow_start(&mut self, len: u16, first: Rate) {
        let stream = self.version.slow_start.stream(self.outgoing.next_id(), len, first, self.outgoing.bursts());
        self.average = stream.average();
        let top = self.version.slow_start.highest_estimate(&stream, self.outgoing.bursts());
        self.mode = Mode::SlowStart { len, top };
        self.outgoing.begin(stream);
    }

    /// Begins the next p-stream, after applying the filter ("just before sending out a new p-stream", section V-A2).
    fn begin_stream(&mut self, pipe: &Pipe) {
        if let Some(estimate) = self.estimate {
            let len = match self.version.layout {
                Layout::AllRising => self.len(pipe), // "the duration of the new p-stream to be sent" (2017)
                Layout::AverageFirst => self.outgoing.stream().length(), // "of the most-recent p-stream" (2009)
            };
            self.set_average(self.version.filter.apply(self.average, estimate, self.duration(len)));
        }
        let (len, Version { spread, layout, .. }) = (self.len(pipe), &self.version);
        self.outgoing.begin(Stream::new(self.outgoing.next_id(), len, *spread, self.average, *layout));
    }

    /// The number of bursts in the next p-stream. The sender never waits for more data: if there is less than a full
    /// stream, it sends a shorter one (2017, footnote 10; 2009, footnote 5).
    fn len(&self, pipe: &Pipe) -> u16 {
        pipe.backlog.0.div_ceil(self.burst().0).clamp(1, u64::from(self.version.len)) as u16
    }

    /// The size of a burst of a full p-stream at the average rate.
    fn burst(&self) -> Bytes {
        Bytes(self.packet.0 * u64::from(self.outgoing.bursts().packets(self.average * self.top)))
    }

    /// How long a p-stream of this many bursts lasts at the average rate (L).
    fn duration(&self, len: u16) -> Duration {
        self.average.time_for(Bytes(self.burst().0 * u64::from(len)))
    }

    fn feedback_deadline(&self) -> Time {
        let stream = match self.mode {
            // The average rate is that of the present stream.
            Mode::SlowStart { .. } => {
                self.average.time_for(Bytes(self.outgoing.burst().0 * u64::from(self.outgoing.stream().length())))
            }
            Mode::Probing | Mode::Recovery(_) => self.duration(self.version.len),
        };
        self.feedback.deadline(feedback_timeout(self.rtt, stream))
    }

    /// "Bandwidth probing is turned off during loss recovery" (section IV-C). **Decided**: recovery sends at r_avg,
    /// because the papers reduce r_avg only after recovery. In slow start, r_avg is the mean rate of its present
    /// stream. **Decided**: no more than the last estimate, as the mean rate of a later stream of slow start may exceed
    /// the capacity by far.
    fn begin_recovery(&mut self, interrupted: Interrupted) {
        if let (Interrupted::SlowStart, Some(estimate)) = (interrupted, self.estimate)
            && estimate < self.average
        {
            self.set_average(estimate);
        }
        self.mode = Mode::Recovery(interrupted);
        self.outgoing.begin(Stream::uniform(self.outgoing.next_id(), self.average));
    }

    /// "After loss recovery [...] the sender reduces r_avg by a multiple beta and resumes the sending of p-streams"
    /// (section IV-C; RAPID-2009, section III-A6). **Decided**: if the loss interrupted slow start and an estimate has
    /// arrived since slow start began, the new r_avg is beta times that estimate.
    fn end_recovery(&mut self, now: Time) {
        let Mode::Recovery(interrupted) = self.mode else { return };
        let found = self.estimate.filter(|_| interrupted == Interrupted::SlowStart);
        self.set_average(found.unwrap_or(self.average) * self.version.beta);
        // **Decided**: estimates of streams that were sent before the loss are out of date, as streams behind a full
        // buffer look uncongested.
        self.estimate = None;
        self.mode = Mode::Probing;
        self.feedback.restart(now);
        self.outgoing.end();
    }

    /// A retransmission or feedback timeout. PACKET-SCALE-2017 "begins the bandwidth search process afresh" at r_init
    /// (section IV-C). RAPID-2009 names timeouts beside fast recovery, and reduces r_avg by 0.5 after either (III-A6);
    /// **decided**: in slow start, which has no r_avg yet, it begins afresh, too.
    fn time_out(&mut self, now: Time) {
        self.feedback.restart(now);
        self.outgoing.wait_from(now);
        if self.version.afresh || matches!(self.mode, Mode::SlowStart { .. }) {
            self.restart();
        } else {
            self.set_average(self.average * self.version.beta);
            self.estimate = None;
            self.mode = Mode::Probing;
            self.outgoing.end();
        }
    }

    fn on_estimate(&mut self, now: Time, stream: u32, estimate: Rate) {
        if !self.feedback.on_estimate(now, stream) {
            return;
        }
        let estimate = at_most_highest(estimate);
        self.estimate = Some(estimate);
        // **Decided**: if a slow-start stream lost its last packets, its estimate arrives only after the timeout, when
        // slow start has restarted. The sender uses it; otherwise it would repeat the same lossy burst for ever.
        if let Mode::SlowStart { len, top } = self.mode {
            if SlowStart::ends_with(estimate, top) {
                self.set_average(estimate);
                self.mode = Mode::Probing;
                self.outgoing.end();
            } else {
                self.begin_slow_start(self.version.slow_start.len_after(len), estimate);
            }
            // The sender has usually been idle for a round trip, so that the first packet of the next stream needs no
            // gap. (A late estimate, after a timeout, may end a stream that is being sent: one packet then leaves
            // early.)
            self.outgoing.wait_for_nothing();
        }
    }
}

impl Sender for RapidSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        let is_over = self.outgoing.is_over();
        // The feedback timeout runs while data is in flight and the present stream probes, and while slow start waits
        // for its estimate. The latter holds even if all packets of that stream were lost.
        let waits = matches!(self.mode, Mode::SlowStart { .. }) && is_over;
        if (pipe.in_flight == Bytes(0) && !waits) || !self.outgoing.stream().probes() {
            self.feedback.restart(now);
        }
        if now > self.feedback_deadline() {
            self.time_out(now);
        }
        if self.outgoing.is_over() {
            match self.mode {
                // One stream per round trip: wait for its estimate.
                Mode::SlowStart { .. } => {
                    return Next::At((self.feedback_deadline() + Duration(1)).max(now + Duration(1)));
                }
                // A uniform stream has no end, so this is reached only while probing.
                Mode::Probing | Mode::Recovery(_) => self.begin_stream(pipe),
            }
        }
        self.outgoing.next(now)
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.outgoing.on_send(now, size, pipe)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.outgoing.on_rtt(now, rtt);
        }
        if let Some(Report::Available { stream, rate, .. }) = ack.report {
            self.on_estimate(now, stream, Rate::from_bps(f64::from(rate)));
        }
        if !ack.recovery {
            self.end_recovery(now);
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        if *loss == Loss::Event {
            self.outgoing.on_loss(now);
        }
        match (loss, self.mode) {
            (Loss::Timeout, _) => self.time_out(now),
            (Loss::Event, Mode::SlowStart { .. }) => self.begin_recovery(Interrupted::SlowStart),
            (Loss::Event, Mode::Probing) => self.begin_recovery(Interrupted::Probing),
            (Loss::Event, Mode::Recovery(interrupted)) => {
                // Packets that were sent during recovery were lost, too.
                self.set_average(self.average * self.version.beta);
                self.begin_recovery(interrupted);
            }
        }
    }

    fn state(&self) -> State {
        let phase = match self.mode {
            Mode::SlowStart { .. } => Phase::SlowStart,
            Mode::Probing => Phase::Probing,
            Mode::Recovery(_) => Phase::Recovery,
        };
        State { window: None, rate: Some(self.average), phase }
    }

    fn available(&self) -> Option<Rate> {
        self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rapid::Rapid;

    const PACKET: Bytes = Bytes(1000);

    fn sender() -> RapidSender {
        RapidSender::new(Rapid::default().version(), &Conditions::exact(PACKET))
    }

    /// A host whose timers are late: stamps say when packets left, and the stream takes as long as planned.
    #[test]
    fn a_late_host_sends_late_but_keeps_to_the_schedule() {
        let late = Duration::from_micros(3);
        let mut sender = sender();
        let (mut now, mut due) = (Time::ZERO, Time::ZERO);
        let mut pipe = Pipe { backlog: Bytes(u64::MAX), packet: PACKET, ..Pipe::default() };
        let (first, _) = sender.outgoing.stream().range();
        for index in 0..10u32 {
            if let Next::At(time) = sender.next(now, &pipe) {
                due += (first * 2f64.powi(index as i32)).time_for(PACKET); // slow start doubles the rate
                assert_eq!(time, due, "packet {index}");
                now = time + late;
            }
            let Stamp::Probe { sent, .. } = sender.on_send(now, PACKET, &pipe) else { panic!("a stamp") };
            assert_eq!(sent, now, "packet {index}");
            pipe.in_flight += PACKET;
        }
        assert!(now > Time::ZERO + Duration::from_millis(70), "{now}");
    }

    fn shown(sender: &RapidSender) -> (Phase, f64) {
        (sender.state().phase, sender.state().rate.unwrap().as_mbps())
    }

    #[test]
    fn the_rate_is_lowered_after_recovery() {
        let mut sender = sender();
        (sender.mode, sender.average) = (Mode::Probing, Rate::from_mbps(80.0));
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!((shown(&sender), sender.outgoing.stream().probes()), ((Phase::Recovery, 80.0), false));
        sender.on_ack(Time::ZERO, &Ack { recovery: true, ..Ack::default() });
        assert_eq!(shown(&sender), (Phase::Recovery, 80.0));
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!(shown(&sender), (Phase::Recovery, 40.0), "what recovery sends is lost, too");
        sender.on_ack(Time::ZERO, &Ack::default());
        assert_eq!(shown(&sender), (Phase::Probing, 20.0));
    }

    #[test]
    fn after_a_loss_in_slow_start_the_rate_is_lowered_from_what_that_has_found() {
        let mut sender = sender();
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!(sender.mode, Mode::Recovery(Interrupted::SlowStart));
        let report = Some(Report::Available { stream: 1, rate: 60e6, interval: 0 });
        sender.on_ack(Time::ZERO, &Ack { recovery: true, report, ..Ack::default() });
        sender.on_ack(Time::ZERO, &Ack::default());
        assert_eq!(shown(&sender), (Phase::Probing, 30.0));
    }

    /// RAPID-2009, section III-A6.
    #[test]
    fn a_timeout_halves_the_rate_of_2009() {
        let version = Version { afresh: false, ..Rapid::default().version() };
        let mut sender = RapidSender::new(version, &Conditions::exact(PACKET));
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(sender.state().phase, Phase::SlowStart, "no average rate yet");
        (sender.mode, sender.average) = (Mode::Probing, Rate::from_mbps(80.0));
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(shown(&sender), (Phase::Probing, 40.0));
    }

    #[test]
    fn a_timeout_begins_slow_start_afresh() {
        let mut sender = sender();
        (sender.mode, sender.average) = (Mode::Probing, Rate::from_mbps(80.0));
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(sender.state().phase, Phase::SlowStart);
        let mean = sender.outgoing.stream().average().as_mbps();
        assert!((mean - 1.0).abs() < 1e-9, "{mean}");
    }

    /// Behind a receiver whose packets all arrive at the same moment, each stream looks as if the path had all of its
    /// top rate.
    #[test]
    fn time_goes_on_whatever_the_estimates_say() {
        let mut sender = sender();
        let pipe = Pipe { backlog: Bytes(u64::MAX), packet: PACKET, in_flight: PACKET, ..Pipe::default() };
        let mut now = Time::ZERO;
        for stream in 0..200 {
            let begun = now;
            for _ in 0..1000 {
                match sender.next(now, &pipe) {
                    // It waits for an estimate.
                    Next::At(time) if sender.outgoing.is_over() && time > now => break,
                    Next::At(time) => now = time,
                    _ => {
                        sender.on_send(now, PACKET, &pipe);
                    }
                }
            }
            assert!(now > begun, "a thousand packets at once, in round {stream}");
            let stream = sender.outgoing.stream();
            let report =
                Some(Report::Available { stream: stream.id(), rate: stream.range().1.as_bps() as f32, interval: 0 });
            sender.on_ack(now, &Ack { report, rtt: Some(Duration::from_millis(50)), ..Ack::default() });
        }
    }
}
