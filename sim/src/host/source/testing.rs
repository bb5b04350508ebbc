//! A source and its sink on a path without a queue, for the tests of loss recovery.

use crate::host::source::{Environment, Setup, Source};
use crate::host::{Answer, Sink};
use crate::packet::{Body, Packet};
use control::{Bytes, Conditions, Duration, Recovery, Stamp, Time, registry};
use path::Ecn;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, VecDeque};

const PACKET: Bytes = Bytes(1000);
const RTT: Duration = Duration::from_millis(100);

pub(super) fn ms(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// What a source has sent, and when it is to be called.
#[derive(Default)]
struct Calls {
    sent: VecDeque<Packet>,
    timers: BTreeSet<Time>,
    wakes: BTreeSet<Time>,
}

impl Environment for Calls {
    fn send(&mut self, _: u32, _: u32, make: impl FnOnce() -> Packet) {
        self.sent.push_back(make());
    }
    fn wake_at(&mut self, time: Time) {
        self.wakes.insert(time);
    }
    fn timer_at(&mut self, time: Time) {
        self.timers.insert(time);
    }
}

/// A flow. Each packet is acknowledged after a round trip of 100 ms.
pub(super) struct Flow {
    pub source: Source,
    sink: Sink,
    calls: Calls,
    /// When the last acknowledgment arrived, or the last timer ended.
    pub now: Time,
    /// Nothing that leaves before this time arrives before it.
    pub held_until: Time,
    /// Whether a packet is lost.
    pub loses: Box<dyn Fn(&Packet) -> bool>,
    /// The departures and the segments of all packets that have arrived or were lost, in order.
    pub log: Vec<(Time, u64)>,
}

impl Flow {
    /// A flow of `segments`, or without end, by this controller of the registry with these parameters.
    pub fn new(recovery: Recovery, segments: Option<u64>, controller: &str, parameters: &Map<String, Value>) -> Flow {
        Flow::with(recovery, segments, controller, parameters, |_| ())
    }

    /// The same, whose source is set up otherwise by `change`.
    pub fn with(
        recovery: Recovery,
        segments: Option<u64>,
        controller: &str,
        parameters: &Map<String, Value>,
        change: impl FnOnce(&mut Setup),
    ) -> Flow {
        let controller = registry::find(controller).expect("in the registry");
        let parameters = controller.parameters(parameters).expect("its parameters");
        let mut setup = Setup {
            controller: controller.build(&parameters, &Conditions::exact(PACKET)).expect("its parameters").sender,
            recovery,
            size: segments.map(|segments| Bytes(segments * PACKET.0)),
            packet: PACKET,
            receive_window: Some(100),
            max_burst: None,
            pacing: None,
            min_rto: Duration::from_millis(200),
            idle_restart: false,
            flow: 0,
            way_out: 0,
            ecn: Ecn::NotEct,
        };
        change(&mut setup);
        let source = Source::new(setup);
        let mut flow = Flow {
            source,
            sink: Sink::new(None, 40, 0, None),
            calls: Calls::default(),
            now: ms(0),
            held_until: ms(0),
            loses: Box::new(|_| false),
            log: Vec::new(),
        };
        flow.source.on_wake(ms(0), &mut flow.calls);
        flow
    }

    /// When the acknowledgment of the packet arrives that left first.
    fn next_ack(&self) -> Option<Time> {
        self.calls.sent.front().map(|packet| (packet.sent + RTT).max(self.held_until))
    }

    /// Goes on until `end`, or until everything is acknowledged.
    pub fn run_until(&mut self, end: Time) {
        while !self.source.is_done() {
            // An acknowledgment comes before a timer of the same time.
            let (ack, wake, timer) = (self.next_ack(), self.calls.wakes.first(), self.calls.timers.first());
            let Some(now) = ack.iter().chain(wake).chain(timer).copied().min().filter(|&now| now <= end) else {
                return;
            };
            self.now = now;
            if ack == Some(now) {
                let packet = self.calls.sent.pop_front().expect("there is one");
                self.log.push((packet.sent, packet.segment));
                if (self.loses)(&packet) {
                    continue;
                }
                let Answer::Send(ack) = self.sink.on_arrival(now, &packet, &Stamp::None) else { panic!("not delayed") };
                let Body::Ack { out_of_order, marked, report } = ack.body else { panic!("an acknowledgment") };
                self.source.on_ack(now, &ack, (out_of_order, marked, &report), &mut self.sink, &mut self.calls);
            } else if self.calls.wakes.remove(&now) {
                self.source.on_wake(now, &mut self.calls);
            } else {
                self.calls.timers.pop_first();
                self.source.on_timer(now, &mut self.calls);
            }
        }
    }

    /// The congestion window, packets.
    pub fn window(&self) -> f64 {
        self.source.state().window.expect("a window protocol")
    }
}
