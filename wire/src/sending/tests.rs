use super::*;
use control::{Ack, Loss, Next, Phase, Pipe, Stamp};
use std::net::SocketAddr;

const PACKET: u64 = 1200;

/// Lets every packet leave at once.
struct Unlimited;

impl Sender for Unlimited {
    fn next(&mut self, _: Time, _: &Pipe) -> Next {
        Next::Now
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
    SendingFlow::new(Clock::start(), Arc::new(TimerQueue::new()), PACKET, Box::new(Unlimited))
}

fn push(flow: &Arc<SendingFlow>, sent: Instant, size: usize) -> bool {
    flow.on_built(sent, size as u64);
    let destination = SocketAddr::from(([127, 0, 0, 1], 9));
    flow.push(&Transmit { destination, ecn: None, contents: &vec![0x40; size], segment_size: None, src_ip: None })
}

/// How many packets the pacer would send now.
fn departing(flow: &Arc<SendingFlow>) -> u64 {
    let mut batch = Batch::new(4);
    let next = || {
        let scheduled = flow.lock().scheduled?;
        flow.depart(scheduled, &mut batch);
        Some(batch.count() as u64).filter(|count| *count > 0)
    };
    std::iter::from_fn(next).sum()
}

#[test]
fn small_packets_leave_unpaced_but_no_more_of_them_than_datagrams_arrive_and_never_before_others() {
    let flow = flow();
    let now = Instant::now();
    let unpaced = (0..100).filter(|_| !push(&flow, now, 50)).count() as u64;
    assert_eq!(unpaced, UNANSWERED);
    (0..5).for_each(|_| flow.on_datagram(40));
    assert!(push(&flow, now, 50), "it must not overtake those that wait");
    assert_eq!(departing(&flow), 101 - UNANSWERED, "the others wait for the pacer");
    assert!(push(&flow, now, 50), "the last of them may not have reached the kernel yet");
    assert_eq!(departing(&flow), 1);
    flow.on_left();
    assert!(!push(&flow, now, 50));
}

#[test]
fn what_waits_in_the_queue_or_for_it_is_not_in_flight() {
    let flow = flow();
    let sent = Instant::now();
    (0..70).for_each(|_| assert!(push(&flow, sent, PACKET as usize)));
    assert_eq!(departing(&flow), 64, "the host's limit");
    flow.on_built(sent, PACKET);
    let end = QuinnAckEnd { now: Instant::now(), in_flight: 69 * PACKET, app_limited: false };
    flow.on_acked(end.now, sent, PACKET);
    flow.on_acked(end.now, sent, PACKET);
    let lost = QuinnLoss { now: end.now, sent, persistent: false, lost: 3 * PACKET };
    flow.on_ack_end(&[lost], end);
    let inner = flow.lock();
    assert_eq!(inner.queue.bytes(), Bytes(6 * PACKET));
    assert_eq!(inner.host.in_flight(), Bytes((69 - 1 - 6 - 3) * PACKET));
}
