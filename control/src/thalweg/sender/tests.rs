use super::*;
use crate::thalweg::{ErrorShare, Thalweg};

const PACKET: Bytes = Bytes(1000);

fn new_sender() -> ThalwegSender {
    Thalweg::default().thalweg_sender(&Conditions::exact(PACKET))
}

#[test]
fn large_packets_are_as_many_in_a_second_as_those_of_1500_bytes() {
    let rates = [200, 1500, 9000].map(|size| {
        let mut sender = Thalweg::default().thalweg_sender(&Conditions::exact(Bytes(size)));
        let Mode::SlowStart { first, .. } = sender.mode else { unreachable!() };
        sender.rtt = Duration::from_millis(10);
        let least = sender.at_least(Rate::from_bps(1.0));
        let grown = sender.parts.rule.without_estimate(least, sender.rtt, sender.rtt, sender.rtt);
        [first, least, grown].map(|rate| rate.as_bps().round())
    });
    let [small, full, large] = rates;
    assert_eq!((small, full[..2].to_vec()), (full, vec![1e6, 1e5]));
    assert!(
        full[2] > full[1] && full.iter().zip(large).all(|(of_1500, of_9000)| (of_9000 / of_1500 - 6.0).abs() < 1e-4)
    );
}

/// Recovery may send at less than the least average rate, and at far less than the rate that slow start has found
/// meanwhile.
#[test]
fn an_error_during_recovery_does_not_end_it_at_a_higher_rate() {
    let after = |average, interrupted, found: Option<f64>| {
        let mut sender = new_sender();
        sender.average = Rate::from_mbps(average);
        sender.rtt = Duration::from_millis(1);
        sender.begin_recovery(Time::ZERO, interrupted);
        sender.estimate = found.map(Rate::from_mbps);
        // On a path that never had a queue, a loss is an error.
        let ms = Duration::from_millis(100);
        for _ in 0..3 {
            sender.parts.classifier.on_ack(Time::ZERO, &Ack { rtt: Some(ms), ..Ack::default() }, PACKET, None);
        }
        sender.on_loss(Time::ZERO, &Loss::Event);
        let State { phase, rate, .. } = sender.state();
        (phase, rate.unwrap().as_mbps())
    };
    assert_eq!(after(80.0, Interrupted::Probing, None), (Phase::Probing, 40.0));
    assert_eq!(after(80.0, Interrupted::SlowStart, Some(20.0)), (Phase::Probing, 10.0));
    assert_eq!(after(80.0, Interrupted::SlowStart, Some(200.0)), (Phase::Recovery, 40.0));
    assert_eq!(after(0.11, Interrupted::Probing, None), (Phase::Recovery, 0.08), "the least average is 0.1 Mbps");
}

/// With too many flows on one link, the rate of each must come down to the rate at which its packets arrive, until all
/// of them arrive.
#[test]
fn in_recovery_the_rate_comes_down_to_what_arrives() {
    let mut sender = new_sender();
    let ms = |ms| Time::ZERO + Duration::from_millis(ms);
    let ack = |acked, recovery| Ack {
        acked: Bytes(acked),
        lost: PACKET,
        rtt: Some(Duration::from_millis(100)),
        recovery,
        ..Ack::default()
    };
    sender.on_ack(ms(0), &ack(1000, false));
    sender.set_average(Rate::from_mbps(80.0));
    sender.mode = Mode::Probing;
    sender.parts.classifier = LossClassifier::new(ErrorShare::new(0.0, 0.0));
    sender.on_loss(ms(0), &Loss::Event);
    let rate = |sender: &ThalwegSender| sender.state().rate.unwrap().as_mbps();
    assert_eq!((sender.state().phase, rate(&sender)), (Phase::Recovery, 40.0), "half, as there was no estimate");
    // Packets sent before the loss do not count. Of those sent after it, a tenth arrives.
    (1..=10).for_each(|i| sender.on_ack(ms(10 * i), &ack(1000, true)));
    assert_eq!(rate(&sender), 40.0);
    (11..=20).for_each(|i| sender.on_ack(ms(10 * i), &ack(5_000, true)));
    assert_eq!((sender.state().phase, rate(&sender)), (Phase::Recovery, 3.2), "0.8 of 4 Mbps");
    // While the sender has too little to send, acknowledgments do not count.
    (21..=30).for_each(|i| sender.on_ack(ms(10 * i), &Ack { app_limited: true, ..ack(100, true) }));
    assert_eq!((sender.state().phase, rate(&sender)), (Phase::Recovery, 3.2));
    (31..=40).for_each(|i| sender.on_ack(ms(10 * i), &ack(4_000, true)));
    assert_eq!(sender.state().phase, Phase::Probing, "all packets arrive but one that is on its way");
}

/// A loss among packets of recovery begins another recovery, which measures what arrives anew.
#[test]
fn a_loss_in_each_round_trip_of_recovery_takes_the_rate_down_to_what_arrives() {
    let mut sender = new_sender();
    let ms = |ms| Time::ZERO + Duration::from_millis(ms);
    let ack = Ack { acked: Bytes(10_000), rtt: Some(Duration::from_millis(100)), recovery: true, ..Ack::default() };
    sender.mode = Mode::Probing;
    sender.set_average(Rate::from_mbps(15.0));
    sender.estimate = Some(Rate::from_mbps(15.0));
    sender.parts.classifier = LossClassifier::new(ErrorShare::new(0.0, 0.0));
    let rates = [0, 1, 2].map(|round| {
        (1..=10).for_each(|i| sender.on_ack(ms(100 * round + 10 * i), &Ack { recovery: round > 0, ..ack }));
        sender.on_loss(ms(100 * round + 100), &Loss::Event);
        sender.state().rate.unwrap().as_mbps()
    });
    // 8 Mbps arrive. With beta alone, the third would be 7.68, and more than arrives for flows that were faster.
    assert_eq!(rates.map(|mbps| (mbps * 100.0).round() / 100.0), [12.0, 6.4, 5.12]);
}

/// Estimates that are far too high cost a round trip, and not tens of them.
#[test]
fn a_loss_takes_an_absurd_rate_down_to_twice_what_arrives() {
    let after = |acked: u64, app_limited: bool, silent_ms: u64| {
        let mut sender = new_sender();
        let ms = |ms| Time::ZERO + Duration::from_millis(ms);
        let rtt = Some(Duration::from_millis(100));
        sender.mode = Mode::Probing;
        sender.set_average(Rate::from_mbps(50_000.0));
        sender.parts.classifier = LossClassifier::new(ErrorShare::new(0.0, 0.0));
        (1..=30).for_each(|i| {
            let now = ms(10 * i + if i > 15 { silent_ms } else { 0 });
            sender.on_ack(now, &Ack { acked: Bytes(acked), rtt, app_limited, ..Ack::default() });
        });
        sender.on_loss(ms(300 + silent_ms), &Loss::Event);
        sender.state().rate.unwrap().as_mbps().round()
    };
    assert_eq!(after(10_000, false, 0), 8.0, "half of twice 8 Mbps, as there was no estimate");
    assert_eq!(after(40_000_000, false, 0), 25_000.0, "two thirds arrive");
    assert_eq!(after(10_000, true, 0), 25_000.0, "the application limits what arrives");
    assert_eq!(after(10_000, false, 10_000), 8.0, "a round trip behind an outage");
}

/// A retransmission timeout, while packets are in flight.
fn lose_all(sender: &mut ThalwegSender) {
    sender.idle = false;
    sender.on_loss(Time::ZERO, &Loss::Timeout);
}

/// A packet that waits for its time may wait for longer than the host's timer. While such timeouts counted, each
/// lowered the rate and let the next packet wait anew, so that the flow stopped for good.
#[test]
fn a_timeout_while_nothing_is_in_flight_is_no_loss() {
    let mut sender = new_sender();
    let pipe = Pipe { backlog: Bytes(u64::MAX), packet: PACKET, ..Pipe::default() };
    let wait = |sender: &mut ThalwegSender| {
        (0..3).for_each(|_| sender.on_loss(Time::ZERO, &Loss::Timeout));
        sender.timeouts
    };
    assert_eq!(wait(&mut sender), 0, "nothing was sent");
    sender.on_send(Time::ZERO, PACKET, &pipe);
    assert_eq!(wait(&mut sender), 1, "one packet was sent, and the first timeout gave it up");
    sender.on_send(Time::ZERO, PACKET, &pipe);
    sender.on_ack(Time::ZERO, &Ack { acked: PACKET, in_flight: Bytes(0), ..Ack::default() });
    assert_eq!(wait(&mut sender), 1, "all that was sent has arrived");
}

/// A sender that sent at 100 Mbps before two timeouts in a row.
fn after_a_timeout() -> ThalwegSender {
    let mut sender = new_sender();
    sender.mode = Mode::Probing;
    sender.average = Rate::from_mbps(100.0);
    (0..2).for_each(|_| lose_all(&mut sender));
    sender
}

fn found(sender: &ThalwegSender, mbps: f32, recovery: bool) -> Ack {
    let report = Some(Report::Available { stream: sender.outgoing.stream().id(), rate: mbps * 1e6, interval: 0 });
    Ack { report, recovery, ..Ack::default() }
}

/// The rate at which the ramp of this sender ends, Mbps.
fn goal(sender: &ThalwegSender) -> f64 {
    let Mode::Ramp { goal } = sender.mode else { panic!("{:?}", sender.mode) };
    goal.as_mbps()
}

/// Behind a full queue, slow start finds higher rates than are available.
#[test]
fn slow_start_after_a_timeout_ends_at_half_the_rate_before_it() {
    let mut sender = after_a_timeout();
    sender.on_ack(Time::ZERO, &found(&sender, 400.0, false));
    assert_eq!(goal(&sender), 50.0);

    let mut sender = after_a_timeout();
    sender.parts.classifier = LossClassifier::new(ErrorShare::new(0.0, 0.0));
    sender.on_loss(Time::ZERO, &Loss::Event);
    sender.on_ack(Time::ZERO, &found(&sender, 400.0, true));
    sender.on_ack(Time::ZERO, &Ack::default());
    assert_eq!(
        (sender.mode, sender.average.as_mbps()),
        (Mode::Probing, 25.0),
        "and at half of that if packets of slow start were lost"
    );

    let mut sender = new_sender();
    sender.on_ack(Time::ZERO, &found(&sender, 400.0, false));
    assert_eq!(goal(&sender), 200.0, "half of what the first slow start found, which has no limit");

    let mut sender = new_sender();
    let mean = sender.average;
    lose_all(&mut sender);
    sender.on_ack(Time::ZERO, &found(&sender, 400.0, false));
    assert_eq!(goal(&sender), mean.as_mbps() * 0.5, "of the first stream, nothing arrived");
}

/// If all flows that begin together sent at what each of them has found, they would overload the path by their number.
#[test]
fn after_slow_start_the_rate_is_raised_in_steps_while_estimates_confirm_it() {
    let pipe = Pipe { backlog: Bytes(u64::MAX), packet: PACKET, ..Pipe::default() };
    let ramp = || {
        let mut sender = new_sender();
        sender.rtt = Duration::from_millis(100);
        sender.on_ack(Time::ZERO, &found(&sender, 480.0, false));
        assert_eq!((sender.average.as_mbps().round(), goal(&sender)), (3.0, 240.0), "four times ten packets in 100 ms");
        sender
    };
    // The next stream leaves, and has this estimate, as a multiple of its average rate.
    let next = |sender: &mut ThalwegSender, over: f64| {
        sender.begin_stream(Time::ZERO, &pipe);
        let estimate = (sender.average.as_mbps() * over) as f32;
        sender.on_ack(Time::ZERO, &found(sender, estimate, false));
        (sender.average.as_mbps() * 10.0).round() / 10.0
    };
    let mut alone = ramp();
    assert_eq!([2.0; 4].map(|over| next(&mut alone, over)), [12.8, 51.2, 204.8, 240.0], "steps, and the goal");
    assert_eq!(goal(&alone), 240.0, "an estimate has to confirm it");
    next(&mut alone, 2.0);
    assert_eq!(alone.mode, Mode::Probing);
    let mut overloaded = ramp();
    assert_eq!([1.5, 1.5, 0.9].map(|over| next(&mut overloaded, over)), [12.8, 51.2, 12.8], "one step back");
    assert_eq!(overloaded.mode, Mode::Probing);
    let mut late = ramp();
    late.begin_stream(Time::ZERO, &pipe);
    let first = found(&late, 50.0, false);
    late.begin_stream(Time::ZERO, &pipe);
    let second = found(&late, 1.0, false);
    [first, second].iter().for_each(|ack| late.on_ack(Time::ZERO, ack));
    assert_eq!((late.average.as_mbps() * 10.0).round(), 128.0, "a stream sent before the step says nothing of it");
    let mut lossy = ramp();
    next(&mut lossy, 2.0);
    lossy.parts.classifier = LossClassifier::new(ErrorShare::new(0.0, 0.0));
    lossy.on_loss(Time::ZERO, &Loss::Event);
    assert!(matches!(lossy.mode, Mode::Recovery { interrupted: Interrupted::Probing, .. }), "{:?}", lossy.mode);
}

/// RFC 5681, equation 4: the least slow-start threshold is two packets.
#[test]
fn the_least_average_is_two_packets_per_round_trip_or_a_tenth_of_the_initial_rate() {
    let least = [10, 160, 1000].map(|ms| {
        let mut sender = new_sender();
        sender.rtt = Duration::from_millis(ms);
        sender.set_average(Rate::from_mbps(0.001));
        (sender.average.as_mbps() * 1e3).round()
    });
    assert_eq!(least, [100.0, 100.0, 16.0], "kbps");
}

/// Ten packets would be five round trips' share of this flow.
#[test]
fn slow_start_of_a_slow_flow_after_timeouts_is_short_and_begins_at_half_its_rate_after_each() {
    let mut sender = new_sender();
    sender.rtt = Duration::from_millis(1000);
    (sender.mode, sender.average) = (Mode::Probing, Rate::from_mbps(0.064));
    let streams = [1, 2, 3, 4, 20].map(|timeouts| {
        while sender.timeouts < timeouts {
            lose_all(&mut sender);
        }
        let (low, high) = sender.outgoing.stream().range();
        (sender.outgoing.stream().length(), (low.as_mbps() * 1e5).round() / 100.0, (high.as_mbps() * 1e3).round())
    });
    // In kbps; half the rate before is 32 kbps. Two packets within 20 s are 0.8 kbps.
    assert_eq!(streams, [(3, 16.0, 64.0), (3, 8.0, 32.0), (3, 4.0, 16.0), (3, 2.0, 8.0), (3, 0.8, 3.0)]);
    // The stream takes up to 20 s, and then the sender waits for four round trips.
    let timeout = sender.feedback_deadline().since(Time::ZERO).as_secs();
    assert!((20.0..=24.0).contains(&timeout), "{timeout} s");
}

/// Losses interrupt the streams of slow flows again and again, so that no estimate comes.
#[test]
fn without_an_estimate_a_flow_climbs_slowly_and_a_slow_one_by_a_larger_share() {
    let climbs = [0.2, 20.0].map(|mbps| {
        let mut sender = new_sender();
        (sender.mode, sender.average, sender.rtt) = (Mode::Probing, Rate::from_mbps(mbps), Duration::from_millis(100));
        let pipe = Pipe { backlog: Bytes(u64::MAX), packet: PACKET, ..Pipe::default() };
        sender.begin_stream(Time::ZERO + Duration::from_millis(100), &pipe);
        (sender.average.as_mbps() / mbps - 1.0) * 100.0
    });
    // A tenth in a round trip; and the root of 31.9 kbps, 0.1 s after the start, times the rate, in 250 ms.
    assert!((climbs[0] - 10.0).abs() < 0.01 && (climbs[1] - 1.597).abs() < 0.001, "{climbs:?} %");
}

/// The least rate rises when an estimate arrives or the round-trip time falls, but a loss must not raise the rate to
/// it.
#[test]
fn a_loss_does_not_raise_a_rate_below_the_least_one() {
    let mut sender = new_sender();
    sender.parts.classifier = LossClassifier::new(ErrorShare::new(0.0, 0.0));
    (sender.mode, sender.average, sender.rtt) = (Mode::Probing, Rate::from_mbps(0.02), Duration::from_millis(10));
    assert!(sender.at_least(sender.average) > sender.average);
    (1..4).for_each(|i| {
        sender.on_loss(Time::ZERO + Duration::from_millis(i), &Loss::Event);
        assert!(sender.state().rate.unwrap() < Rate::from_mbps(0.02), "{:?}", sender.state());
    });
}

#[test]
fn the_least_average_is_halved_by_each_timeout_and_doubled_by_each_estimate() {
    let mut sender = new_sender();
    sender.rtt = Duration::from_millis(10);
    let least = |sender: &ThalwegSender| (sender.at_least(Rate::from_bps(1.0)).as_mbps() * 1e3).round();
    (0..2).for_each(|_| lose_all(&mut sender));
    let before = least(&sender);
    sender.on_ack(Time::ZERO, &found(&sender, 0.001, false));
    assert_eq!((before, least(&sender)), (25.0, 50.0), "kbps");
}

#[test]
fn a_loss_in_slow_start_tells_that_a_stream_per_round_trip_was_too_much() {
    let recovery = |ms| {
        let mut sender = new_sender();
        (sender.rtt, sender.parts.classifier) =
            (Duration::from_millis(ms), LossClassifier::new(ErrorShare::new(0.0, 0.0)));
        sender.on_loss(Time::ZERO, &Loss::Event);
        (sender.recovery_rate().as_mbps() * 1e3).round()
    };
    assert_eq!([recovery(1000), recovery(1)], [40.0, 2502.0], "kbps: half of 10 packets, and half of the mean rate");
}

#[test]
fn streams_of_slow_flows_are_shorter() {
    let mut sender = new_sender();
    let packets = [0.1, 2.0, 100.0].map(|mbps| {
        sender.average = Rate::from_mbps(mbps);
        sender.len()
    });
    assert_eq!(packets, [8, 15, 60], "eight at least; as many as leave in 60 ms; 60 at most");
}

/// Each timeout halves the least rate, too. With eight packets in a stream, a flow at that rate would wait for its
/// estimate for half a minute.
#[test]
fn streams_after_timeouts_are_as_short_as_the_least_rate_is_low() {
    let mut sender = new_sender();
    for timeouts in 1..=5 {
        sender.timeouts = timeouts;
        sender.average = sender.at_least(Rate::from_bps(1.0));
        assert_eq!(sender.len(), [4, 3, 3, 3, 3][timeouts as usize - 1]);
        assert!(sender.duration(sender.len()).as_secs() < 15.0, "{timeouts}");
    }
}

#[test]
fn the_rate_does_not_rise_behind_a_standing_queue() {
    let mut sender = new_sender();
    let pipe = Pipe { backlog: Bytes(u64::MAX), packet: PACKET, ..Pipe::default() };
    let mut after = |ms| {
        let rtt = Some(Duration::from_millis(ms));
        (0..8).for_each(|_| sender.on_ack(Time::ZERO, &Ack { rtt, ..Ack::default() }));
        (sender.mode, sender.average, sender.estimate) =
            (Mode::Probing, Rate::from_mbps(100.0), Some(Rate::from_mbps(200.0)));
        sender.begin_stream(Time::ZERO, &pipe);
        sender.average.as_mbps()
    };
    assert!(after(50) > 100.0 && after(60) < 100.0 && after(50) > 100.0);
}

/// One interruption of a host that sends bursts must not end slow start; two streams that find the same must.
#[test]
fn on_a_host_with_a_quantum_slow_start_ends_after_two_low_estimates_in_a_row() {
    let host = Conditions { quantum: Duration::from_micros(200), ..Conditions::exact(PACKET) };
    let sender = || {
        let mut sender = Thalweg::default().thalweg_sender(&host);
        sender.on_ack(Time::ZERO, &found(&sender, 2.0, false));
        assert!(matches!(sender.mode, Mode::SlowStart { doubted: Some(_), .. }), "{:?}", sender.mode);
        sender
    };
    for (second, decides) in [(3.0, 2.0), (1.0, 1.0), (9.0, 9.0), (0.2, 2.0)] {
        let mut sender = sender();
        sender.on_ack(Time::ZERO, &found(&sender, second, false));
        assert_eq!((sender.mode, sender.average.as_mbps().round()), (Mode::Probing, decides), "2 and {second} Mbps");
    }
    let mut interrupted = sender();
    let Mode::SlowStart { first, top, .. } = interrupted.mode else { unreachable!() };
    interrupted.on_ack(Time::ZERO, &found(&interrupted, top.as_bps() as f32 / 1e6, false));
    let goes_on = matches!(interrupted.mode, Mode::SlowStart { first: next, doubted: None, .. } if next > first);
    assert!(goes_on, "{:?}", interrupted.mode);
}

/// Two streams of single packets find 8 Mbps, at which a packet takes a millisecond: five quanta. The same stream in
/// bursts finds as much, or goes on in such bursts if interrupt coalescing has hidden the rest.
#[test]
fn on_a_host_with_a_quantum_what_coalescing_may_hide_is_tried_in_bursts() {
    let host = Conditions { quantum: Duration::from_micros(200), ..Conditions::exact(PACKET) };
    let in_bursts = || {
        let mut sender = Thalweg::default().thalweg_sender(&host);
        sender.on_ack(Time::ZERO, &found(&sender, 8.0, false));
        sender.on_ack(Time::ZERO, &found(&sender, 9.0, false));
        let Mode::SlowStart { first, top, quantum, .. } = sender.mode else { panic!("{:?}", sender.mode) };
        assert_eq!((first.as_mbps(), top.as_mbps(), quantum), (4.0, 16.0, Duration::from_millis(1)));
        assert_eq!((sender.outgoing.stream().length(), sender.outgoing.burst()), (4, Bytes(4 * PACKET.0)));
        sender
    };
    let mut no_more = in_bursts();
    no_more.on_ack(Time::ZERO, &found(&no_more, 8.0, false));
    assert_eq!((no_more.mode, no_more.average.as_mbps()), (Mode::Probing, 8.0));
    let mut late = in_bursts();
    late.time_out(Time::ZERO);
    assert_eq!(late.outgoing.bursts().quantum(), host.quantum, "slow start begins again");
    let mut more = in_bursts();
    more.on_ack(Time::ZERO, &found(&more, 16.0, false));
    let Mode::SlowStart { first, top, quantum, .. } = more.mode else { panic!("{:?}", more.mode) };
    assert_eq!((first.as_mbps(), top.as_mbps(), quantum), (16.0, 64.0, Duration::from_millis(1)));
    more.on_ack(Time::ZERO, &found(&more, 32.0, false));
    more.on_ack(Time::ZERO, &found(&more, 32.0, false));
    assert_eq!((more.mode, more.average.as_mbps()), (Mode::Probing, 32.0));
    assert_eq!(more.outgoing.bursts().quantum(), host.quantum, "that of the host");
}

/// A report of the stream of slow start that is being sent, and of this time between batches, us.
fn found_with(sender: &ThalwegSender, mbps: f32, interval: u16) -> Ack {
    let mut ack = found(sender, mbps, false);
    if let Some(Report::Available { interval: told, .. }) = &mut ack.report {
        *told = interval;
    }
    ack
}

#[test]
fn on_a_host_with_a_quantum_batches_are_tried_with_the_time_between_them_once() {
    let quantum = Duration::from_micros(200);
    let host = Conditions { quantum, ..Conditions::exact(PACKET) };
    let third = |first: f32, second: f32| {
        let mut sender = Thalweg::default().thalweg_sender(&host);
        sender.on_ack(Time::ZERO, &found_with(&sender, first, 4000));
        sender.on_ack(Time::ZERO, &found_with(&sender, second, 4000));
        sender
    };
    let first_rate = |sender: &ThalwegSender| {
        let Mode::SlowStart { first, quantum, .. } = sender.mode else { panic!("{:?}", sender.mode) };
        assert_eq!(quantum, Duration::from_millis(4));
        first.as_mbps()
    };
    assert_eq!(first_rate(&third(2.0, 3.0)), 1.0);
    assert_eq!(first_rate(&third(0.3, 4.0)), 2.0, "the first was interrupted");
    assert!(first_rate(&third(0.0, 0.0)) > 0.0);
    // The third stream finds no more, and neither does it if it was interrupted.
    for (found, decides) in [(2.0, 2.0), (0.1, 2.0)] {
        let mut sender = third(2.0, 3.0);
        sender.on_ack(Time::ZERO, &found_with(&sender, found, 5000));
        assert_eq!((sender.mode, sender.average.as_mbps()), (Mode::Probing, decides));
    }
}

/// Where the host can time any gap, batches that a stream of slow start shows do not repeat it in bursts: the flow goes
/// on with half of what it found.
#[test]
fn on_a_path_with_batches_slow_start_ends_as_it_does_without() {
    let mut sender = new_sender();
    let report = |sender: &ThalwegSender| {
        Some(Report::Available { stream: sender.outgoing.stream().id(), rate: 4e6, interval: 2000 })
    };
    sender.on_ack(Time::ZERO, &Ack { report: report(&sender), ..found(&sender, 4.0, false) });
    assert_eq!(sender.mode, Mode::Ramp { goal: Rate::from_mbps(2.0) });
    assert_eq!(sender.outgoing.bursts().batches(), Duration::from_millis(2));
    assert_eq!(sender.packets_in_burst(), 1, "a packet takes 2 ms at the highest rate of the next stream");
}
