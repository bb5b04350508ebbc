use super::*;
use crate::owed::FIRST;
use control::Phase;
use std::net::SocketAddr;

const PACKET: u64 = 1200;

/// Says always the same of when a packet may leave.
struct Says(Next);

impl Sender for Says {
    fn next(&mut self, _: Time, _: &Pipe) -> Next {
        self.0
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

fn flow() -> Arc<Flow> {
    Flow::new(Clock::start(), Arc::new(Agenda::new()), PACKET, Box::new(Says(Next::Now)))
}

fn push(flow: &Arc<Flow>, sent: Instant, size: usize) -> bool {
    flow.on_built(sent, size as u64);
    let destination = SocketAddr::from(([127, 0, 0, 1], 9));
    flow.push(&Transmit { destination, ecn: None, contents: &vec![0x40; size], segment_size: None, src_ip: None })
}

/// How many packets the pacer would send now.
fn departing(flow: &Arc<Flow>) -> u64 {
    let mut batch = Batch::new(4);
    let next = || {
        let scheduled = flow.lock().scheduled?;
        flow.depart(scheduled, &mut batch);
        Some(batch.count() as u64).filter(|count| *count > 0)
    };
    std::iter::from_fn(next).sum()
}

#[test]
fn whatever_a_controller_believes_it_sends_a_small_multiple_of_what_is_confirmed() {
    let flow = flow();
    let mut sent = Instant::now();
    (0..10_000).for_each(|_| assert!(push(&flow, sent, PACKET as usize)));
    let first = departing(&flow);
    assert_eq!(first, 64);
    // No report changes that, be it of a liar or of a forger.
    flow.on_report(Report::Available { stream: 1, rate: 1e15 });
    assert_eq!(departing(&flow), 0);
    let mut in_flight = first;
    for _ in 0..3 {
        // A round trip confirms half of it, the rest is lost.
        let acked = in_flight / 2;
        let now = Instant::now();
        (0..acked).for_each(|_| flow.on_acked(now, sent, PACKET));
        let queued = flow.lock().queued;
        flow.on_acks_end(now, queued, false);
        in_flight = departing(&flow);
        assert!((1..=64 + 4 * acked).contains(&in_flight), "{in_flight} for {acked} confirmed");
        sent = now;
    }
}

#[test]
fn answers_leave_at_once_but_no_more_of_them_than_questions() {
    let flow = flow();
    let now = Instant::now();
    let unpaced = (0..100).filter(|_| !push(&flow, now, 50)).count() as u64;
    assert_eq!(unpaced, UNANSWERED);
    (0..5).for_each(|_| flow.on_datagram(40));
    assert!(push(&flow, now, 50), "what waits must not be overtaken");
    assert_eq!(departing(&flow), 101 - UNANSWERED, "the others wait for the pacer");
    assert!(push(&flow, now, 50), "the last of them may not be out yet");
    assert_eq!(departing(&flow), 1);
    flow.left();
    assert!(!push(&flow, now, 50));
}

/// Its controller says from now on that it waits for acknowledgments, and what left last did so this long ago.
fn shut(flow: &Arc<Flow>, ago: Duration) {
    let mut inner = flow.lock();
    inner.sender = Box::new(Says(Next::AfterAck));
    let (last, gap) = inner.last.unwrap();
    inner.last = Some((Time(last.0.saturating_sub(ago.0)), gap));
    inner.scheduled = None;
    flow.ask(&mut inner);
}

#[test]
fn an_acknowledgment_that_is_owed_passes_a_closed_window_a_packet_at_a_time() {
    let flow = flow();
    std::thread::sleep(std::time::Duration::from_nanos(FIRST.0 / 1000)); // so that there is a time that long ago
    assert!(push(&flow, Instant::now(), PACKET as usize));
    assert_eq!(departing(&flow), 1);
    (0..3).for_each(|_| assert!(push(&flow, Instant::now(), PACKET as usize)));
    flow.on_datagram(40);
    shut(&flow, FIRST);
    assert_eq!(departing(&flow), 0, "acknowledgments are not acknowledged");
    flow.on_datagram(1000);
    assert!(push(&flow, Instant::now(), PACKET as usize), "it carries the acknowledgment");
    for left in [1, 1, 1, 1] {
        shut(&flow, FIRST);
        assert_eq!(departing(&flow), left, "and three were built before it");
        assert_eq!(departing(&flow), 0, "once");
    }
    assert!(push(&flow, Instant::now(), PACKET as usize));
    shut(&flow, FIRST);
    assert_eq!(departing(&flow), 0, "nothing is owed any more");
}

#[test]
fn who_talks_and_acknowledges_nothing_is_given_up_all_the_same() {
    let flow = flow();
    (0..100).for_each(|_| assert!(push(&flow, Instant::now(), PACKET as usize)));
    assert_eq!(departing(&flow), 64);
    (0..100).for_each(|_| flow.lock().silence.on_ack(Time::ZERO, Some(Duration::from_millis(1))));
    let now = flow.clock.now();
    flow.lock().silence.begin(now);
    let begun = Instant::now();
    while flow.lock().silence.timeouts() == 0 {
        assert!(begun.elapsed().as_secs() < 10, "it never is");
        flow.on_datagram(1000);
        shut(&flow, FIRST);
        departing(&flow);
        let (now, scheduled) = (flow.clock.now(), flow.lock().scheduled);
        assert!(scheduled.is_none_or(|time| time > now), "nothing left, so there is something to wait for");
    }
}

#[test]
fn what_was_given_up_is_neither_a_loss_nor_a_round_trip_time_later() {
    let flow = flow();
    let sent = Instant::now();
    (0..10).for_each(|_| assert!(push(&flow, sent, PACKET as usize)));
    assert_eq!(departing(&flow), 10);
    {
        let mut inner = flow.lock();
        let end = inner.silence.end();
        inner.time_out(end);
        assert_eq!(inner.in_flight(), Bytes(0));
    }
    std::thread::sleep(std::time::Duration::from_millis(1));
    let later = Instant::now();
    (0..2).for_each(|_| assert!(push(&flow, later, PACKET as usize)));
    flow.lock().scheduled = None;
    flow.ask(&mut flow.lock());
    assert_eq!(departing(&flow), 2);
    flow.on_acked(Instant::now(), sent, PACKET);
    flow.on_acks_end(Instant::now(), 11 * PACKET, false);
    let known = |flow: &Arc<Flow>| {
        let inner = flow.lock();
        (inner.in_flight(), inner.silence.rtt(), inner.recovery)
    };
    assert_eq!(known(&flow), (Bytes(2 * PACKET), None, None), "the new ones are in flight");
    flow.on_lost(Instant::now(), sent, true, 9 * PACKET);
    assert_eq!(known(&flow), (Bytes(2 * PACKET), None, None));
    flow.on_lost(Instant::now(), later, false, PACKET);
    assert!(flow.lock().recovery.is_some());
}

#[test]
fn silence_is_a_timeout_and_what_was_in_flight_is_given_up() {
    let flow = flow();
    (0..100).for_each(|_| assert!(push(&flow, Instant::now(), PACKET as usize)));
    assert_eq!(departing(&flow), 64);
    let mut inner = flow.lock();
    let end = inner.silence.end();
    inner.time_out(Time(end.0 - 1));
    assert_eq!(inner.in_flight(), Bytes(64 * PACKET), "not yet");
    inner.time_out(end);
    assert_eq!(inner.in_flight(), Bytes(0));
    assert_eq!(inner.silence.timeouts(), 1);
}

#[test]
fn after_a_timeout_two_packets_leave_whatever_the_controller_says_and_small_ones_with_them() {
    let flow = flow();
    assert!(push(&flow, Instant::now(), PACKET as usize));
    assert_eq!(departing(&flow), 1);
    {
        let mut inner = flow.lock();
        inner.sender = Box::new(Says(Next::AfterAck));
        let end = inner.silence.end();
        inner.time_out(end);
    }
    for size in [50, PACKET as usize, 50, PACKET as usize, PACKET as usize] {
        assert!(push(&flow, Instant::now(), size) || size == 50);
    }
    flow.lock().scheduled = None;
    flow.ask(&mut flow.lock());
    let full = |flow: &Arc<Flow>| flow.lock().queue.iter().filter(|d| d.size() == Bytes(PACKET)).count();
    departing(&flow);
    assert_eq!(full(&flow), 1, "two of three have left");
}
