//! Which controller decides when a connection's packets leave, and with which parameters.

use crate::datagram::PACKET;
use crate::error::ChoiceError;
use control::registry::{self, Controller, Parties};
use control::{Bytes, Conditions, Duration, EcnSupport, Family, Sender};
use quinn::udp::EcnCodepoint;
use registry::ParameterError::Together;
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// How far departures and arrivals may be from the times that the controllers see: neither a host's scheduler nor its
/// clock is exact.
const TIMING: Duration = Duration::from_micros(10);

/// The quantum of a host on the wire unless an endpoint is told another: a thread that sleeps is woken some 50
/// microseconds late, and a gap must be several times as long to stand for a rate.
pub(crate) const QUANTUM: Duration = Duration::from_micros(200);

/// What a host on the wire can do, as its controllers are told, with packets of `packet` bytes.
fn conditions(packet: u64, quantum: Duration) -> Conditions {
    Conditions { packet: Bytes(packet), timing_error: TIMING, quantum, paced: true }
}

/// Puts itself between a host and a sender, whose packets have up to so many bytes.
type Watch = Arc<dyn Fn(Box<dyn Sender>, Bytes) -> Box<dyn Sender> + Send + Sync>;

/// A controller and its parameters.
#[derive(Clone)]
pub struct Choice {
    controller: &'static Controller,
    parameters: Value,
    /// Whether the controller has a receiver, which reads stamps.
    stamps: bool,
    /// The host's quantum.
    quantum: Duration,
    /// The ECN field of its packets; none if they are not ECN-capable.
    codepoint: Option<EcnCodepoint>,
    /// Who watches the senders.
    watch: Option<Watch>,
}

impl Choice {
    /// The controller of that name in the [registry], with `parameters` laid over its defaults. Fails, with a line that
    /// says what to write instead, if there is no such controller or if a parameter is wrong.
    pub fn new(name: &str, parameters: &Map<String, Value>) -> Result<Choice, ChoiceError> {
        let known = || registry::all().iter().map(|controller| controller.name).collect();
        let unknown = || ChoiceError::Controller { name: name.into(), known: known() };
        let controller = registry::find(name).ok_or_else(unknown)?;
        let wrong = |error| ChoiceError::Parameter { controller: controller.name, error };
        let parameters = controller.parameters(parameters).map_err(wrong)?;
        let parties = controller.build(&parameters, &conditions(PACKET, QUANTUM));
        let stamps = parties.map_err(|problem| wrong(Together { problem }))?.receiver.is_some();
        Ok(Choice { controller, parameters, stamps, quantum: QUANTUM, codepoint: None, watch: None })
    }

    /// The same, whose packets are ECN-capable on paths that support it: queues mark them in place of dropping them,
    /// and the controller reacts. They are ECT(1) for controllers that react to the share of marks (L4S, RFC 9331), and
    /// ECT(0) for others. Fails if the controller does not react to marks, or if it sets a rate: paced packets are
    /// Not-ECT.
    pub fn with_ecn(self) -> Result<Choice, ChoiceError> {
        let Controller { name, family, ecn, .. } = *self.controller;
        let codepoint = match ecn {
            EcnSupport::None => return Err(ChoiceError::NoReaction { controller: name }),
            _ if family == Family::Rate => return Err(ChoiceError::Paced { controller: name }),
            EcnSupport::Classic => EcnCodepoint::Ect0,
            EcnSupport::L4s => EcnCodepoint::Ect1,
        };
        Ok(Choice { codepoint: Some(codepoint), ..self })
    }

    /// The same, with each sender of its connections in the hands of `watch`, which is given a sender and the size of
    /// full packets, and returns a sender that does the same. That hears all that the host tells, by the clock of
    /// [`Endpoint::now`](crate::Endpoint::now).
    pub fn watched(self, watch: impl Fn(Box<dyn Sender>, Bytes) -> Box<dyn Sender> + Send + Sync + 'static) -> Choice {
        Choice { watch: Some(Arc::new(watch)), ..self }
    }

    /// Whether its packets are ECN-capable.
    pub fn has_ecn(&self) -> bool {
        self.codepoint.is_some()
    }

    /// The ECN field of its packets; none if they are not ECN-capable.
    pub(crate) fn codepoint(&self) -> Option<EcnCodepoint> {
        self.codepoint
    }

    /// The choice that the peer names, with all of its parameters, as JSON; none if there is no such controller or they
    /// are wrong.
    pub(crate) fn parse(name: &str, parameters: &str) -> Option<Choice> {
        Choice::new(name, serde_json::from_str::<Value>(parameters).ok()?.as_object()?).ok()
    }

    /// The same on a host of another quantum.
    pub(crate) fn on(self, quantum: Duration) -> Choice {
        Choice { quantum, ..self }
    }

    /// The shortest time between two departures that the host can keep.
    pub(crate) fn quantum(&self) -> Duration {
        self.quantum
    }

    /// The controller's name.
    pub fn name(&self) -> &'static str {
        self.controller.name
    }

    /// All of its parameters, as JSON.
    pub fn parameters(&self) -> String {
        self.parameters.to_string()
    }

    /// Whether it needs a peer that reads its stamps. Without that it works against any QUIC endpoint.
    pub fn needs_stamps(&self) -> bool {
        self.stamps
    }

    /// The parties of a flow with packets of `packet` bytes.
    pub(crate) fn parties(&self, packet: u64) -> Parties {
        let conditions = conditions(packet, self.quantum);
        let parties = self.controller.build(&self.parameters, &conditions).expect("the parameters were checked");
        #[cfg(test)]
        let parties = Parties { sender: control::contract::checked(parties.sender), ..parties };
        match &self.watch {
            Some(watch) => Parties { sender: watch(parties.sender, Bytes(packet)), ..parties },
            None => parties,
        }
    }

    /// The sender of a connection's first packets: the controller's own, or the fallback's if it needs stamps.
    pub(crate) fn first_sender(&self, packet: u64) -> Box<dyn Sender> {
        match self.stamps {
            true => Choice { quantum: self.quantum, watch: self.watch.clone(), ..fallback() }.parties(packet).sender,
            false => self.parties(packet).sender,
        }
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.controller.name, self.parameters)
    }
}

/// What decides until stamps are granted, and for good if they are refused: CUBIC with the slow start that RFC 9438,
/// section 4.10, recommends.
fn fallback() -> Choice {
    let hystart = Map::from_iter([("slow-start".to_string(), "hystart++".into())]);
    Choice::new("cubic", &hystart).expect("in the registry, with its parameter")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_write_instead() {
        let error =
            |name, parameters: Value| Choice::new(name, parameters.as_object().unwrap()).unwrap_err().to_string();
        assert!(error("rabid", Value::Object(Map::new())).contains("rapid, "));
        let bbr = Choice::new("bbr", &Map::new()).unwrap().with_ecn().unwrap_err().to_string();
        assert!(bbr.starts_with("bbr does not react to marks"), "{bbr}");
        let paced = Choice::new("bbr-ecn", &Map::new()).unwrap().with_ecn().unwrap_err().to_string();
        assert!(paced.starts_with("bbr-ecn sets a rate"), "{paced}");
        assert!(error("rapid", serde_json::json!({"strean": 90})).contains("it has stream, "));
        assert!(error("rapid", serde_json::json!({"stream": 1})).starts_with("rapid.stream: "));
    }

    #[test]
    fn who_watches_is_given_every_sender() {
        use std::sync::atomic::{AtomicU64, Ordering};
        let bytes = Arc::new(AtomicU64::new(0));
        let count = bytes.clone();
        let choice = Choice::new("rapid", &Map::new()).unwrap().watched(move |sender, packet| {
            count.fetch_add(packet.0, Ordering::Relaxed);
            sender
        });
        choice.first_sender(1200); // the fallback's
        choice.parties(1300);
        assert_eq!(bytes.load(Ordering::Relaxed), 2500);
        assert!(Choice::parse("rapid", &choice.parameters()).unwrap().watch.is_none(), "not the peer's");
    }

    #[test]
    fn the_peer_builds_the_same_controller() {
        let choice = Choice::new("rapid", serde_json::json!({"stream": 60}).as_object().unwrap()).unwrap();
        let parsed = Choice::parse("rapid", &choice.parameters()).unwrap();
        assert_eq!(parsed.parameters, choice.parameters);
        for nonsense in ["", "[]", "{\"stream\": 1e9}", "{\"x\": 1}", "null"] {
            assert!(Choice::parse("rapid", nonsense).is_none(), "{nonsense}");
        }
    }
}
