use super::*;
use crate::answers::UNANSWERED;
use control::contract::checked;
use control::{Ack, Loss, Next, Phase, Pipe, Stamp};
use realtime::to_std;
use std::net::SocketAddr;

/// Lets every packet leave at once, or as many as fit into a window while there is one.
#[derive(Clone, Default)]
struct Unlimited {
    /// In bytes; 0 for no window.
    window: Arc<AtomicU64>,
}

impl Sender for Unlimited {
    fn next(&mut self, _: Time, pipe: &Pipe) -> Next {
        match self.window() {
            Some(window) if pipe.in_flight + pipe.packet > window => Next::AfterAck,
            _ => Next::Now,
        }
    }
    fn window(&self) -> Option<Bytes> {
        Some(Bytes(self.window.load(Ordering::Relaxed))).filter(|window| window.0 > 0)
    }
    fn on_send(&mut self, _: Time, _: Bytes, _: &Pipe) -> Stamp {
        Stamp::None
    }
    fn on_ack(&mut self, _: Time, _: &Ack) {}
    fn on_loss(&mut self, _: Time, _: &Loss) {}
    fn state(&self) -> State {
        State { window: None, rate: None, phase: Phase::Probing }
    }
}

fn flow() -> Arc<SendingFlow> {
    with(&Unlimited::default())
}

fn with(sender: &Unlimited) -> Arc<SendingFlow> {
    let (timers, sender) = (Arc::new(TimerQueue::new()), checked(Box::new(sender.clone())));
    SendingFlow::new(Clock::start(), timers, PACKET, Duration::ZERO, sender, None)
}

fn push(flow: &Arc<SendingFlow>, sent: Instant, size: usize) -> bool {
    push_together(flow, sent, 1, size)
}

/// quinn hands `count` packets over together.
fn push_together(flow: &Arc<SendingFlow>, sent: Instant, count: usize, size: usize) -> bool {
    flow.on_built(sent, (count * size) as u64);
    let (destination, contents) = (SocketAddr::from(([127, 0, 0, 1], 9)), vec![0x40; count * size]);
    let segment_size = (count > 1).then_some(size);
    let transmit = Transmit { destination, ecn: None, contents: &contents, segment_size, src_ip: None };
    flow.push(&transmit) == Push::Queued
}

/// An acknowledgment of `count` packets that quinn built at `sent`, after which `in_flight` packets are in flight.
fn ack(flow: &Arc<SendingFlow>, sent: Instant, count: usize, in_flight: u64) {
    let now = Instant::now();
    let end = QuinnAckEnd { now, in_flight: in_flight * PACKET, app_limited: false, ack: None };
    flow.on_ack(&vec![QuinnAcked { now, sent, bytes: PACKET }; count], &[], Some(end));
}

/// How many packets the pacer would send now.
fn departing(flow: &Arc<SendingFlow>) -> u64 {
    let mut burst = Burst::new(4);
    let next = || {
        let mut sent = None;
        let scheduled = flow.lock().scheduled?;
        flow.depart(scheduled, Instant::now, &mut burst, |burst| sent = Some(burst.count() as u64));
        sent
    };
    std::iter::from_fn(next).sum()
}

#[test]
fn small_packets_leave_unpaced_but_no_more_of_them_than_datagrams_arrive_and_never_before_others() {
    let flow = flow();
    let now = Instant::now();
    let unpaced = (0..100).filter(|_| !push(&flow, now, 50)).count() as u64;
    assert_eq!(unpaced, UNANSWERED);
    flow.on_message(&RecvMeta { len: 200, stride: 40, ..RecvMeta::default() });
    assert!(push(&flow, now, 50), "it must not overtake those that wait");
    assert_eq!(departing(&flow), 101 - UNANSWERED, "the others wait for the pacer");
    assert!(!push(&flow, now, 50));
}

/// Otherwise reports would fill the window of an end that sends little else, and quinn would hold acknowledgments back
/// with them.
#[test]
fn answers_take_no_room_in_quinns_window() {
    let sender = Unlimited { window: Arc::new((10 * PACKET).into()) };
    let flow = with(&sender);
    flow.on_message(&RecvMeta { len: 200 * PACKET as usize, stride: PACKET as usize, ..RecvMeta::default() });
    let (free, sent) = (flow.quinn_window(), Instant::now());
    assert!((0..500).all(|_| !push(&flow, sent, 50)), "all leave at once");
    assert_eq!(flow.quinn_window() - free, (200 + UNANSWERED) * 50, "as many as have arrived");
    ack(&flow, sent, 1, 0);
    assert_eq!(flow.quinn_window(), free);
}

#[test]
fn nothing_overtakes_what_another_thread_is_sending() {
    for window in [0, 64 * PACKET] {
        let sender = Unlimited::default();
        let flow = with(&sender);
        let (sent, mut burst, mut late) = (Instant::now(), Burst::new(4), Burst::new(4));
        assert!(push(&flow, sent, PACKET as usize));
        let (due, now) = (flow.lock().scheduled.unwrap(), Instant::now);
        sender.window.store(window, Ordering::Relaxed);
        let mut departed = 0;
        flow.depart(due, now, &mut burst, |burst| {
            departed = burst.count();
            // The pacer wakes for a time at which the driver is sending already.
            flow.depart(due, now, &mut late, |_| panic!("it is being sent"));
            let size = if window > 0 { PACKET as usize } else { 50 };
            assert!(push(&flow, sent, size), "the packet may not have reached the kernel yet");
            let next = flow.lock().scheduled.unwrap();
            flow.depart(next, now, &mut late, |_| panic!("it would overtake the packet"));
            assert!(push(&flow, sent, size));
        });
        assert_eq!(departed, 1);
        assert_eq!(departing(&flow), 2);
        assert!(!push(&flow, sent, 50));
    }
}

#[test]
fn a_full_queue_has_the_driver_send_what_is_due_and_nothing_before() {
    let full = |quantum| {
        let (timers, sender) = (Arc::new(TimerQueue::new()), checked(Box::new(Unlimited::default())));
        let flow = SendingFlow::new(Clock::start(), timers, PACKET, quantum, sender, None);
        assert!(push_together(&flow, Instant::now(), 2, PACKET as usize));
        flow
    };
    let context = Context::from_waker(std::task::Waker::noop());
    let flow = full(Duration::from_secs(1000.0));
    assert!(flow.poll_room(&context, |_| panic!("nothing is due")).is_pending());
    let flow = full(Duration::ZERO);
    let mut burst = Burst::new(4);
    let depart = |due| flow.depart(due, || due, &mut burst, |_| ());
    assert!(flow.poll_room(&context, depart).is_ready());
    assert_eq!(burst.count(), 2);
}

#[test]
fn a_departure_leaves_no_timer_behind() {
    let flow = flow();
    assert!(push(&flow, Instant::now(), PACKET as usize));
    assert_eq!(flow.timers.len(), 1);
    assert_eq!(departing(&flow), 1);
    assert_eq!(flow.timers.len(), 0);
}

#[test]
fn what_waits_in_the_queue_or_for_it_is_not_in_flight() {
    let flow = flow();
    let sent = Instant::now();
    (0..70).for_each(|_| assert!(push(&flow, sent, PACKET as usize)));
    assert_eq!(departing(&flow), 64, "the host's limit");
    flow.on_built(sent, PACKET);
    let end = QuinnAckEnd { now: Instant::now(), in_flight: 69 * PACKET, app_limited: false, ack: None };
    let acked = QuinnAcked { now: end.now, sent, bytes: PACKET };
    let lost = QuinnLoss { now: end.now, sent, persistent: false, lost: 3 * PACKET };
    flow.on_ack(&[acked; 2], &[lost], Some(end));
    let inner = flow.lock();
    assert_eq!(inner.queue.bytes(), Bytes(6 * PACKET));
    assert_eq!(inner.host.in_flight(), Bytes((69 - 1 - 6 - 3) * PACKET));
}

#[test]
fn while_a_window_decides_quinn_keeps_it_and_packets_leave_at_once() {
    let sender = Unlimited { window: Arc::new(AtomicU64::new(20 * PACKET)) };
    let flow = with(&sender);
    assert_eq!(flow.quinn_window(), 20 * PACKET + 1, "20 packets fit, as quinn compares");
    let sent = Instant::now();
    assert!(!push_together(&flow, sent, 10, PACKET as usize) && !push_together(&flow, sent, 10, PACKET as usize));
    assert!(flow.lock().queue.is_empty() && flow.lock().scheduled.is_none(), "the pacer has nothing to do");
    assert_eq!(flow.lock().host.in_flight(), Bytes(20 * PACKET));
    ack(&flow, sent, 5, 15);
    assert_eq!(flow.lock().host.in_flight(), Bytes(15 * PACKET));
    assert!(flow.rtt().is_some());
    sender.window.store(PACKET / 2, Ordering::Relaxed);
    ack(&flow, sent, 1, 14);
    assert_eq!(flow.quinn_window(), PACKET + 1, "one packet may always be in flight");
    flow.on_mtu(1452);
    assert_eq!(flow.quinn_window(), 1453, "of whichever size");
    sender.window.store(1 << 50, Ordering::Relaxed);
    ack(&flow, sent, 1, 13);
    assert_eq!(flow.quinn_window(), (64 + 4 * 7) * PACKET + 1, "the host's limit: four times what was confirmed");
}

#[test]
fn the_lane_changes_with_the_senders_answer_and_packets_keep_their_order() {
    let sender = Unlimited { window: Arc::new(AtomicU64::new(64 * PACKET)) };
    let flow = with(&sender);
    let sent = Instant::now();
    assert!(!push_together(&flow, sent, 10, PACKET as usize));
    // The window is given up: quinn is not held back any more, and what it hands over is paced, packet by packet.
    sender.window.store(0, Ordering::Relaxed);
    ack(&flow, sent, 1, 9);
    assert_eq!(flow.quinn_window(), UNBOUNDED + 1);
    assert!(push_together(&flow, sent, 7, PACKET as usize));
    assert_eq!(flow.lock().queue.len(), 7);
    // There is a window again while packets wait: these leave first.
    sender.window.store(64 * PACKET, Ordering::Relaxed);
    ack(&flow, sent, 1, 8 + 7);
    assert_eq!(flow.quinn_window(), 64 * PACKET + 1);
    assert!(push(&flow, sent, PACKET as usize), "it must not overtake those that wait");
    assert_eq!(departing(&flow), 8);
    assert!(!push(&flow, sent, PACKET as usize), "the fast lane again");
    assert_eq!(flow.lock().host.in_flight(), Bytes(17 * PACKET));
}

#[test]
fn packets_that_the_socket_did_not_take_count_once() {
    let sender = Unlimited { window: Arc::new(AtomicU64::new(64 * PACKET)) };
    let flow = with(&sender);
    assert!(!push(&flow, Instant::now(), PACKET as usize));
    flow.on_blocked();
    assert!(flow.is_blocked());
    let (destination, contents) = (SocketAddr::from(([127, 0, 0, 1], 9)), vec![0x40; PACKET as usize]);
    let again = Transmit { destination, ecn: None, contents: &contents, segment_size: None, src_ip: None };
    assert!(flow.push(&again) == Push::Leaves(None) && !flow.is_blocked());
    assert_eq!(flow.lock().host.in_flight(), Bytes(PACKET));
}

#[test]
fn a_probe_of_the_path_has_a_header_where_packets_may() {
    let probe = |flow: &Arc<SendingFlow>| {
        let (destination, contents) = (SocketAddr::from(([127, 0, 0, 1], 9)), vec![0x40; 1452]);
        match flow.push(&Transmit { destination, ecn: None, contents: &contents, segment_size: None, src_ip: None }) {
            Push::LeavesAs(datagram) => datagram.contents().len(),
            push => {
                assert_eq!(push, Push::Leaves(None));
                1452
            }
        }
    };
    let window = || Unlimited { window: Arc::new(AtomicU64::new(64 * PACKET)) };
    let flow = with(&window());
    assert_eq!(probe(&flow), 1452);
    flow.leave_room();
    assert_eq!(probe(&flow), 1452 + header::ROUTED, "stamps may be granted");
    flow.stamp(Box::new(window()), Stamping::new(1, [0; 16]));
    assert_eq!(probe(&flow), 1452 + header::ROUTED, "they are granted");
    flow.on_mtu(1452);
    assert!(!push(&flow, Instant::now(), 1452), "a packet of that size is no probe");
    assert_eq!(flow.lock().host.in_flight(), Bytes(1452));
    let refused = with(&window());
    refused.leave_room();
    refused.on_refused();
    assert_eq!(probe(&refused), 1452);
}

/// Sends at a constant rate, and writes down when it was told that packets leave.
struct Paced {
    pacer: control::pace::Pacer,
    left: Arc<Mutex<Vec<Time>>>,
}

const RATE: control::Rate = control::Rate::from_mbps(9.6); // a packet per millisecond

impl Sender for Paced {
    fn next(&mut self, now: Time, _: &Pipe) -> Next {
        let due = self.pacer.due(RATE);
        if due > now { Next::At(due) } else { Next::Now }
    }
    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        self.pacer.on_send(now, size, RATE);
        self.left.lock().unwrap().push(now);
        Stamp::None
    }
    fn on_ack(&mut self, _: Time, _: &Ack) {}
    fn on_loss(&mut self, _: Time, _: &Loss) {}
    fn state(&self) -> State {
        State { window: None, rate: Some(RATE), phase: Phase::Probing }
    }
}

#[test]
fn what_is_due_within_a_quantum_leaves_together_and_the_sender_sees_its_schedule() {
    let left: Arc<Mutex<Vec<Time>>> = Arc::default();
    let sender = checked(Box::new(Paced { pacer: Default::default(), left: left.clone() }));
    let (timers, quantum) = (Arc::new(TimerQueue::new()), Duration::from_millis(5));
    let flow = SendingFlow::new(Clock::start(), timers, PACKET, quantum, sender, None);
    push_together(&flow, Instant::now(), 12, PACKET as usize);
    let mut burst = Burst::new(64);
    let late = Duration::from_micros(300);
    let mut depart = |late| {
        let scheduled = flow.lock().scheduled.unwrap();
        flow.depart(scheduled, || scheduled + to_std(late), &mut burst, |_| ());
        (flow.clock.at(scheduled), burst.count(), burst.transmits().count())
    };
    let first = depart(Duration::ZERO);
    assert_eq!((first.1, first.2), (5, 1));
    let second = depart(late);
    assert_eq!((second.0, second.1, second.2), (first.0 + quantum, 5, 1));
    // A burst may begin late, within the time of a packet; the rest of it is as planned.
    let planned = |i: u64| first.0 + Duration::from_millis(i) + if i == 5 { late } else { Duration::ZERO };
    assert_eq!(*left.lock().unwrap(), (0..10).map(planned).collect::<Vec<_>>());
}

/// RFC 9000, section 13.4.2.1. After a black hole, quinn lowers the path MTU and probes it anew.
#[test]
fn a_probe_of_a_lowered_path_mtu_does_not_fail_the_validation_of_ecn() {
    let window = Arc::new(AtomicU64::new(100 * PACKET)); // only packets that a window admits are ECN-capable
    let (timers, sender) = (Arc::new(TimerQueue::new()), checked(Box::new(Unlimited { window })));
    let ecn = SendingEcn { codepoint: EcnCodepoint::Ect0, watch: Arc::default() };
    let flow = SendingFlow::new(Clock::start(), timers, PACKET, Duration::ZERO, sender, Some(ecn));
    flow.enable_ecn();
    let sent = Instant::now();
    let acked = |sent, sizes: &[u64], ect0| {
        let now = Instant::now();
        let ack = Some(AckFrame { largest: ect0, counts: Some([ect0, 0, 0]) });
        let end = QuinnAckEnd { now, in_flight: sizes.iter().sum(), app_limited: false, ack };
        let packets: Vec<_> = sizes.iter().map(|&bytes| QuinnAcked { now, sent, bytes }).collect();
        flow.on_ack(&packets, &[], Some(end));
        flow.ecn_state()
    };
    assert!(!push(&flow, sent, 1452));
    assert_eq!(acked(sent, &[1452], 1), EcnState::Capable);
    flow.on_mtu(1200);
    // The probe is built at the same time as a packet, and is acknowledged first. It is not ECN-capable.
    let later = sent + to_std(Duration::from_millis(1));
    assert!(!push(&flow, later, 1200));
    assert_eq!(acked(later, &[1400], 1), EcnState::Capable);
    assert_eq!(acked(later, &[1200], 2), EcnState::Capable);
}
