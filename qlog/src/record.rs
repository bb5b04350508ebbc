//! The record of one flow, and the sender that fills it.

use crate::event::{Event, Happened, milliseconds};
use crate::thin::Thinned;
use control::{Ack, Bytes, Duration, Loss, Next, Pipe, Rate, Report, Sender, Stamp, State, Time};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The events of one flow so far. Clones are the same record.
#[derive(Clone, Debug, Default)]
pub struct Record(Arc<Mutex<Events>>);

#[derive(Debug, Default)]
struct Events {
    /// The time of a sender's clock at which the log begins.
    zero: Time,
    /// How many senders have written.
    senders: u32,
    all: Vec<Event>,
}

impl Record {
    /// `sender`, but all that its host tells it and all that it shows of itself is recorded, thinned. `packet` is the
    /// size of a full packet.
    pub fn watch(&self, sender: Box<dyn Sender>, packet: Bytes) -> Box<dyn Sender> {
        let thinned = Thinned::new(packet);
        Box::new(Watched { sender, thinned, lost_before: None, number: None, record: self.clone() })
    }

    /// The log begins at `zero` of the senders' clock, which is its beginning unless this is called. What they hear
    /// before is recorded at the beginning of the log.
    pub fn begin_at(&self, zero: Time) {
        self.lock().zero = zero;
    }

    /// Something else happened, `time` after the beginning of the log.
    pub fn add(&self, time: Duration, happened: Happened) {
        self.lock().all.push(Event { time: milliseconds(time), happened });
    }

    /// The events so far, in the order of time; they are no longer in the record.
    pub fn take(&self) -> Vec<Event> {
        let mut all = std::mem::take(&mut self.lock().all);
        all.sort_by(|a, b| a.time.total_cmp(&b.time));
        all
    }

    fn lock(&self) -> MutexGuard<'_, Events> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sender that is watched.
struct Watched {
    sender: Box<dyn Sender>,
    thinned: Thinned,
    /// A timeout was told, and so much was in flight before. What is in flight after it, [`Pipe`] tells next.
    lost_before: Option<Bytes>,
    /// Which of the record's senders it is, once it has written.
    number: Option<u32>,
    record: Record,
}

impl Watched {
    /// Moves what is to be written into the record.
    fn keep(&mut self) {
        let mut events = self.record.lock();
        if self.number.is_none() {
            // Another sender may have opened the connection. What it wrote before the log begins is not about this one.
            let by_sender =
                |it: &Happened| matches!(it, Happened::Metrics(_) | Happened::State { .. } | Happened::Lost { .. });
            events.all.retain(|event| event.time > 0.0 || !by_sender(&event.happened));
            events.senders += 1;
            self.number = Some(events.senders);
        }
        let zero = events.zero;
        for (time, happened) in self.thinned.written.drain(..) {
            events.all.push(Event { time: milliseconds(Duration(time.0.saturating_sub(zero.0))), happened });
        }
    }

    /// Looks at the sender's state, which `trigger` may have changed.
    fn look(&mut self, now: Time, trigger: Option<&'static str>) {
        self.thinned.show(now, &self.sender.state(), self.sender.slow_start_threshold(), trigger);
    }

    /// Writes what is due.
    fn write(&mut self) {
        self.thinned.write_due();
        if !self.thinned.written.is_empty() {
            self.keep();
        }
    }
}

impl Sender for Watched {
    fn open(&mut self, now: Time) -> Stamp {
        self.sender.open(now)
    }

    fn on_open(&mut self, now: Time, rtt: Duration, report: Option<Report>) {
        self.sender.on_open(now, rtt, report);
    }

    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        if let Some(before) = self.lost_before.take() {
            self.thinned.on_timeout(now, Bytes(before.0.saturating_sub(pipe.in_flight.0)));
            self.keep();
        }
        self.sender.next(now, pipe)
    }

    fn window(&self) -> Option<Bytes> {
        self.sender.window()
    }

    fn frto(&self) -> bool {
        self.sender.frto()
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        let stamp = self.sender.on_send(now, size, pipe);
        if self.thinned.on_send(pipe.in_flight + size) {
            self.look(now, None);
            self.write();
        }
        stamp
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.lost_before = None; // if there was a timeout, this acknowledgment tells what was lost
        self.sender.on_ack(now, ack);
        self.thinned.on_ack(now, ack);
        self.look(now, (ack.marked > Bytes(0)).then_some("ecn"));
        self.write();
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        self.sender.on_loss(now, loss);
        // The acknowledgment that showed a loss event comes next, and with it the metrics.
        match loss {
            Loss::Event => self.look(now, Some("loss")),
            Loss::Timeout => {
                self.lost_before = Some(self.thinned.in_flight());
                self.look(now, Some("timeout"));
            }
        }
    }

    fn on_idle(&mut self, now: Time) {
        self.sender.on_idle(now);
        self.look(now, Some("idle"));
    }

    fn state(&self) -> State {
        self.sender.state()
    }

    fn available(&self) -> Option<Rate> {
        self.sender.available()
    }

    fn slow_start_threshold(&self) -> Option<f64> {
        self.sender.slow_start_threshold()
    }
}

/// What has not been written yet is written when the run ends, unless another sender has taken over long before.
impl Drop for Watched {
    fn drop(&mut self) {
        if self.number.is_some_and(|number| number == self.record.lock().senders) {
            self.thinned.finish();
            self.keep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Metric;
    use control::registry;

    const PACKET: Bytes = Bytes(1000);
    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000_000);

    /// A watched Reno that has sent ten packets, one per millisecond.
    fn reno(record: &Record) -> Box<dyn Sender> {
        let reno = registry::find("reno").unwrap();
        let host = control::Conditions::exact(PACKET);
        let mut sender = record.watch(reno.build(reno.defaults(), &host).unwrap().sender, PACKET);
        for i in 0..10 {
            let pipe = Pipe { in_flight: Bytes(1000 * i), packet: PACKET, ..Pipe::default() };
            sender.next(MS(i), &pipe);
            sender.on_send(MS(i), PACKET, &pipe);
        }
        sender
    }

    fn ack(in_flight: u64, lost: u64) -> Ack {
        let rtt = Some(Duration::from_millis(100));
        Ack { acked: PACKET, lost: Bytes(lost), rtt, in_flight: Bytes(in_flight), ..Ack::default() }
    }

    #[test]
    fn a_loss_is_recorded_with_the_state_that_it_leads_to() {
        let record = Record::default();
        let mut sender = reno(&record);
        sender.on_ack(MS(100), &ack(9000, 0));
        sender.on_loss(MS(200), &Loss::Event);
        sender.on_ack(MS(200), &Ack { recovery: true, ..ack(7000, 1000) });
        let all = record.take();
        let states: Vec<_> = all
            .iter()
            .filter_map(|event| match &event.happened {
                Happened::State { old, new, trigger } => {
                    Some((event.time, old.as_deref(), &new[..], trigger.as_deref()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(states, [(0.0, None, "slow_start", None), (200.0, Some("slow_start"), "recovery", Some("loss"))]);
        let lost = Event { time: 200.0, happened: Happened::Lost { packets: 1, bytes: Some(1000), trigger: None } };
        assert!(all.contains(&lost), "{all:?}");
        let Happened::Metrics(last) = &all.last().unwrap().happened else { panic!("{all:?}") };
        let values = [Metric::BytesInFlight, Metric::PacketsInFlight, Metric::MinRtt].map(|metric| last.get(metric));
        assert_eq!(values, [Some(7000.0), Some(7.0), None], "the least round-trip time has not changed");
        assert!(last.get(Metric::Ssthresh).is_some());
    }

    #[test]
    fn a_timeout_tells_how_much_it_gave_up() {
        let record = Record::default();
        let mut sender = reno(&record);
        sender.on_loss(MS(1000), &Loss::Timeout);
        sender.next(MS(1000), &Pipe { packet: PACKET, repairing: true, ..Pipe::default() });
        drop(sender);
        let all = record.take();
        let trigger = Some("pto_expired".to_string());
        let lost = Happened::Lost { packets: 10, bytes: Some(10_000), trigger };
        assert!(all.contains(&Event { time: 1000.0, happened: lost }), "{all:?}");
        let count = |event: &Event| match &event.happened {
            Happened::Metrics(metrics) => metrics.get(Metric::PtoCount),
            _ => None,
        };
        assert_eq!(all.iter().rev().find_map(count), Some(1.0), "{all:?}");
    }

    #[test]
    fn a_sender_that_takes_over_at_the_beginning_is_the_only_one() {
        let record = Record::default();
        record.begin_at(MS(500));
        let mut first = reno(&record);
        first.on_ack(MS(100), &ack(9000, 0));
        record.add(Duration::ZERO, Happened::Ecn { old: None, new: "testing".into() });
        let mut second = reno(&record);
        second.on_ack(MS(600), &ack(5000, 0));
        drop(first);
        let all = record.take();
        let states = all.iter().filter(|event| matches!(event.happened, Happened::State { .. })).count();
        assert_eq!((states, all.len()), (1, 4), "ECN, a state and metrics at zero, and metrics: {all:?}");
    }

    #[test]
    fn times_count_from_the_beginning_of_the_log() {
        let record = Record::default();
        record.begin_at(MS(60));
        let mut sender = reno(&record);
        sender.on_ack(MS(100), &ack(9000, 0));
        record.add(Duration::from_millis(10), Happened::Ecn { old: None, new: "capable".into() });
        let times: Vec<f64> = record.take().iter().map(|event| event.time).collect();
        assert_eq!(times.first(), Some(&0.0));
        assert!(times.contains(&10.0) && times.contains(&40.0), "{times:?}");
        assert!(record.take().is_empty());
    }
}
