//! Checks that a host keeps to the contract of [`Sender`] (see [`roles`](crate::roles)), for the tests of hosts.

use crate::roles::{Ack, Loss, Next, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Duration, Rate, Time};
use alloc::boxed::Box;

/// `sender`, but each call that breaks the contract panics and says which rule was broken.
pub fn checked(sender: Box<dyn Sender>) -> Box<dyn Sender> {
    Box::new(Checked {
        sender,
        sending: Time::ZERO,
        hearing: Time::ZERO,
        packet: None,
        answer: None,
        acknowledged: None,
        owes_acknowledgment: None,
        sent_since_loss: true,
        sent_since_timeout: true,
        timed_out: false,
        is_idle: false,
    })
}

/// The sender, and what the host has told it so far.
struct Checked {
    sender: Box<dyn Sender>,
    /// The latest time of a call of `next` or `on_send`.
    sending: Time,
    /// The latest time of any other call.
    hearing: Time,
    /// The size of a full packet, once `next` was called.
    packet: Option<Bytes>,
    /// The question that was just asked and its answer, until another call.
    answer: Option<(Time, Pipe, Next)>,
    /// The time of the last acknowledgment.
    acknowledged: Option<Time>,
    /// A loss event was told at this time, which is that of an acknowledgment before it.
    owes_acknowledgment: Option<Time>,
    sent_since_loss: bool,
    sent_since_timeout: bool,
    /// A timeout was told, and not that it was spurious.
    timed_out: bool,
    /// The host told of an idle period, and nothing has left since.
    is_idle: bool,
}

impl Checked {
    fn may_open(&self) {
        assert!(self.packet.is_none(), "contract: a connection opens before its first packet is asked for");
    }

    /// A call that asks for a packet or sends one.
    fn on_sending(&mut self, now: Time) {
        assert!(now >= self.sending, "contract: the time of sending went back, from {} to {now}", self.sending);
        if let Some(time) = self.owes_acknowledgment {
            panic!("contract: the loss event at {time} came after its acknowledgment, not before");
        }
        self.sending = now;
    }

    /// A call that tells what arrived or was lost.
    fn on_hearing(&mut self, now: Time) {
        assert!(now >= self.hearing, "contract: the time of hearing went back, from {} to {now}", self.hearing);
        self.hearing = now;
        self.answer = None;
    }
}

impl Sender for Checked {
    fn open(&mut self, now: Time) -> Stamp {
        self.may_open();
        self.on_hearing(now);
        self.sender.open(now)
    }

    fn on_open(&mut self, now: Time, rtt: Duration, report: Option<Report>) {
        self.may_open();
        self.on_hearing(now);
        self.sender.on_open(now, rtt, report);
    }

    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.on_sending(now);
        let packet = *self.packet.get_or_insert(pipe.packet);
        assert!(packet == pipe.packet, "contract: a full packet took {packet}, now {}", pipe.packet);
        let in_flight = pipe.in_flight;
        assert!(!self.is_idle || in_flight.0 == 0, "contract: {in_flight} in flight after an idle period");
        let next = self.sender.next(now, pipe);
        if let Next::At(time) = next {
            assert!(time >= now, "contract: the sender asks to be asked in the past, at {time}; it is {now}");
        }
        if let Some(window) = self.sender.window() {
            let expected = if pipe.in_flight + packet <= window { Next::Now } else { Next::AfterAck };
            assert!(next == expected, "contract: with a window of {window} and {pipe:?}, the answer is {next:?}");
        }
        self.answer = Some((now, *pipe, next));
        next
    }

    fn window(&self) -> Option<Bytes> {
        self.sender.window()
    }

    fn frto(&self) -> bool {
        self.sender.frto()
    }

    fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        self.on_sending(now);
        let Some((asked, before, next)) = self.answer.take() else {
            panic!(
                "contract: a packet leaves, but the sender was not asked since the last one left or something happened"
            );
        };
        assert!(asked == now, "contract: the sender was asked at {asked}, and the packet leaves at {now}");
        assert!(before == *pipe, "contract: the sender was asked with {before:?}, and the packet leaves with {pipe:?}");
        if let Next::At(time) = next {
            assert!(time <= now, "contract: a packet leaves at {now}, before its time {time}");
        }
        (self.sent_since_loss, self.sent_since_timeout, self.is_idle) = (true, true, false);
        let has_window = self.sender.window().is_some();
        let stamp = self.sender.on_send(now, size, pipe);
        assert!(!has_window || stamp == Stamp::None, "contract: a stamp from a sender that only has a window");
        stamp
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.on_hearing(now);
        (self.acknowledged, self.owes_acknowledgment) = (Some(now), None);
        assert!(!ack.spurious_timeout || self.sender.frto(), "contract: an undone timeout, told without F-RTO");
        assert!(!ack.spurious_timeout || self.timed_out, "contract: a timeout is spurious that was not told");
        self.timed_out &= !ack.spurious_timeout;
        self.sender.on_ack(now, ack);
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        self.on_hearing(now);
        match loss {
            Loss::Event => {
                assert!(self.sent_since_loss, "contract: a second loss event of packets sent before the first");
                self.owes_acknowledgment = self.acknowledged.filter(|&time| time == now);
            }
            Loss::Timeout => {
                assert!(self.sent_since_timeout, "contract: a second timeout, and nothing was sent since the first");
                (self.sent_since_timeout, self.timed_out) = (false, true);
            }
        }
        self.sent_since_loss = false;
        self.sender.on_loss(now, loss);
    }

    fn on_idle(&mut self, now: Time) {
        self.on_hearing(now);
        self.is_idle = true;
        self.sender.on_idle(now);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::Phase;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const PACKET: Bytes = Bytes(1000);
    const PIPE: Pipe = Pipe { in_flight: Bytes(0), backlog: PACKET, packet: PACKET, repairing: false };

    /// Always gives the same answer.
    struct Always(Next);

    impl Sender for Always {
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

    /// What a host did to a sender whose answer is `next`: the rule that it broke, if it broke one.
    fn broken(next: Next, host: impl FnOnce(&mut dyn Sender)) -> Option<String> {
        let mut sender = checked(Box::new(Always(next)));
        let panic = catch_unwind(AssertUnwindSafe(|| host(&mut *sender))).err()?;
        let text = panic.downcast_ref::<String>().cloned();
        text.or(panic.downcast_ref::<&str>().map(|text| text.to_string()))
    }

    fn ask_and_send(sender: &mut dyn Sender, now: u64) {
        sender.next(Time(now), &PIPE);
        sender.on_send(Time(now), PACKET, &PIPE);
    }

    fn ack(sender: &mut dyn Sender, now: u64) {
        sender.on_ack(Time(now), &Ack::default());
    }

    #[test]
    fn a_host_that_keeps_to_the_contract_is_not_stopped() {
        let none = broken(Next::Now, |sender| {
            sender.open(Time(0));
            sender.open(Time(1));
            sender.on_open(Time(2), Duration(2), None);
            [2, 2, 9].into_iter().for_each(|now| ask_and_send(sender, now));
            ack(sender, 5); // packets may be handed over ahead of their time
            sender.on_loss(Time(5), &Loss::Event);
            ack(sender, 5);
            ask_and_send(sender, 9);
            sender.on_loss(Time(6), &Loss::Event); // found by a timer
            sender.on_loss(Time(7), &Loss::Timeout);
            ask_and_send(sender, 9);
            sender.on_loss(Time(8), &Loss::Timeout);
            sender.on_idle(Time(9));
            ask_and_send(sender, 9);
        });
        assert_eq!(none, None);
        assert_eq!(broken(Next::AfterAck, |sender| ask_and_send(sender, 1)), None, "a repair may leave all the same");
    }

    #[test]
    fn each_broken_rule_is_named() {
        let is_broken = |rule: &str, next, host: &dyn Fn(&mut dyn Sender)| {
            let found = broken(next, host).expect(rule);
            assert!(found.contains(rule), "{found}");
        };
        is_broken("the time of sending went back", Next::Now, &|sender| {
            [3, 2].into_iter().for_each(|now| ask_and_send(sender, now));
        });
        is_broken("the time of hearing went back", Next::Now, &|sender| {
            [3, 2].into_iter().for_each(|now| ack(sender, now))
        });
        is_broken("the sender was not asked", Next::Now, &|sender| {
            sender.next(Time(1), &PIPE);
            ack(sender, 1);
            sender.on_send(Time(1), PACKET, &PIPE);
        });
        is_broken("the sender was asked at", Next::Now, &|sender| {
            sender.next(Time(1), &PIPE);
            sender.on_send(Time(2), PACKET, &PIPE);
        });
        is_broken("the sender was asked with", Next::Now, &|sender| {
            sender.next(Time(1), &PIPE);
            sender.on_send(Time(1), PACKET, &Pipe { in_flight: PACKET, ..PIPE });
        });
        is_broken("before its time", Next::At(Time(5)), &|sender| ask_and_send(sender, 4));
        is_broken("asked in the past", Next::At(Time(5)), &|sender| ask_and_send(sender, 6));
        is_broken("a full packet took", Next::Now, &|sender| {
            ask_and_send(sender, 1);
            sender.next(Time(1), &Pipe { packet: Bytes(1), ..PIPE });
        });
        is_broken("came after its acknowledgment", Next::Now, &|sender| {
            ack(sender, 4);
            sender.on_loss(Time(4), &Loss::Event);
            sender.next(Time(4), &PIPE);
        });
        is_broken("a second loss event", Next::Now, &|sender| {
            sender.on_loss(Time(4), &Loss::Event);
            sender.on_loss(Time(5), &Loss::Event);
        });
        is_broken("a second timeout", Next::Now, &|sender| {
            sender.on_loss(Time(4), &Loss::Timeout);
            sender.on_loss(Time(5), &Loss::Timeout);
        });
        is_broken("in flight after an idle period", Next::Now, &|sender| {
            sender.on_idle(Time(4));
            sender.next(Time(4), &Pipe { in_flight: PACKET, ..PIPE });
        });
        is_broken("a connection opens", Next::Now, &|sender| {
            ask_and_send(sender, 1);
            sender.open(Time(1));
        });
    }
}
