//! One host, whose stack is the test, in made-up time.

use control::{Ack, Bytes, Duration, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State, Time};
use std::sync::{Arc, Mutex};
use thalweg_host::{AckEnd, EcnCounts, EcnState, Host, Lost, Packet, Waiting};

const PACKET: Bytes = Bytes(1200);
const STAMP: Bytes = Bytes(48);
/// More than the host lets leave at any time here.
const PLENTY: Waiting = Waiting { backlog: Bytes(u64::MAX), received: 0 };

fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// What a sender is told.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Told {
    Opened { rtt: Duration, answered: bool },
    Sent { in_flight: u64 },
    Acked { acked: u64, lost: u64, rtt: Option<Duration>, recovery: bool, app_limited: bool },
    Lost(Loss),
}

/// A sender that answers what the test says, and writes down what it is told and when.
#[derive(Clone)]
struct Recorder {
    next: Arc<Mutex<Next>>,
    window: Arc<Mutex<Option<Bytes>>>,
    told: Arc<Mutex<Vec<(Time, Told)>>>,
    /// Bytes that acknowledgments told to be marked.
    marked: Arc<Mutex<Vec<u64>>>,
    question: Stamp,
    /// The window after a timeout, if that brings one.
    resumes: Arc<Mutex<Option<Bytes>>>,
}

impl Recorder {
    fn new(next: Next) -> Recorder {
        Recorder {
            next: Arc::new(Mutex::new(next)),
            window: Arc::default(),
            told: Arc::default(),
            marked: Arc::default(),
            question: Stamp::None,
            resumes: Arc::default(),
        }
    }

    fn say(&self, next: Next) {
        *self.next.lock().unwrap() = next;
    }

    /// What it was told since the last call.
    fn take(&self) -> Vec<Told> {
        std::mem::take(&mut *self.told.lock().unwrap()).into_iter().map(|(_, told)| told).collect()
    }

    fn write(&self, now: Time, told: Told) {
        self.told.lock().unwrap().push((now, told));
    }

    fn host(&self) -> Host {
        Host::new(PACKET, Box::new(self.clone()))
    }
}

impl Sender for Recorder {
    fn open(&mut self, _: Time) -> Stamp {
        self.question
    }
    fn on_open(&mut self, now: Time, rtt: Duration, report: Option<Report>) {
        self.write(now, Told::Opened { rtt, answered: report.is_some() });
    }
    fn next(&mut self, _: Time, _: &Pipe) -> Next {
        *self.next.lock().unwrap()
    }
    fn window(&self) -> Option<Bytes> {
        *self.window.lock().unwrap()
    }
    fn on_send(&mut self, now: Time, _: Bytes, pipe: &Pipe) -> Stamp {
        self.write(now, Told::Sent { in_flight: pipe.in_flight.0 / PACKET.0 });
        Stamp::None
    }
    fn on_ack(&mut self, now: Time, ack: &Ack) {
        let &Ack { rtt, recovery, app_limited, .. } = ack;
        self.marked.lock().unwrap().push(ack.marked.0);
        let (acked, lost) = (ack.acked.0 / PACKET.0, ack.lost.0 / PACKET.0);
        self.write(now, Told::Acked { acked, lost, rtt, recovery, app_limited });
    }
    fn on_loss(&mut self, now: Time, loss: &Loss) {
        if let (Loss::Timeout, Some(window)) = (loss, *self.resumes.lock().unwrap()) {
            *self.window.lock().unwrap() = Some(window);
        }
        self.write(now, Told::Lost(*loss));
    }
    fn state(&self) -> State {
        State { window: None, rate: None, phase: Phase::Probing }
    }
}

/// Sends packets of these sizes while the host lets them leave, and returns how many did.
fn send(host: &mut Host, now: Time, sizes: impl IntoIterator<Item = Bytes>, received: u64) -> u64 {
    let waiting = Waiting { received, ..PLENTY };
    host.on_wakeup(now, &waiting);
    let mut left = 0;
    for size in sizes {
        if !host.may_send(now, &waiting) {
            break;
        }
        host.on_sent(now, &Packet { size, sent: Some(now), received: 0, ecn_capable: false }, &waiting);
        left += 1;
    }
    left
}

fn full(host: &mut Host, now: Time, count: usize) -> u64 {
    send(host, now, std::iter::repeat_n(PACKET, count), 0)
}

/// An acknowledgment of `acked` packets sent at `sent`, after which so many are in flight.
fn ack(host: &mut Host, now: Time, sent: Time, acked: u64, in_flight: u64) {
    (0..acked).for_each(|_| host.on_acked(now, sent, PACKET));
    host.on_ack_end(now, &AckEnd { in_flight: Bytes(in_flight * PACKET.0), app_limited: false });
}

fn lost(host: &mut Host, now: Time, sent: Time, count: u64, persistent: bool) {
    host.on_lost(now, &Lost { sent, size: Bytes(count * PACKET.0), persistent });
}

/// Marks count with the acknowledgment that told them, and cause no loss event.
#[test]
fn marks_are_told_until_the_path_turns_out_to_change_the_field() {
    for enabled in [true, false] {
        let recorder = Recorder::new(Next::Now);
        let mut host = recorder.host();
        if enabled {
            host.enable_ecn();
        }
        let ecn_capable = host.may_be_ecn_capable(ms(0));
        assert_eq!(ecn_capable, enabled);
        for _ in 0..8 {
            host.on_sent(ms(0), &Packet { size: PACKET, sent: Some(ms(0)), received: 0, ecn_capable }, &PLENTY);
        }
        let mut acked = |packets: u64, counts: Option<Option<[u64; 3]>>| {
            (0..packets).for_each(|_| host.on_acked(ms(100), ms(0), PACKET));
            let counts = counts.map(|it| it.map(|[capable, other, marked]| EcnCounts { capable, other, marked }));
            if let Some(counts) = counts {
                host.on_ecn_counts(counts);
            }
            host.on_ack_end(ms(100), &AckEnd { in_flight: host.in_flight(), app_limited: false });
            (recorder.marked.lock().unwrap().pop().unwrap() / PACKET.0, host.ecn_state())
        };
        let state = |state| if enabled { state } else { EcnState::Off };
        let marks = |marks| if enabled { marks } else { 0 };
        assert_eq!(acked(4, Some(Some([2, 0, 2]))), (marks(2), state(EcnState::Capable)));
        assert_eq!(acked(1, None), (0, state(EcnState::Capable)), "the acknowledgment came out of order");
        assert_eq!(acked(1, Some(Some([3, 0, 3]))), (marks(1), state(EcnState::Capable)));
        assert_eq!(acked(2, Some(Some([4, 0, 3]))), (0, state(EcnState::Failed)), "two packets, one more count");
        assert!(!host.may_be_ecn_capable(ms(100)));
        assert!(recorder.take().iter().all(|told| !matches!(told, Told::Lost(_))));
    }
}

/// Acknowledgments of packets that took the old path may arrive late, and their field may have been cleared.
#[test]
fn what_the_old_path_did_to_packets_says_nothing_of_the_new_one() {
    let mut host = Recorder::new(Next::Now).host();
    host.enable_ecn();
    let send = |host: &mut Host, now| {
        let ecn_capable = host.may_be_ecn_capable(now);
        host.on_sent(now, &Packet { size: PACKET, sent: Some(now), received: 0, ecn_capable }, &PLENTY);
    };
    (0..2).for_each(|_| send(&mut host, ms(0)));
    host.restart_ecn();
    send(&mut host, ms(50));
    let mut acked = |now, sent, capable| {
        host.on_acked(now, sent, PACKET);
        host.on_ecn_counts(Some(EcnCounts { capable, ..EcnCounts::default() }));
        host.on_ack_end(now, &AckEnd { in_flight: host.in_flight(), app_limited: false });
        host.ecn_state()
    };
    assert_eq!(acked(ms(100), ms(0), 0), EcnState::Testing, "the old path cleared the field");
    assert_eq!(acked(ms(150), ms(50), 1), EcnState::Capable, "the new one leaves it");
}

#[test]
fn a_loss_is_told_before_the_acknowledgment_that_showed_it_and_counts_with_it() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    assert_eq!(full(&mut host, ms(0), 10), 10);
    recorder.take();
    (0..4).for_each(|_| host.on_acked(ms(100), ms(0), PACKET));
    lost(&mut host, ms(100), ms(0), 2, false);
    host.on_ack_end(ms(100), &AckEnd { in_flight: Bytes(4 * PACKET.0), app_limited: true });
    let rtt = Some(Duration::from_millis(100));
    let acked = Told::Acked { acked: 4, lost: 2, rtt, recovery: true, app_limited: true };
    assert_eq!(recorder.take(), [Told::Lost(Loss::Event), acked]);
    assert_eq!(host.in_flight(), Bytes(4 * PACKET.0));
}

#[test]
fn losses_of_one_window_are_one_loss_event_and_recovery_lasts_until_a_later_packet_is_acknowledged() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 10);
    lost(&mut host, ms(100), ms(0), 1, false);
    full(&mut host, ms(110), 10);
    lost(&mut host, ms(120), ms(0), 1, false);
    let events = |told: Vec<Told>| told.iter().filter(|told| matches!(told, Told::Lost(_))).count();
    assert_eq!(events(recorder.take()), 1, "the second packet was sent before the event");
    ack(&mut host, ms(130), ms(0), 8, 10);
    assert!(matches!(recorder.take()[..], [Told::Acked { recovery: true, .. }]));
    ack(&mut host, ms(210), ms(110), 1, 9);
    assert!(matches!(recorder.take()[..], [Told::Acked { recovery: false, .. }]));
    lost(&mut host, ms(220), ms(110), 1, false);
    assert_eq!(events(recorder.take()), 1, "a packet sent after the event");
}

#[test]
fn persistent_congestion_is_a_timeout_to_the_sender_even_within_a_loss_event() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 10);
    lost(&mut host, ms(100), ms(0), 1, false);
    recorder.take();
    lost(&mut host, ms(150), ms(0), 5, true);
    assert_eq!(recorder.take(), [Told::Lost(Loss::Timeout)]);
}

/// A timer of the stack's finds persistent congestion, and the window that it leaves is full. The timeout that follows
/// is the same one to the sender, but lets two packets leave as any other.
#[test]
fn persistent_congestion_and_the_timeout_after_it_are_one_if_nothing_leaves_between_them() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 10);
    full(&mut host, ms(10), 10);
    recorder.say(Next::AfterAck);
    lost(&mut host, ms(900), ms(0), 10, true);
    recorder.take();
    let end = host.wake_at(ms(900), &PLENTY);
    assert_eq!(full(&mut host, end, 10), 2);
    assert!(matches!(recorder.take()[..], [Told::Sent { .. }, Told::Sent { .. }]));
    let end = host.wake_at(end, &PLENTY);
    host.on_wakeup(end, &PLENTY);
    assert_eq!(recorder.take(), [Told::Lost(Loss::Timeout)]);
}

#[test]
fn whatever_a_sender_asks_for_it_gets_a_small_multiple_of_what_is_confirmed() {
    let mut host = Recorder::new(Next::Now).host();
    let mut in_flight = full(&mut host, ms(0), 10_000);
    assert_eq!(in_flight, 64);
    // No report changes that, neither a liar's nor a forger's.
    host.on_report(ms(1), Report::Available { stream: 1, rate: 1e15, interval: 0 });
    assert_eq!(full(&mut host, ms(1), 1), 0);
    for round in 0..3 {
        let (sent, now) = (ms(100 * round), ms(100 * (round + 1)));
        let acked = in_flight / 2; // the rest is lost
        ack(&mut host, now, sent, acked, 0);
        in_flight = full(&mut host, now, 10_000);
        assert!((1..=64 + 4 * acked).contains(&in_flight), "{in_flight} for {acked} confirmed");
    }
}

#[test]
fn a_timeout_gives_up_what_is_in_flight_and_no_earlier() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    assert_eq!(full(&mut host, ms(0), 100), 64);
    let end = host.wake_at(ms(0), &PLENTY);
    assert_eq!(end, ms(1000), "RFC 6298, section 2.1");
    host.on_wakeup(Time(end.0 - 1), &PLENTY);
    assert_eq!((host.in_flight(), host.timeouts()), (Bytes(64 * PACKET.0), 0));
    recorder.take();
    host.on_wakeup(end, &PLENTY);
    assert_eq!((host.in_flight(), host.timeouts()), (Bytes(0), 1));
    assert_eq!(recorder.take(), [Told::Lost(Loss::Timeout)]);
}

#[test]
fn after_a_timeout_two_full_packets_leave_whatever_the_sender_says_and_small_ones_with_them() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 1);
    recorder.say(Next::AfterAck);
    let end = host.wake_at(ms(0), &PLENTY);
    let left = send(&mut host, end, [Bytes(50), PACKET, Bytes(50), PACKET, PACKET], 0);
    assert_eq!(left, 4);
}

#[test]
fn packets_that_were_given_up_are_neither_lost_nor_a_round_trip_time_later() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 10);
    let end = host.wake_at(ms(0), &Waiting::default()).max(ms(1000));
    host.on_wakeup(end, &PLENTY); // which may send: the timer is looked at when the window is closed
    recorder.say(Next::AfterAck);
    host.on_wakeup(end, &PLENTY);
    assert_eq!(full(&mut host, end, 2), 2);
    recorder.take();
    ack(&mut host, ms(1010), ms(0), 1, 11);
    assert_eq!((host.in_flight(), host.rtt()), (Bytes(2 * PACKET.0), None), "the two new packets are in flight");
    lost(&mut host, ms(1010), ms(0), 9, true);
    assert_eq!(host.in_flight(), Bytes(2 * PACKET.0));
    assert!(matches!(recorder.take()[..], [Told::Acked { rtt: None, .. }]), "no second loss");
    lost(&mut host, ms(1200), end, 1, false);
    assert_eq!(recorder.take(), [Told::Lost(Loss::Event)]);
}

#[test]
fn bytes_that_were_given_up_do_not_count_as_lost_when_the_stack_declares_them_lost() {
    // Of ten packets that are given up and two probes after them, the stack declares lost: eight of the former; or
    // eight of them and a probe, in two steps or at once.
    for (steps, counted) in [(vec![(0, 8)], 0), (vec![(0, 8), (1000, 1)], 1), (vec![(1000, 9)], 1)] {
        let recorder = Recorder::new(Next::Now);
        let mut host = recorder.host();
        assert_eq!(full(&mut host, ms(0), 10), 10);
        recorder.say(Next::AfterAck);
        assert_eq!(full(&mut host, ms(1000), 2), 2, "a timeout, RFC 6298, section 2.1");
        recorder.take();
        // An acknowledgment of the last two of the ten.
        (0..2).for_each(|_| host.on_acked(ms(1010), ms(0), PACKET));
        let all = steps.iter().map(|&(_, count)| count).sum::<u64>();
        steps.into_iter().for_each(|(sent, count)| lost(&mut host, ms(1010), ms(sent), count, false));
        ack(&mut host, ms(1010), ms(0), 0, 10 - all);
        assert_eq!(host.in_flight(), Bytes((2 - counted) * PACKET.0), "the probes that are left");
        let told = recorder.take();
        let event = told.contains(&Told::Lost(Loss::Event));
        let Some(Told::Acked { acked: 2, lost, .. }) = told.last() else { panic!("{told:?}") };
        assert_eq!((*lost, event), (counted, counted > 0), "{all} packets declared lost");
    }
}

#[test]
fn a_packet_passes_a_closed_window_for_the_acknowledgment_it_carries_at_growing_intervals() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 1);
    ack(&mut host, ms(80), ms(0), 1, 0);
    full(&mut host, ms(80), 1);
    recorder.say(Next::AfterAck);
    let owing = Waiting { received: 1, ..PLENTY };
    assert_eq!(send(&mut host, ms(81), [PACKET; 3], 1), 0, "an eighth of a round trip has not passed");
    let mut now = ms(80);
    for interval in [10, 20, 40, 80] {
        let due = host.wake_at(now, &owing);
        assert_eq!(due, now + Duration::from_millis(interval));
        now = due;
        assert_eq!(send(&mut host, now, [PACKET; 3], 1), 1, "one packet at a time, as these were built before");
        assert!(host.owes_ack(1));
    }
    host.on_sent(now, &Packet { size: PACKET, sent: Some(now), received: 1, ecn_capable: false }, &owing);
    assert!(!host.owes_ack(1));
    assert_eq!(send(&mut host, now + Duration::from_millis(20), [PACKET], 1), 0, "nothing is owed any more");
}

#[test]
fn a_peer_that_sends_and_acknowledges_nothing_is_given_up_all_the_same() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 64);
    recorder.say(Next::AfterAck);
    let mut now = ms(0);
    for received in 1..1000 {
        let waiting = Waiting { received, ..PLENTY };
        send(&mut host, now, [PACKET], received);
        if host.timeouts() > 0 {
            return;
        }
        let next = host.wake_at(now, &waiting);
        assert!(next > now, "nothing may leave, so there is something to wait for");
        now = next;
    }
    panic!("no timeout until {now}");
}

#[test]
fn time_goes_back_for_the_sender_neither_when_packets_leave_nor_when_it_hears_of_something() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    full(&mut host, ms(0), 1);
    // It was to be held until then.
    host.on_sent(ms(50), &Packet { size: PACKET, sent: Some(ms(1)), received: 0, ecn_capable: false }, &PLENTY);
    full(&mut host, ms(2), 1);
    host.on_report(ms(60), Report::Received { rate: 1e6 });
    ack(&mut host, ms(59), ms(0), 1, 2); // its time was read before the report arrived
    assert_eq!(host.rtt(), Some(Duration::from_millis(59)));
    let (sent, heard): (Vec<_>, Vec<_>) =
        recorder.told.lock().unwrap().iter().partition(|(_, told)| matches!(told, Told::Sent { .. }));
    for times in [sent, heard] {
        assert!(times.is_sorted_by_key(|(time, _)| *time), "{times:?}");
    }
}

/// A host of a sender that asks the routers on the path, with a round-trip time of 100 ms.
fn asking(question: Stamp) -> (Host, Recorder) {
    let mut host = Recorder::new(Next::Now).host();
    for round in 0..100 {
        full(&mut host, ms(100 * round), 1);
        ack(&mut host, ms(100 * (round + 1)), ms(100 * round), 1, 0);
    }
    let recorder = Recorder { question, ..Recorder::new(Next::Now) };
    host.stamp(ms(10_000), Box::new(recorder.clone()), STAMP);
    (host, recorder)
}

fn stamp(host: &mut Host, now: Time) -> Option<Stamp> {
    host.on_sent(now, &Packet { size: PACKET, sent: Some(now), received: 0, ecn_capable: false }, &PLENTY)
}

#[test]
fn the_question_to_the_routers_is_on_every_packet_until_a_report_answers() {
    let question = Stamp::Rate { rate: f32::INFINITY, rtt: 0.0 };
    let (mut host, recorder) = asking(question);
    assert_eq!([10_000, 10_010].map(|now| stamp(&mut host, ms(now))), [Some(question); 2]);
    assert_eq!(recorder.take(), [], "another sender decides");
    host.on_report(ms(10_100), Report::Allowed { rate: 1e6 });
    let opened = Told::Opened { rtt: host.rtt().unwrap(), answered: true };
    assert_eq!(recorder.take()[0], opened);
    assert!(host.is_stamped() && !host.is_unanswered());
    assert_eq!(stamp(&mut host, ms(10_110)), Some(Stamp::None), "its own stamps");
}

#[test]
fn routers_that_do_not_answer_within_a_round_trip_and_50_ms_will_not() {
    let (mut host, recorder) = asking(Stamp::Rate { rate: f32::INFINITY, rtt: 0.0 });
    stamp(&mut host, ms(10_000));
    let in_time = ms(10_000) + host.rtt().unwrap() + Duration::from_millis(49);
    ack(&mut host, in_time, ms(10_000), 1, 0);
    assert_eq!(recorder.take(), []);
    ack(&mut host, in_time + Duration::from_millis(2), ms(10_000), 0, 0);
    assert!(matches!(recorder.take()[0], Told::Opened { answered: false, .. }));
    assert!(host.is_stamped() && host.is_unanswered());
}

#[test]
fn stamps_that_do_not_get_through_are_given_up_and_the_first_sender_decides_again() {
    let first = Recorder::new(Next::Now);
    let mut host = first.host();
    host.stamp(ms(0), Box::new(Recorder::new(Next::AfterAck)), STAMP);
    let mut now = ms(0);
    for _ in 0..2 {
        assert!(host.is_stamped());
        while host.timeouts() < 3 {
            // Stamped packets before the second timeout in a row, and plain ones after it. None gets through.
            host.on_wakeup(now, &PLENTY);
            let sent = Packet { size: PACKET, sent: Some(now), received: 0, ecn_capable: false };
            assert_eq!(host.on_sent(now, &sent, &PLENTY).is_some(), host.timeouts() < 2);
            let sent = Packet { size: PACKET, sent: Some(now), received: 0, ecn_capable: false };
            host.on_sent(now, &sent, &PLENTY);
            now = host.wake_at(now, &PLENTY).max(now + Duration::from_millis(1));
        }
        stamp(&mut host, now);
        ack(&mut host, now + Duration::from_millis(1), now, 1, 0);
    }
    assert!(!host.is_stamped());
    first.take();
    // A packet of the other sender's.
    lost(&mut host, now + Duration::from_millis(3), now + Duration::from_millis(2), 1, false);
    assert_eq!(first.take(), []);
    stamp(&mut host, now + Duration::from_millis(5));
    assert_eq!(first.take().len(), 1);
}

#[test]
fn a_stack_may_enforce_the_window_of_a_sender_that_has_nothing_else() {
    let recorder = Recorder::new(Next::Now);
    let mut host = recorder.host();
    assert_eq!(host.window(), None);
    *recorder.window.lock().unwrap() = Some(Bytes(10 * PACKET.0));
    assert_eq!(host.window(), Some(Bytes(10 * PACKET.0)));
    for _ in 0..10 {
        host.on_sent_in_window(ms(0), &Packet { size: PACKET, sent: Some(ms(0)), received: 0, ecn_capable: false });
    }
    assert_eq!(host.in_flight(), Bytes(10 * PACKET.0));
    assert_eq!(recorder.take().last(), Some(&Told::Sent { in_flight: 9 }));
    ack(&mut host, ms(100), ms(0), 2, 8);
    assert_eq!(host.rtt(), Some(Duration::from_millis(100)));
    *recorder.window.lock().unwrap() = Some(Bytes(1 << 50));
    assert_eq!(host.window(), Some(Bytes((64 + 4 * 2) * PACKET.0)), "a multiple of what is confirmed");
    // What is given up after a timeout is in flight for the stack until it declares that lost.
    *recorder.window.lock().unwrap() = Some(PACKET);
    recorder.say(Next::AfterAck);
    host.on_wakeup(ms(5000), &PLENTY);
    assert_eq!((host.timeouts(), host.window()), (1, Some(Bytes(9 * PACKET.0))));
    lost(&mut host, ms(5001), ms(0), 8, false);
    ack(&mut host, ms(5001), ms(0), 0, 0);
    assert_eq!(host.window(), Some(PACKET));
}

#[test]
fn packets_of_a_sender_that_only_has_a_window_carry_no_stamps_and_no_question_stays_unasked() {
    let (mut host, recorder) = asking(Stamp::Rate { rate: f32::INFINITY, rtt: 0.0 });
    *recorder.window.lock().unwrap() = Some(Bytes(10 * PACKET.0));
    assert_eq!(host.window(), None, "the routers are asked first");
    assert!(stamp(&mut host, ms(10_000)).is_some());
    host.on_report(ms(10_100), Report::Allowed { rate: 1e6 });
    assert_eq!(host.window(), Some(Bytes(10 * PACKET.0)));
    assert_eq!(stamp(&mut host, ms(10_110)), None);
    *recorder.window.lock().unwrap() = None;
    assert_eq!(stamp(&mut host, ms(10_120)), Some(Stamp::None));
}

#[test]
fn stamps_are_given_up_when_a_window_without_stamps_gets_through_after_timeouts_with_stamps() {
    let first = Recorder::new(Next::Now);
    let mut host = first.host();
    let hybrid = Recorder::new(Next::AfterAck);
    *hybrid.resumes.lock().unwrap() = Some(Bytes(4 * PACKET.0));
    host.stamp(ms(0), Box::new(hybrid.clone()), STAMP);
    let mut now = ms(0);
    for outage in 1..=2 {
        // Stamped packets are lost. At the timeout the sender resumes its window.
        *hybrid.window.lock().unwrap() = None;
        assert!((0..4).all(|_| stamp(&mut host, now).is_some()));
        now = host.wake_at(now, &PLENTY);
        host.on_wakeup(now, &PLENTY);
        assert_eq!(host.timeouts(), 1);
        assert_eq!(stamp(&mut host, now), None, "a plain packet, after one timeout");
        ack(&mut host, now + Duration::from_millis(10), now, 1, 0);
        now += Duration::from_millis(20);
        assert_eq!(host.is_stamped(), outage < 2);
    }
}
