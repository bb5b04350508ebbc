//! The negotiation of stamps that every connection has in the background, and its outcome.

use crate::choice::Choice;
use crate::message::Message;
use crate::receiving::ReceivingFlow;
use crate::sending::SendingFlow;
use crate::socket::Socket;
use crate::stamping::Stamping;
use crate::tag::Key;
use control::Receiver;
use quinn::Side;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

/// Whether the packets that one end of a connection sends carry stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// They do not, and the controller needs none.
    Unneeded,
    /// The peer is being asked. Until it answers, CUBIC decides when packets leave.
    Asked,
    /// They do, and the controller decides; one that needs routers, once they have answered.
    On,
    /// They did, but only packets without stamps got through: CUBIC decides for good.
    Blocked,
    /// They do, but no router on the path has answered: the controller falls back to a window for good.
    Unanswered,
    /// They do not, because the peer does not know stamps or has no such receiver: CUBIC decides for good.
    Refused,
}

/// The first question is repeated after this time, and each further one after twice the time before.
const ASK_AGAIN: Duration = Duration::from_millis(100);
/// The number of questions after which stamps count as refused if there is no answer.
const QUESTIONS: u32 = 7;
/// How many times the last report is repeated, in case it was lost.
const REPEATS: u32 = 3;
/// The time between repetitions of the last report.
const REPEAT: Duration = Duration::from_millis(15);

/// The token of one direction's flow and the key of its tags, which both ends derive from their TLS session.
fn secrets(connection: &quinn::Connection, sender: Side) -> Option<(u64, Key)> {
    let mut derived = [0; 24];
    let direction: &[u8] = if sender.is_client() { b"client" } else { b"server" };
    connection.export_keying_material(&mut derived, b"EXPORTER-thalweg-stamps-2", direction).ok()?;
    let (token, key) = derived.split_first_chunk()?;
    Some((u64::from_be_bytes(*token), key.try_into().ok()?))
}

/// What negotiates for one end of a connection whose peer takes part, and reports to the peer, until the connection is
/// closed.
pub(crate) struct Negotiation {
    pub(crate) connection: quinn::Connection,
    pub(crate) flow: Arc<SendingFlow>,
    pub(crate) socket: Arc<Socket>,
    pub(crate) choice: Choice,
    /// Bytes of a full packet.
    pub(crate) packet: u64,
    /// Where the outcome is told.
    pub(crate) stamps: watch::Sender<Stamps>,
    /// Notified when the peer's stamps may be granted. Until then, its last question waits unanswered, and nothing of
    /// what it names is parsed or built.
    pub(crate) allowed: Arc<Notify>,
}

impl Negotiation {
    pub(crate) async fn run(self) {
        let Negotiation { connection, flow, socket, choice, packet, stamps, allowed } = self;
        let send = |message: &Message| {
            if let Some(bytes) = message.encode() {
                // A message that cannot be sent now is repeated, or replaced by the next.
                let _ = connection.send_datagram(bytes.into());
            }
        };
        let own = connection.side();
        let question = Message::Ask { controller: choice.name().into(), parameters: choice.parameters() };
        let (mut asked, mut ask_at) = (0, Instant::now());
        let (mut may_grant, mut held) = (false, None);
        let mut granted: Option<GrantedFlow> = None;
        let answer = |granted: &mut Option<GrantedFlow>, controller: &str, parameters: &str| {
            if granted.is_none() {
                *granted = GrantedFlow::new(&connection, !own, &socket, controller, parameters, packet);
            }
            let is_granted = granted.as_ref().is_some_and(|granted| granted.controller == controller);
            send(if is_granted { &Message::Grant } else { &Message::Refuse });
        };
        loop {
            let repeat_at = granted.as_ref().map_or(Instant::now(), |granted| granted.last_report + REPEAT);
            tokio::select! {
                datagram = connection.read_datagram() => {
                    let Ok(datagram) = datagram else { return };
                    match Message::decode(&datagram) {
                        Some(Message::Ask { controller, parameters }) if may_grant => {
                            answer(&mut granted, &controller, &parameters);
                        }
                        Some(Message::Ask { controller, parameters }) => held = Some((controller, parameters)),
                        Some(Message::Grant) if *stamps.borrow() == Stamps::Asked => {
                            let Some((token, key)) = secrets(&connection, own) else { continue };
                            flow.stamp(choice.parties(packet).sender, Stamping::new(token, key));
                            stamps.send_replace(Stamps::On);
                        }
                        Some(Message::Refuse) if *stamps.borrow() == Stamps::Asked => {
                            flow.on_refused();
                            stamps.send_replace(Stamps::Refused);
                        }
                        Some(Message::Report(report)) if flow.is_stamped() => flow.on_report(report),
                        _ => {} // an answer to no question, or a message of a later version
                    }
                }
                () = allowed.notified(), if !may_grant => {
                    may_grant = true;
                    if let Some((controller, parameters)) = held.take() {
                        answer(&mut granted, &controller, &parameters);
                    }
                }
                () = sleep_until(ask_at), if *stamps.borrow() == Stamps::Asked => {
                    if asked == QUESTIONS {
                        flow.on_refused();
                        stamps.send_replace(Stamps::Refused);
                    } else {
                        send(&question);
                        ask_at = Instant::now() + ASK_AGAIN * 2u32.pow(asked);
                        asked += 1;
                    }
                }
                // Each report replaces the one before: those that are made while this task waits for its turn are sent
                // as one.
                () = GrantedFlow::news(&granted), if granted.is_some() => {
                    if let Some(granted) = &mut granted {
                        granted.report(REPEATS, send);
                    }
                }
                () = sleep_until(repeat_at), if granted.as_ref().is_some_and(|granted| granted.repeats > 0) => {
                    if let Some(granted) = &mut granted {
                        granted.report(granted.repeats - 1, send);
                    }
                }
            }
        }
    }
}

/// The receiver of a controller that the peer names, with all of its parameters as JSON, for packets of `packet` bytes;
/// none if there is no such controller, a parameter is out of its bounds, or the controller has no receiver.
pub fn receiver(controller: &str, parameters: &str, packet: u64) -> Option<Box<dyn Receiver>> {
    Choice::parse(controller, parameters)?.parties(packet).receiver
}

/// The peer's flow, whose stamps are read for as long as the connection lasts.
struct GrantedFlow {
    socket: Arc<Socket>,
    token: u64,
    controller: String,
    flow: Arc<ReceivingFlow>,
    last_report: Instant,
    /// How many times the last report is still to be repeated.
    repeats: u32,
}

impl GrantedFlow {
    /// Begins to read the stamps of the `sender` end, whose controller this is; none if there is no such controller, or
    /// it has no receiver.
    fn new(
        connection: &quinn::Connection,
        sender: Side,
        socket: &Arc<Socket>,
        controller: &str,
        parameters: &str,
        packet: u64,
    ) -> Option<GrantedFlow> {
        let receiver = receiver(controller, parameters, packet)?;
        let (token, key) = secrets(connection, sender)?;
        let flow = Arc::new(ReceivingFlow::new(key, receiver));
        socket.read_stamps(token, flow.clone());
        let (socket, controller) = (socket.clone(), controller.to_string());
        Some(GrantedFlow { socket, token, controller, flow, last_report: Instant::now(), repeats: 0 })
    }

    /// Waits for a new report.
    async fn news(granted: &Option<GrantedFlow>) {
        if let Some(granted) = granted {
            granted.flow.news.notified().await;
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

impl Drop for GrantedFlow {
    fn drop(&mut self) {
        self.socket.ignore_stamps(self.token);
    }
}
