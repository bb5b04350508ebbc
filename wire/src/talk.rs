//! The conversation about stamps that every connection has in the background, and what came of it.

use crate::arrivals::Arriving;
use crate::choice::Choice;
use crate::flow::Flow;
use crate::message::Message;
use crate::socket::Socket;
use crate::stamping::Stamping;
use quinn::Side;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Whether a connection's packets are stamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// The controller does without.
    Unneeded,
    /// The peer was asked, or will be; until it answers, a window controller drives.
    Asked,
    /// They are, and the controller drives; one that needs routers once they have answered.
    On,
    /// They were, but only packets without them got through: a window controller drives for good.
    Blocked,
    /// They are, but no router on the way has answered: a window controller drives for good.
    Unanswered,
    /// The peer does not know them, or has no such receiver: a window controller drives for good.
    Refused,
}

/// The first question is repeated after this time, and every further one after twice as long.
const ASK_AGAIN: Duration = Duration::from_millis(100);
/// Questions before the silence is taken for a no.
const QUESTIONS: u32 = 7;
/// The last report is repeated so many times, so often, in case it was lost.
const REPEATS: u32 = 3;
const REPEAT: Duration = Duration::from_millis(15);

/// The secrets of one direction that both ends draw from their TLS session: what the flow is called, and the key of its tags.
fn secrets(connection: &quinn::Connection, sender: Side) -> Option<(u64, [u8; 32])> {
    let mut drawn = [0; 40];
    let direction: &[u8] = if sender.is_client() { b"client" } else { b"server" };
    connection.export_keying_material(&mut drawn, b"EXPORTER-thalweg-stamps-1", direction).ok()?;
    let (token, key) = drawn.split_first_chunk()?;
    Some((u64::from_be_bytes(*token), key.try_into().ok()?))
}

/// Speaks for one end of a connection whose peer takes part, until it is closed.
pub(crate) async fn talk(
    connection: quinn::Connection,
    flow: Arc<Flow>,
    socket: Arc<Socket>,
    choice: Choice,
    packet: u64,
    stamps: watch::Sender<Stamps>,
) {
    let send = |message: &Message| {
        if let Some(bytes) = message.encode() {
            // What cannot be sent now is repeated, or replaced.
            let _ = connection.send_datagram(bytes.into());
        }
    };
    let own = connection.side();
    let question = Message::Ask { controller: choice.name().into(), parameters: choice.parameters() };
    let (mut asked, mut ask_at) = (0, Instant::now());
    let mut admitted: Option<Admitted> = None;
    loop {
        let repeat_at = admitted.as_ref().map_or(Instant::now(), |a| a.last_report + REPEAT);
        tokio::select! {
            datagram = connection.read_datagram() => {
                let Ok(datagram) = datagram else { return };
                match Message::decode(&datagram) {
                    Some(Message::Ask { controller, parameters }) => {
                        if admitted.is_none() {
                            admitted = Admitted::new(&connection, !own, &socket, &controller, &parameters, packet);
                        }
                        let may = admitted.as_ref().is_some_and(|a| a.controller == controller);
                        send(if may { &Message::Grant } else { &Message::Refuse });
                    }
                    Some(Message::Grant) if *stamps.borrow() == Stamps::Asked => {
                        let Some((token, key)) = secrets(&connection, own) else { continue };
                        flow.stamp(choice.parties(packet).sender, Stamping::new(token, key));
                        stamps.send_replace(Stamps::On);
                    }
                    Some(Message::Refuse) if *stamps.borrow() == Stamps::Asked => {
                        stamps.send_replace(Stamps::Refused);
                    }
                    Some(Message::Report(report)) if flow.is_stamped() => flow.on_report(report),
                    _ => {} // an answer to no question, or a later version's
                }
            }
            () = sleep_until(ask_at), if *stamps.borrow() == Stamps::Asked => {
                if asked == QUESTIONS {
                    stamps.send_replace(Stamps::Refused);
                } else {
                    send(&question);
                    ask_at = Instant::now() + ASK_AGAIN * 2u32.pow(asked);
                    asked += 1;
                }
            }
            // What arrives while this task waits for its turn makes one report: each replaces the one before.
            () = Admitted::news(&admitted), if admitted.is_some() => {
                if let Some(admitted) = &mut admitted {
                    admitted.report(REPEATS, send);
                }
            }
            () = sleep_until(repeat_at), if admitted.as_ref().is_some_and(|a| a.repeats > 0) => {
                if let Some(admitted) = &mut admitted {
                    admitted.report(admitted.repeats - 1, send);
                }
            }
        }
    }
}

/// The peer's flow, for as long as the connection lasts.
struct Admitted {
    socket: Arc<Socket>,
    token: u64,
    controller: String,
    flow: Arc<Arriving>,
    last_report: Instant,
    /// How many times to repeat it still.
    repeats: u32,
}

impl Admitted {
    /// Lets the flow in that `sender` drives with this controller, if it is one with a receiver.
    fn new(
        connection: &quinn::Connection,
        sender: Side,
        socket: &Arc<Socket>,
        controller: &str,
        parameters: &str,
        packet: u64,
    ) -> Option<Admitted> {
        let receiver = Choice::parse(controller, parameters)?.parties(packet).receiver?;
        let (token, key) = secrets(connection, sender)?;
        let flow = Arc::new(Arriving::new(key, receiver));
        socket.arrivals.admit(token, flow.clone());
        let (socket, controller) = (socket.clone(), controller.to_string());
        Some(Admitted { socket, token, controller, flow, last_report: Instant::now(), repeats: 0 })
    }

    /// Waits for a new report.
    async fn news(admitted: &Option<Admitted>) {
        if let Some(admitted) = admitted {
            admitted.flow.news.notified().await;
        }
    }

    fn report(&mut self, repeats: u32, send: impl Fn(&Message)) {
        self.repeats = repeats;
        self.last_report = Instant::now();
        if let Some(report) = self.flow.report() {
            send(&Message::Report(report));
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.socket.arrivals.dismiss(self.token);
    }
}
