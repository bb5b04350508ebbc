//! The sending party: a window protocol and a packet-scale one, of which one is in charge.

use super::Hybrid;
use super::catch_up::CatchUp;
use super::competition::{Before, Competition, TooLittle};
use super::error_window::ErrorWindow;
use super::packet_scale::PacketScaleSender;
use super::window::WindowSender;
use crate::roles::{Ack, Conditions, Loss, Next, Pipe, Report, Sender, Stamp, State};
use crate::slow_start::SlowStart;
use crate::thalweg::LossClassifier;
use crate::units::{Bytes, Duration, Rate, Time};

/// After the packet-scale protocol has given up once, it takes over only above this multiple of the parameter
/// `threshold`. Its estimates err by much less.
const MARGIN: f64 = 1.1;

/// After the packet-scale protocol has given up because the host did not keep its times, or because it got too
/// little, it does not take over again for this long, and each further time for twice as long.
const REST: Duration = Duration::from_millis(10_000);

/// It does not rest for longer than this, as other traffic may have ended.
const LONGEST_REST: Duration = Duration::from_millis(80_000);

/// A round-trip time above this multiple of the least one is that of a flow that came to others' queue. Slow start
/// alone seldom has as much of a queue where the packet-scale protocol takes over. A buffer of less than a quarter of
/// the bandwidth-delay product holds no such queue, and neither does one that was full from the flow's first packet on.
const QUEUE: f64 = 1.25;

/// Switches between the two protocols.
pub(super) struct HybridSender {
    hybrid: Hybrid,
    host: Conditions,
    packet: Bytes,
    window: WindowSender,
    packet_scale: PacketScaleSender,
    in_charge: InCharge,
    /// What a packet-scale protocol that gives way to queues gets, while it is in charge.
    competition: Option<Competition>,
    /// The slow start in which a window protocol regains what a packet-scale protocol gave away, until it ends.
    catch_up: Option<CatchUp>,
    /// The packet-scale protocol takes over when the bandwidth-delay product exceeds this multiple of the parameter, or
    /// the window that errors allow.
    margin: f64,
    /// The packet-scale protocol does not take over before this time, and how long it rests the next time.
    rests_until: Time,
    rest: Duration,
    /// Tells which losses are transmission errors.
    classifier: LossClassifier,
    /// The window that a window protocol reaches despite these errors.
    error_window: ErrorWindow,
    /// The stream of the last estimate.
    last_stream: Option<u32>,
    /// The newest and the least round-trip time, once there is one.
    rtt: Option<Rtt>,
}

#[derive(Clone, Copy)]
struct Rtt {
    newest: Duration,
    least: Duration,
}

/// Which protocol decides.
#[derive(Clone, Copy)]
enum InCharge {
    /// The window protocol, since this time.
    Window { since: Time },
    /// The packet-scale protocol, whose last `low` estimates in a row were below the threshold.
    PacketScale { low: u32 },
}

impl HybridSender {
    /// A sender that has sent nothing yet. The window protocol is in charge.
    pub fn new(hybrid: &Hybrid, host: &Conditions) -> HybridSender {
        HybridSender {
            hybrid: hybrid.clone(),
            host: *host,
            packet: host.packet,
            window: WindowSender::new(hybrid.window, hybrid.slow_start, host),
            packet_scale: hybrid.packet_scale.sender(host),
            in_charge: InCharge::Window { since: Time::ZERO },
            competition: None,
            catch_up: None,
            margin: 1.0,
            rests_until: Time::ZERO,
            rest: REST,
            classifier: hybrid.packet_scale.classifier(),
            error_window: ErrorWindow::default(),
            last_stream: None,
            rtt: None,
        }
    }

    fn in_charge(&mut self) -> &mut dyn Sender {
        match self.in_charge {
            InCharge::Window { .. } => self.window.as_sender(),
            InCharge::PacketScale { .. } => self.packet_scale.as_sender(),
        }
    }

    /// The estimate of a report, if its stream differs from that of the last report.
    fn new_estimate(&mut self, report: Option<Report>) -> Option<Rate> {
        let Some(Report::Available { stream, rate, .. }) = report else { return None };
        (self.last_stream.replace(stream) != Some(stream)).then_some(Rate::from_bps(f64::from(rate)))
    }

    /// The bandwidth-delay product, in bytes, above which the packet-scale protocol takes over: `margin` times the
    /// parameter, or the window that errors allow if that is less. The window of a window protocol varies around the
    /// latter, and exceeds it by the margin only by chance.
    fn threshold(&self, margin: f64) -> f64 {
        (margin * self.hybrid.threshold.0 as f64).min(self.error_window.packets() * self.packet.0 as f64)
    }

    /// Whether errors make the threshold less than the parameter.
    fn lowered_by_errors(&self) -> bool {
        self.threshold(1.0) < self.hybrid.threshold.0 as f64
    }

    /// Section VI-C: "once the congestion-window of the sender exceeds a threshold, th_cwin, the transfer switches to
    /// RAPID".
    fn consider_packet_scale(&mut self, now: Time, rtt: Rtt, ack: &Ack) {
        let Some(window) = self.window.state().window else { return };
        // The part of the window that is not in flight, because the host sends less, does not count, and neither does
        // the part that waits in queues.
        let held = (window * self.packet.0 as f64).min((ack.in_flight + ack.acked).0 as f64);
        let rests = now < self.rests_until || self.catch_up.is_some();
        let is_enough = !rests && held * rtt.least.as_secs() > self.threshold(self.margin) * rtt.newest.as_secs();
        if is_enough && !(self.lowered_by_errors() && self.classifier.exceeds_error_share()) {
            let rate = Bytes(held as u64).over(rtt.newest);
            // A window protocol that nothing has stopped yet would go on with its slow start.
            let unstopped = self.window.is_unstopped();
            self.packet_scale.take_over(now, rate, rtt.newest, &self.classifier, unstopped);
            let behind_queue = rtt.newest > rtt.least.scale(QUEUE);
            let before = Before { rate, window: self.packets(held), unstopped, behind_queue };
            self.competition = self.packet_scale.gives_way().then(|| Competition::new(now, before));
            self.in_charge = InCharge::PacketScale { low: 0 };
        }
    }

    fn packets(&self, bytes: f64) -> f64 {
        bytes / self.packet.0 as f64
    }

    /// Section VI-C, on the way back: "when the bandwidth-estimation mechanism in RAPID consistently returns bandwidth
    /// estimates lower than th_AB, RAPID is turned off".
    fn consider_window(&mut self, now: Time, rtt: Rtt, estimate: Rate, low: u32) {
        let low = if estimate < self.worth(rtt) { low + 1 } else { 0 };
        self.in_charge = InCharge::PacketScale { low };
        if low >= self.hybrid.streams {
            self.margin = MARGIN;
            self.resume_window(now, None);
        }
    }

    /// The rate from which on the packet-scale protocol is worth it (th_AB).
    fn worth(&self, rtt: Rtt) -> Rate {
        Bytes(self.threshold(1.0) as u64).over(rtt.least)
    }

    /// Whether and why a packet-scale protocol that gives way to queues got too little in the period that `ack` ends.
    fn gets_too_little(&mut self, now: Time, ack: &Ack) -> Option<TooLittle> {
        let (rtt, competition) = (self.rtt?, self.competition.as_mut()?);
        if !competition.on_ack(now, ack, rtt.newest, rtt.least) {
            return None;
        }
        let worth = self.worth(rtt);
        self.competition.as_mut()?.judge(now, worth)
    }

    /// The packet-scale protocol gets too little, and does not take over again for a while.
    fn give_up(&mut self, now: Time, too_little: TooLittle) {
        self.margin = MARGIN;
        let beside_queues = too_little == TooLittle::BesideQueues;
        let catch_up = self.competition.as_ref().filter(|_| beside_queues).map(Competition::catch_up);
        self.resume_window(now, catch_up);
        self.rest(now);
    }

    /// The packet-scale protocol does not take over for a while.
    fn rest(&mut self, now: Time) {
        self.rests_until = now + self.rest;
        self.rest = self.rest.scale(2.0).min(LONGEST_REST);
    }

    /// The window protocol resumes with what is in flight at the average rate, in slow start up to the threshold, or to
    /// where it would have gone had it stayed in charge. It may have to catch up with others.
    fn resume_window(&mut self, now: Time, catch_up: Option<CatchUp>) {
        let Some(rtt) = self.rtt else { return }; // the packet-scale protocol takes over only after an RTT was measured
        let window = self.packet_scale.average().as_bps() * rtt.newest.as_secs() / self.packet.as_bits();
        let ssthresh = match &self.competition {
            Some(competition) => competition.ssthresh(rtt.newest, self.packet),
            None => self.packets(self.threshold(1.0)),
        };
        // Delays do not tell when slow start is to end behind a queue that others have filled.
        let slow_start = if catch_up.is_some() { SlowStart::Standard } else { self.hybrid.slow_start };
        self.catch_up = catch_up;
        self.window = WindowSender::new(self.hybrid.window, slow_start, &self.host);
        self.window.resume(window.max(1.0), ssthresh);
        (self.in_charge, self.competition) = (InCharge::Window { since: now }, None);
    }

    /// Slow start goes on where a loss has ended it too soon.
    fn go_on_catching_up(&mut self) {
        let (Some(catch_up), Some(rtt)) = (&mut self.catch_up, self.rtt) else { return };
        let Some(window) = self.window.state().window else { return };
        if self.window.is_in_slow_start() {
            return;
        }
        match catch_up.go_on(window, rtt.newest, self.packet) {
            Some(ssthresh) => self.window.resume(window, ssthresh),
            None => self.catch_up = None,
        }
    }

    fn on_rtt(&mut self, rtt: Duration) {
        let least = self.rtt.map_or(rtt, |before| before.least.min(rtt));
        self.rtt = Some(Rtt { newest: rtt, least });
    }
}

/// The acknowledgment for a window protocol that resumed at `since`: packets sent before then do not grow the window.
fn without_growth_for_old_packets(now: Time, since: Time, ack: &Ack) -> Ack {
    let sent_before = ack.rtt.is_some_and(|rtt| now - rtt < since);
    Ack { app_limited: ack.app_limited || sent_before, ..*ack }
}

impl Sender for HybridSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.in_charge().next(now, pipe)
    }

    fn window(&self) -> Option<Bytes> {
        match self.in_charge {
            InCharge::Window { .. } => self.window.window(),
            InCharge::PacketScale { .. } => None,
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.in_charge().on_send(now, size, pipe)
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.on_rtt(rtt);
        }
        self.classifier.on_ack(now, ack, self.packet, None);
        self.error_window.on_ack(ack, self.packet);
        match self.in_charge {
            InCharge::Window { since } => {
                self.window.as_sender().on_ack(now, &without_growth_for_old_packets(now, since, ack))
            }
            InCharge::PacketScale { .. } => self.packet_scale.as_sender().on_ack(now, ack),
        }
        let estimate = self.new_estimate(ack.report);
        if let (Some(estimate), Some(competition)) = (estimate, &mut self.competition) {
            competition.on_estimate(estimate, self.packet_scale.average());
        }
        let too_little = self.gets_too_little(now, ack);
        // Nothing is switched while a loss is being repaired.
        let Some(rtt) = self.rtt.filter(|_| !ack.recovery) else { return };
        self.go_on_catching_up();
        match (self.in_charge, too_little, estimate) {
            (InCharge::Window { .. }, ..) => self.consider_packet_scale(now, rtt, ack),
            // A host that does not keep the times of a stream measures itself and not the path: other programs have its
            // processors. A window needs no times.
            (InCharge::PacketScale { .. }, ..) if !self.packet_scale.keeps_times() => {
                self.rest(now);
                self.resume_window(now, None);
            }
            (InCharge::PacketScale { .. }, Some(too_little), _) => self.give_up(now, too_little),
            (InCharge::PacketScale { .. }, None, Some(_)) if self.classifier.exceeds_chance() => {
                let catch_up = self.competition.as_ref().map(Competition::catch_up);
                self.resume_window(now, catch_up);
            }
            (InCharge::PacketScale { low }, None, Some(estimate)) if self.competition.is_none() => {
                self.consider_window(now, rtt, estimate, low)
            }
            (InCharge::PacketScale { .. }, ..) => {}
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        if *loss == Loss::Event && self.classifier.finds_error() {
            self.error_window.on_error();
        } else if let Some(competition) = &mut self.competition {
            competition.on_loss();
        }
        match loss {
            Loss::Event => self.catch_up.iter_mut().for_each(CatchUp::on_loss),
            Loss::Timeout => {
                if let InCharge::PacketScale { .. } = self.in_charge {
                    self.resume_window(now, None);
                }
                self.catch_up = None;
            }
        }
        self.in_charge().on_loss(now, loss);
    }

    fn on_idle(&mut self, now: Time) {
        self.catch_up = None;
        self.in_charge().on_idle(now);
    }

    fn state(&self) -> State {
        match self.in_charge {
            InCharge::Window { .. } => self.window.state(),
            InCharge::PacketScale { .. } => self.packet_scale.state(),
        }
    }

    fn available(&self) -> Option<Rate> {
        match self.in_charge {
            InCharge::Window { .. } => None,
            InCharge::PacketScale { .. } => self.packet_scale.available(),
        }
    }

    fn slow_start_threshold(&self) -> Option<f64> {
        match self.in_charge {
            InCharge::Window { .. } => self.window.slow_start_threshold(),
            InCharge::PacketScale { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;
    use crate::roles::Phase;

    const PACKET: Bytes = Bytes(1000);
    const RTT: Duration = Duration::from_millis(100);

    fn ack(acked: u64, rtt: Duration) -> Ack {
        Ack { acked: Bytes(acked * PACKET.0), rtt: Some(rtt), ..Ack::default() }
    }

    /// A sender after slow start to a window of 2560 packets, of which `in_flight` are in flight at the end; the
    /// threshold is 2500.
    fn grown_with(host: &Conditions, rtt: Duration, in_flight: u64) -> Box<dyn Sender> {
        grown_as(&Hybrid::default(), host, rtt, in_flight)
    }

    fn grown_as(hybrid: &Hybrid, host: &Conditions, rtt: Duration, in_flight: u64) -> Box<dyn Sender> {
        let mut sender = hybrid.sender(host);
        sender.on_ack(Time::ZERO, &ack(1, RTT));
        for w in [3, 6, 12, 24, 48, 96, 192, 384, 768, 1024] {
            let in_flight = Bytes(in_flight.saturating_sub(w) * PACKET.0);
            sender.on_ack(Time::ZERO, &Ack { in_flight, ..ack(w, rtt) });
        }
        sender
    }

    /// The same, with the whole window in flight.
    fn grown(rtt: Duration) -> Box<dyn Sender> {
        grown_with(&Conditions::exact(PACKET), rtt, 2560)
    }

    fn estimate(stream: u32, mbps: f64) -> Ack {
        Ack { report: Some(Report::Available { stream, rate: mbps as f32 * 1e6, interval: 0 }), ..ack(1, RTT) }
    }

    #[test]
    fn rapid_takes_over_at_the_rate_of_the_window() {
        let state = grown(RTT).state();
        assert_eq!((state.phase, state.window), (Phase::Probing, None));
        assert_eq!(state.rate.unwrap().as_mbps().round(), 205.0); // 2560 packets of 1000 B in 100 ms
        let queued = grown(RTT.scale(1.1)).state();
        assert_eq!(queued.phase, Phase::SlowStart, "a tenth of the same window waits in a queue");
        let idle = grown_with(&Conditions::exact(PACKET), RTT, 2000).state();
        assert_eq!(idle.phase, Phase::SlowStart, "the host does not use the window");
    }

    /// On a host that sends each burst 10 ms late.
    #[test]
    fn a_host_that_does_not_keep_its_times_goes_on_with_the_window_and_rests_longer_each_time() {
        let quantum = Duration::from_micros(200);
        let host = Conditions { timing_error: quantum, quantum, ..Conditions::exact(PACKET) };
        let mut sender = grown_with(&host, RTT, 2560);
        let full = Ack { in_flight: Bytes(4_000_000), ..ack(1000, RTT) };
        let pipe = Pipe { in_flight: Bytes(0), backlog: Bytes(u64::MAX), packet: PACKET, repairing: false };
        let (mut now, mut begun) = (Time::ZERO, [Time::ZERO; 3]);
        for began in &mut begun {
            while sender.window().is_some() {
                now += Duration::from_millis(100);
                sender.on_ack(now, &full);
            }
            *began = now;
            while sender.window().is_none() {
                if let Next::At(time) = sender.next(now, &pipe) {
                    now = time + Duration::from_millis(10);
                }
                sender.on_send(now, PACKET, &pipe);
                sender.on_ack(now, &ack(1, RTT));
            }
        }
        let rests = [begun[1].since(begun[0]), begun[2].since(begun[1])].map(|rest| (rest.as_secs() / 10.0).floor());
        assert_eq!(rests, [1.0, 2.0]);
    }

    /// The rate after 0.1 s in which estimates say that twice as much is free.
    fn climbs_to(sender: &mut dyn Sender) -> f64 {
        let pipe = Pipe { in_flight: Bytes(1_000_000), backlog: Bytes(u64::MAX), packet: PACKET, repairing: false };
        let mut now = Time::ZERO;
        sender.on_ack(now, &estimate(9, 400.0));
        while now < Time::ZERO + RTT {
            match sender.next(now, &pipe) {
                Next::At(time) => now = time,
                _ => drop(sender.on_send(now, PACKET, &pipe)),
            }
        }
        sender.state().rate.unwrap().as_mbps()
    }

    #[test]
    fn thalweg_climbs_on_where_it_interrupts_a_slow_start() {
        let mut unstopped = grown_as(&Hybrid::of_thalweg(), &Conditions::exact(PACKET), RTT, 2560);
        assert_eq!(unstopped.state().phase, Phase::Probing);
        let climbed = climbs_to(unstopped.as_mut());
        assert!((270.0..310.0).contains(&climbed), "by about half of 205 Mbps in a round trip: {climbed}");
    }

    #[test]
    fn eight_low_estimates_in_a_row_bring_the_window_protocol_back() {
        let mut sender = grown(RTT);
        let estimates = [150.0; 7].into_iter().chain([300.0]).chain([150.0; 8]);
        for (stream, mbps) in (1..).zip(estimates) {
            assert_eq!(sender.state().phase, Phase::Probing, "before the estimate of stream {stream}");
            sender.on_ack(Time::ZERO, &estimate(stream, mbps));
            sender.on_ack(Time::ZERO, &estimate(stream, mbps)); // reports come again with later acknowledgments
        }
        let state = sender.state();
        assert_eq!(state.phase, Phase::CongestionAvoidance);
        assert_eq!(state.window.unwrap().round(), 2560.0, "what RAPID had in flight: it sent no stream since");
    }

    /// Others fill the queue for two seconds, and then packets are lost in each round trip.
    #[test]
    fn where_others_have_filled_the_buffer_a_loss_does_not_end_slow_start() {
        let lossy_phases = |queued: Duration| {
            let mut sender = grown_as(&Hybrid::of_thalweg(), &Conditions::exact(PACKET), queued, 3500);
            sender.on_ack(Time::ZERO, &Ack { in_flight: Bytes(3_500_000), ..ack(1024, queued) });
            assert_eq!(sender.state().phase, Phase::Probing);
            let mut now = Time::ZERO;
            while sender.window().is_none() {
                now += Duration::from_millis(10);
                sender.on_ack(now, &ack(10, RTT.scale(3.0)));
                assert!(now < Time::ZERO + Duration::from_millis(2000), "thalweg has a twentieth of what it had");
            }
            [(); 3].map(|()| {
                let phase = sender.state().phase;
                sender.on_loss(now, &Loss::Event);
                sender.on_ack(now, &Ack { recovery: true, ..ack(1, RTT) });
                sender.on_ack(now, &ack(1, RTT));
                phase
            })
        };
        let (slow_start, avoidance) = (Phase::SlowStart, Phase::CongestionAvoidance);
        assert_eq!(lossy_phases(RTT), [slow_start, slow_start, avoidance], "they came at the same time");
        assert_eq!(lossy_phases(RTT.scale(1.3)), [slow_start, avoidance, avoidance], "they were there before");
    }

    #[test]
    fn the_window_does_not_grow_for_packets_that_rapid_sent() {
        let mut sender = grown(RTT);
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        (1..=8).for_each(|stream| sender.on_ack(ms(1000), &estimate(stream, 20.0)));
        let resumed = sender.state().window;
        assert!(resumed.is_some());
        sender.on_ack(ms(1050), &ack(1, RTT));
        assert_eq!(sender.state().window, resumed, "sent at 950 ms");
        sender.on_ack(ms(1101), &ack(1, RTT));
        assert!(sender.state().window > resumed, "sent at 1001 ms");
    }

    #[test]
    fn after_a_timeout_the_window_protocol_begins_afresh() {
        let mut sender = grown(RTT);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(sender.state().window, Some(1.0));
    }
}
