//! Tests of the window protocols' common sender.

use super::*;
use crate::slow_start::SlowStart;
use crate::units::Duration;

const PACKET: Bytes = Bytes(1000);

fn ack(packets: u64) -> Ack {
    Ack { acked: Bytes(packets * PACKET.0), ..Ack::default() }
}

/// Gives `rule` one round trip of `w` acknowledgments as a host would, from `now` on: each is for one packet, which
/// was sent a round trip of `seconds` ago. Returns the time and the window at the end.
pub(crate) fn round(rule: &mut impl WindowRule, now: Time, w: f64, seconds: f64) -> (Time, f64) {
    let ack = Ack { rtt: Some(Duration::from_secs(seconds)), ..ack(1) };
    let mut end = w;
    for i in 1..=w as u64 {
        let now = now + Duration::from_secs(seconds * i as f64 / w);
        rule.observe(now, end, &ack);
        end += rule.increase(now, end, &ack);
    }
    (now + Duration::from_secs(seconds), end)
}

/// By how much a window of `w` grows in one round trip in which every packet is acknowledged by itself.
pub(crate) fn growth_per_rtt(rule: &mut impl WindowRule, w: f64) -> f64 {
    let end = (0..w as u64).fold(w, |w, _| w + rule.increase(Time::ZERO, w, &ack(1)));
    end - w
}

fn window(sender: &dyn Sender) -> f64 {
    sender.state().window.unwrap()
}

/// One packet more per round trip, half the window on a loss.
struct Halve;

impl WindowRule for Halve {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        1.0 / w
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        w / 2.0
    }
}

fn halving() -> Window<Halve> {
    Window::new(Halve, 2.0, PACKET)
}

#[test]
fn slow_start_doubles_per_round_trip_and_stops_at_ssthresh() {
    let mut sender = halving();
    for expected in [4.0, 8.0, 16.0, 32.0] {
        for _ in 0..window(&sender) as u64 {
            sender.on_ack(Time::ZERO, &ack(1));
        }
        assert_eq!(window(&sender), expected);
    }
    sender.on_loss(Time::ZERO, &Loss::Timeout);
    assert_eq!((window(&sender), sender.state().phase), (1.0, Phase::Recovery));
    for _ in 0..4 {
        sender.on_ack(Time::ZERO, &ack(3)); // 2, 4 (not 5), 7, 10
    }
    assert_eq!((window(&sender), sender.state().phase), (10.0, Phase::SlowStart));
    sender.on_ack(Time::ZERO, &ack(8)); // 6 to ssthresh = 32/2, the other 2 in congestion avoidance
    assert_eq!((window(&sender), sender.state().phase), (16.0 + 2.0 / 16.0, Phase::CongestionAvoidance));
}

#[test]
fn only_the_first_of_several_timeouts_in_a_row_lowers_ssthresh() {
    let mut sender = halving();
    sender.on_ack(Time::ZERO, &ack(2));
    sender.on_ack(Time::ZERO, &ack(4));
    for _ in 0..5 {
        sender.on_loss(Time::ZERO, &Loss::Timeout);
    }
    for _ in 0..3 {
        sender.on_ack(Time::ZERO, &ack(1));
    }
    assert_eq!(window(&sender), 4.0); // 8/2, still in slow start
}

/// A rule that ends slow start at 10 packets and then shrinks the window by a packet per acknowledged packet.
struct Shrink;

impl WindowRule for Shrink {
    fn increase(&mut self, _: Time, _: f64, _: &Ack) -> f64 {
        -1.0
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        w
    }

    fn slow_start(&mut self, w: f64) -> Option<f64> {
        (w < 10.0).then_some(1.0)
    }
}

#[test]
fn a_rule_may_end_slow_start_and_shrink_the_window_down_to_one_packet() {
    let mut sender = Window::new(Shrink, 2.0, PACKET);
    for (acked, expected) in [(2, 4.0), (4, 8.0), (2, 10.0), (1, 9.0), (4, 5.0), (5, 1.0), (1, 1.0)] {
        sender.on_ack(Time::ZERO, &ack(acked));
        let slow = acked == 2 || expected == 8.0;
        let phase = if slow { Phase::SlowStart } else { Phase::CongestionAvoidance };
        assert_eq!((window(&sender), sender.state().phase), (expected, phase));
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// An acknowledgment of one packet that was sent 100 ms ago, which tells of `marked` marks.
fn marking(marked: u64) -> Ack {
    Ack { marked: Bytes(marked * PACKET.0), rtt: Some(Duration::from_millis(100)), ..ack(1) }
}

#[test]
fn marks_reduce_the_window_once_per_window_of_data_and_nothing_is_repaired() {
    let mut sender = Window::new(Halve, 40.0, PACKET);
    sender.on_ack(at(100), &marking(1)); // halved
    assert_eq!((window(&sender), sender.state().phase), (20.0, Phase::CongestionAvoidance));
    for ms in [110, 150, 199] {
        sender.on_ack(at(ms), &marking(3)); // sent at 10, 50, 99: before the reduction
        assert_eq!(window(&sender), 20.0, "no reduction and no growth");
    }
    sender.on_ack(at(200), &marking(0)); // sent at the reduction: growth again
    assert_eq!(window(&sender), 20.05);
    sender.on_ack(at(201), &marking(1));
    assert_eq!(window(&sender), 10.025);
}

#[test]
fn a_loss_beside_marks_does_not_reduce_the_window_again() {
    let mut sender = Window::new(Halve, 40.0, PACKET);
    sender.on_ack(at(100), &marking(1));
    sender.on_loss(at(150), &Loss::Event); // sent before 100 ms, as nothing sent later is acknowledged yet
    assert_eq!((window(&sender), sender.state().phase), (20.0, Phase::Recovery));
    sender.on_ack(at(160), &Ack { recovery: true, ..marking(2) });
    assert_eq!(window(&sender), 20.0);
    sender.on_ack(at(260), &marking(0));
    sender.on_loss(at(300), &Loss::Event);
    assert_eq!(window(&sender), (20.0 + 1.0 / 20.0) / 2.0);
}

#[test]
fn marks_end_slow_start() {
    let mut sender = halving();
    for _ in 0..6 {
        sender.on_ack(at(100), &marking(0));
    }
    sender.on_ack(at(200), &marking(1));
    assert_eq!((window(&sender), sender.state().phase), (4.0, Phase::CongestionAvoidance));
}

#[test]
fn after_an_idle_period_slow_start_begins_again_from_the_initial_window_up_to_the_same_ssthresh() {
    let mut sender = Window::new(Halve, 10.0, PACKET);
    for packets in [10, 20] {
        sender.on_ack(at(100), &ack(packets));
    }
    sender.on_idle(at(5000)); // 40 packets in the first slow start, which has no threshold
    assert_eq!((window(&sender), sender.state().phase), (10.0, Phase::SlowStart));
    for packets in [10, 20, 20] {
        sender.on_ack(at(5100), &ack(packets));
    }
    sender.on_loss(at(5200), &Loss::Event); // ssthresh = 60/2
    for _ in 0..60 {
        sender.on_ack(at(5400), &ack(1));
    }
    assert!(window(&sender) > 31.0 && sender.state().phase == Phase::CongestionAvoidance);
    sender.on_idle(at(9000));
    assert_eq!((window(&sender), sender.state().phase), (10.0, Phase::SlowStart));
    for packets in [10, 9] {
        sender.on_ack(at(9100), &ack(packets));
    }
    assert_eq!((window(&sender), sender.state().phase), (29.0, Phase::SlowStart));
    sender.on_ack(at(9200), &ack(1));
    assert_eq!((window(&sender), sender.state().phase), (30.0, Phase::CongestionAvoidance));
}

#[test]
fn a_window_below_the_initial_one_stays_as_it_is_after_an_idle_period() {
    let mut sender = Window::new(Halve, 10.0, PACKET);
    sender.on_loss(at(100), &Loss::Event);
    sender.on_ack(at(200), &ack(1));
    let before = window(&sender);
    sender.on_idle(at(5000));
    assert!(before > 5.0 && window(&sender) == before && sender.state().phase == Phase::CongestionAvoidance);
}

#[test]
fn a_window_does_not_grow_in_recovery_or_while_the_application_limits_the_flow() {
    let mut sender = halving();
    sender.on_ack(Time::ZERO, &Ack { app_limited: true, ..ack(2) });
    sender.on_ack(Time::ZERO, &Ack { recovery: true, ..ack(2) });
    assert_eq!(window(&sender), 2.0);
}

/// A sender of 20 packets whose losses take half, with these extensions.
fn extended(prr: bool, undo: bool) -> Window<Halve> {
    Window::new(Halve, 20.0, PACKET).extended(Extensions { prr, undo, ..Extensions::default() })
}

/// An acknowledgment during recovery, of a packet that was sent 100 ms ago.
fn repairing(lost: u64, spurious: u64, in_flight: u64) -> Ack {
    let bytes = |packets: u64| Bytes(packets * PACKET.0);
    let (lost, spurious, in_flight) = (bytes(lost), bytes(spurious), bytes(in_flight));
    Ack { lost, spurious, in_flight, recovery: true, ..marking(0) }
}

#[test]
fn proportional_rate_reduction_ends_at_ssthresh_however_little_is_in_flight() {
    let mut sender = extended(true, false);
    sender.on_loss(at(100), &Loss::Event);
    sender.on_ack(at(100), &repairing(15, 0, 4)); // RFC 9937's example
    assert_eq!((window(&sender), sender.state().phase), (5.0, Phase::Recovery));
    sender.on_ack(at(210), &marking(0)); // the last repair arrives
    assert_eq!(window(&sender), 10.1); // ssthresh, and the growth for a packet
}

#[test]
fn without_extensions_a_loss_takes_its_share_at_once() {
    let mut sender = extended(false, false);
    sender.on_loss(at(100), &Loss::Event);
    sender.on_ack(at(100), &repairing(15, 15, 4));
    assert_eq!(window(&sender), 10.0);
}

#[test]
fn a_loss_event_is_undone_once_all_that_was_declared_lost_has_arrived() {
    let mut sender = extended(true, true);
    sender.on_loss(at(100), &Loss::Event);
    sender.on_ack(at(100), &repairing(2, 0, 17));
    sender.on_ack(at(101), &repairing(0, 1, 17));
    assert!(window(&sender) < 20.0, "the other packet may be lost");
    sender.on_ack(at(102), &repairing(0, 1, 17));
    assert_eq!(window(&sender), 20.0);
    sender.on_ack(at(210), &marking(0));
    assert_eq!((window(&sender), sender.state().phase), (21.0, Phase::SlowStart), "its first slow start goes on");
}

#[test]
fn losses_that_are_found_after_an_undo_count() {
    let mut sender = extended(false, true);
    sender.on_loss(at(100), &Loss::Event);
    sender.on_ack(at(100), &repairing(1, 0, 18));
    sender.on_ack(at(101), &repairing(0, 1, 18));
    assert_eq!(window(&sender), 20.0);
    sender.on_ack(at(102), &repairing(1, 0, 17)); // of the same window of data: no loss event is told
    assert_eq!(window(&sender), 10.0);
    sender.on_ack(at(210), &marking(0));
    assert_eq!((window(&sender), sender.state().phase), (10.1, Phase::CongestionAvoidance));
}

#[test]
fn a_timeout_is_not_undone() {
    let mut sender = extended(true, true);
    sender.on_loss(at(100), &Loss::Event);
    sender.on_ack(at(100), &repairing(1, 0, 18));
    sender.on_loss(at(400), &Loss::Timeout);
    sender.on_ack(at(500), &repairing(0, 1, 0));
    assert!(window(&sender) <= 2.0);
}

#[test]
fn after_another_protocol_only_a_first_slow_start_is_watched() {
    let grown = |ssthresh: f64| {
        let extensions = Extensions { slow_start: SlowStart::HyStartPlusPlus, ..Extensions::default() };
        let mut sender = Window::new(Halve, 10.0, PACKET).extended(extensions);
        sender.resume(20.0, ssthresh);
        for (start, ms) in [(0, 100), (100, 130), (230, 160)] {
            for i in 0..20 {
                let rtt = Some(Duration::from_millis(ms));
                sender.on_ack(at(start + ms + i), &Ack { rtt, ..ack(1) });
            }
        }
        window(&sender)
    };
    assert!(grown(f64::INFINITY) < 80.0, "the round-trip time rises");
    assert_eq!(grown(1000.0), 80.0, "there is a threshold to stop at");
}

#[test]
fn hystart_leaves_slow_start_after_longer_round_trips() {
    let mut sender = Window::new(Halve, 10.0, PACKET)
        .extended(Extensions { slow_start: SlowStart::HyStartPlusPlus, ..Extensions::default() });
    let mut now = at(0);
    let mut round = |sender: &mut Window<Halve>, ms: u64| {
        now += Duration::from_millis(ms);
        for i in 0..20 {
            let rtt = Some(Duration::from_millis(ms));
            sender.on_ack(now + Duration::from_millis(i), &Ack { rtt, ..ack(1) });
        }
        (window(sender), sender.state().phase)
    };
    assert_eq!(round(&mut sender, 100), (30.0, Phase::SlowStart));
    assert!(sender.is_unstopped());
    assert_eq!(round(&mut sender, 130), (30.0 + 7.0 + 13.0 / 4.0, Phase::SlowStart), "a quarter from the eighth");
    assert!(!sender.is_unstopped(), "it is slowed down");
    for ms in [140, 150, 160, 170] {
        round(&mut sender, ms);
    }
    assert_eq!(round(&mut sender, 180).1, Phase::CongestionAvoidance);
}
