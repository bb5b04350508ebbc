//! What late departures cost the senders of p-streams: one flow alone on a path, in made-up time, from a host that
//! cannot time short gaps and whose departures are late at random. `cargo test -p thalweg-control --test late --
//! --nocapture` prints the table.

extern crate thalweg_control as control;

use control::registry::{self, Parties};
use control::{Ack, Bytes, Conditions, Duration, Next, Pipe, Rate, Report, Stamp, Time, contract};
use std::collections::VecDeque;

const PACKET: Bytes = Bytes(1200);
const RTT: Duration = Duration::from_millis(40);
const RUN: Duration = Duration::from_millis(4000);
/// The rate is measured from here on.
const FROM: Duration = Duration::from_millis(1500);

/// How late the host's departures are.
#[derive(Clone, Copy, Debug)]
struct Late {
    /// Uniform from zero to this.
    often: Duration,
    /// Once in [`RARELY`] departures: this.
    rarely: Duration,
}

const RARELY: u64 = 500;

/// Random numbers, the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn late(&mut self, late: Late) -> Duration {
        let often = late.often.scale((self.next() % 1000) as f64 / 1000.0);
        if self.next().is_multiple_of(RARELY) { often.max(late.rarely) } else { often }
    }
}

/// A packet on its way back.
struct Answer {
    at: Time,
    sent: Time,
    report: Option<Report>,
}

/// The share of a link of this capacity that the controller uses, and the longest queue in packets.
fn alone(controller: &str, capacity: Rate, quantum: Duration, late: Late) -> (f64, u64) {
    let host = Conditions { timing_error: Duration::from_micros(10), quantum, ..Conditions::exact(PACKET) };
    let controller = registry::find(controller).unwrap();
    let Parties { sender, receiver } = controller.build(controller.defaults(), &host).unwrap();
    let (mut sender, mut receiver) = (contract::checked(sender), receiver.unwrap());
    let mut random = Random(1);
    let (mut now, mut busy, mut answers) = (Time::ZERO, Time::ZERO, VecDeque::<Answer>::new());
    // The time that the sender asked for, and the time at which the host wakes up for it.
    let mut wake: Option<(Time, Time)> = None;
    let (mut in_flight, mut delivered, mut longest, mut newest) = (0, 0, 0, None);
    while now < Time::ZERO + RUN {
        let pipe = |in_flight| Pipe {
            in_flight: Bytes(in_flight * PACKET.0),
            backlog: Bytes(u64::MAX),
            packet: PACKET,
            repairing: false,
        };
        // The host does not ask while it sleeps, but when it wakes up.
        if wake.is_none_or(|(_, at)| at <= now) {
            wake = None;
            match sender.next(now, &pipe(in_flight)) {
                Next::Now => {
                    let stamp = sender.on_send(now, PACKET, &pipe(in_flight));
                    in_flight += 1;
                    busy = busy.max(now) + capacity.time_for(PACKET);
                    longest = longest.max(busy.since(now).0 / capacity.time_for(PACKET).0);
                    let report = match stamp {
                        Stamp::None => None,
                        stamp => receiver.on_arrival(busy + Duration(RTT.0 / 2), &stamp, PACKET),
                    };
                    newest = report.or(newest);
                    answers.push_back(Answer { at: busy + RTT, sent: now, report: newest });
                    continue;
                }
                Next::At(time) => wake = Some((time, time + random.late(late))),
                Next::AfterAck => {}
            }
        }
        let answer = answers.front().map_or(Time::MAX, |answer| answer.at);
        if answer <= wake.map_or(Time::MAX, |(_, at)| at) {
            let Answer { at, sent, report } = answers.pop_front().expect("an answer, or the sender waits for ever");
            now = now.max(at);
            in_flight -= 1;
            delivered += if now > Time::ZERO + FROM { PACKET.0 } else { 0 };
            let (acked, rtt) = (PACKET, Some(now.since(sent)));
            let in_flight = Bytes(in_flight * PACKET.0);
            sender.on_ack(now, &Ack { acked, rtt, in_flight, report, ..Ack::default() });
            // What it says may change when the next packet leaves.
            if let Some((asked, _)) = wake {
                match sender.next(now, &pipe(in_flight.0 / PACKET.0)) {
                    Next::Now if asked > now => wake = Some((now, now + random.late(late))),
                    Next::At(time) if time != asked => wake = Some((time, time + random.late(late))),
                    _ => {}
                }
            }
        } else if let Some((_, at)) = wake {
            now = now.max(at);
        }
    }
    (Bytes(delivered).over(RUN - FROM) / capacity, longest)
}

/// Of what a host uses that is on time, as quanta and links vary.
#[test]
fn late_departures_do_not_lower_the_rate() {
    let us = Duration::from_micros;
    let never = Late { often: us(0), rarely: us(0) };
    println!("controller, Mbps, quantum: use and longest queue, on time; late by up to 300 us; and now and then 3 ms");
    for controller in ["rapid", "thalweg"] {
        for (mbps, quantum) in [(100.0, 50), (300.0, 50), (300.0, 200)] {
            let alone = |late| alone(controller, Rate::from_mbps(mbps), us(quantum), late);
            let often = Late { often: us(300), ..never };
            let found =
                [never, often, Late { rarely: us(3000), ..often }, Late { rarely: us(3000), ..never }].map(alone);
            println!("{controller:8} {mbps:5} Mbps {quantum:3} us: {found:.3?}");
            let [(on_time, _), late @ ..] = found;
            assert!(on_time > 0.98 && late.iter().all(|(late, _)| *late > 0.95 * on_time));
        }
    }
}
