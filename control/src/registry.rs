//! All controllers by name: the one place from which scenario files, the command line and the docs take their list.
//!
//! To add a controller, write its file and add it to [`all`], beside the others of its [`Family`].

use crate::roles::{Conditions, Receiver, Sender};
use crate::units::Bytes;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::LazyLock;

/// A protocol's parameters: a plain struct whose `Default` is the paper's choice. It builds the protocol's parties.
pub trait Protocol: Serialize + for<'de> Deserialize<'de> + JsonSchema + Send + Sync + 'static {
    /// Whether the parameters make sense; if not, which does not and what to write instead.
    fn check(&self) -> Result<(), String>;

    /// The sending party on such a host.
    fn sender(&self, host: &Conditions) -> Box<dyn Sender>;

    /// The receiving party, if the protocol has one, on such a host (which need not be like the sender's).
    fn receiver(&self, _host: &Conditions) -> Option<Box<dyn Receiver>> {
        None
    }
}

/// How a host should repair losses for a protocol unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Selective acknowledgments, RFC 6675.
    Sack,
    /// Without them, one hole per round trip, RFC 6582.
    NewReno,
}

/// What a controller goes by: what it takes for congestion, and what it sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The delays of packets sent at exact times.
    PacketScale,
    /// A window, and losses.
    LossWindow,
    /// A window, and delays.
    DelayWindow,
    /// A rate, and a measurement of the path's.
    Rate,
    /// What routers on the path say.
    RouterAssisted,
}

impl Family {
    /// All families, in the order in which to list them.
    pub const ALL: [Family; 5] =
        [Family::PacketScale, Family::LossWindow, Family::DelayWindow, Family::Rate, Family::RouterAssisted];

    /// What lists and files call it.
    pub fn name(self) -> &'static str {
        match self {
            Family::PacketScale => "packet-scale",
            Family::LossWindow => "loss-window",
            Family::DelayWindow => "delay-window",
            Family::Rate => "rate",
            Family::RouterAssisted => "router-assisted",
        }
    }

    /// What its controllers have in common, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Family::PacketScale => "every packet leaves at an exact time, and its delay tells the available bandwidth",
            Family::LossWindow => "a window that grows until a packet is lost",
            Family::DelayWindow => "a window that also gives way when the round-trip time shows a queue",
            Family::Rate => "a sending rate, set by what the path was measured to deliver",
            Family::RouterAssisted => {
                "what the routers on the path write on each packet; Reno where none of them takes part"
            }
        }
    }

    /// Its controllers, in the order in which to list them.
    pub fn controllers(self) -> impl Iterator<Item = &'static Controller> {
        all().iter().filter(move |controller| controller.family == self)
    }
}

/// The parties of one flow.
pub struct Parties {
    /// At the source.
    pub sender: Box<dyn Sender>,
    /// At the destination, if there is one.
    pub receiver: Option<Box<dyn Receiver>>,
}

/// Builds the parties of one flow after the other.
pub type Factory = Box<dyn Fn() -> Parties + Send>;

/// One controller.
pub struct Controller {
    /// What scenarios and the command line call it.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// What it goes by.
    pub family: Family,
    /// How hosts repair its losses.
    pub recovery: Recovery,
    defaults: Value,
    schema: Schema,
    factory: fn(&Value, &Conditions) -> Result<Factory, String>,
}

impl Controller {
    fn new<P: Protocol>(
        name: &'static str,
        family: Family,
        recovery: Recovery,
        source: &'static str,
        summary: &'static str,
        defaults: P,
    ) -> Controller {
        Controller {
            name,
            summary,
            source,
            family,
            recovery,
            defaults: serde_json::to_value(&defaults).expect("parameters are plain data"),
            schema: schemars::schema_for!(P),
            factory: |parameters, host| {
                let (protocol, host) = (P::deserialize(parameters).map_err(|e| e.to_string())?, *host);
                protocol.check()?;
                Ok(Box::new(move || Parties { sender: protocol.sender(&host), receiver: protocol.receiver(&host) }))
            },
        }
    }

    /// All parameters with their defaults: an object of names and values, times and rates as texts with units.
    pub fn defaults(&self) -> &Value {
        &self.defaults
    }

    /// The parameters' JSON Schema, with their descriptions.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The defaults with `overrides` (an object) laid over them. Fails on names that are not parameters.
    pub fn parameters(&self, overrides: &serde_json::Map<String, Value>) -> Result<Value, ParameterError> {
        overlay(&self.defaults, overrides, &|all| (self.factory)(all, &Conditions::exact(Bytes(1000))).map(drop))
    }

    /// The parties of one flow, both on such a host. `parameters` are those of [`Controller::parameters`].
    pub fn build(&self, parameters: &Value, host: &Conditions) -> Result<Parties, String> {
        Ok(self.factory(parameters, host)?())
    }

    /// What builds the parties of many such flows; it reads the parameters once.
    pub fn factory(&self, parameters: &Value, host: &Conditions) -> Result<Factory, String> {
        (self.factory)(parameters, host)
    }
}

/// `defaults` with `overrides` laid over them. Fails on names that are not there, and on what `check` refuses.
pub(crate) fn overlay(
    defaults: &Value,
    overrides: &serde_json::Map<String, Value>,
    check: &dyn Fn(&Value) -> Result<(), String>,
) -> Result<Value, ParameterError> {
    let mut all = defaults.clone();
    let known = all.as_object_mut().expect("parameters are a struct");
    for (name, value) in overrides {
        match known.get_mut(name) {
            Some(slot) => *slot = value.clone(),
            None => {
                let known = known.keys().cloned().collect();
                return Err(ParameterError::Unknown { name: name.clone(), known });
            }
        }
    }
    if let Err(problem) = check(&all) {
        // Which one is it? The one of which even alone the same is wrong, if there is one.
        for (name, value) in overrides {
            let mut one = defaults.clone();
            one[name] = value.clone();
            if check(&one).as_ref() == Err(&problem) {
                return Err(ParameterError::Bad { name: name.clone(), problem });
            }
        }
        return Err(ParameterError::Together { problem });
    }
    Ok(all)
}

/// What is wrong with a controller's parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterError {
    /// There is no such parameter.
    Unknown {
        /// The name that was given.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// One value is unusable.
    Bad {
        /// Whose.
        name: String,
        /// Why.
        problem: String,
    },
    /// Each value is fine, but not with the others.
    Together {
        /// Why.
        problem: String,
    },
}

/// Every controller, family by family, in the order in which to list them.
pub fn all() -> &'static [Controller] {
    use Family::{DelayWindow, LossWindow, PacketScale, Rate, RouterAssisted};
    use Recovery::{NewReno, Sack};
    static ALL: LazyLock<Vec<Controller>> = LazyLock::new(|| {
        vec![
            Controller::new(
                "thalweg",
                PacketScale,
                Sack,
                "our own, after PACKET-SCALE-2017",
                "RAPID with a narrower stream, steps that tune themselves to the number of flows, and an eye on queues that stand",
                crate::thalweg::Thalweg::default(),
            ),
            Controller::new(
                "rapid",
                PacketScale,
                Sack,
                "PACKET-SCALE-2017 (Lovewell et al., IEEE/ACM ToN 25(1))",
                "every packet probes: streams of 90 packets with rising rates find the available bandwidth",
                crate::rapid::Rapid::default(),
            ),
            Controller::new(
                "rapid-2009",
                PacketScale,
                Sack,
                "RAPID-2009 (Konda and Kaur, INFOCOM 2009)",
                "the first RAPID: streams of 30 packets, decreases adopted at once",
                crate::rapid::Rapid2009::default(),
            ),
            Controller::new(
                "rapid-hybrid",
                PacketScale,
                Sack,
                "PACKET-SCALE-2017, section VI-C",
                "RAPID where the bandwidth-delay product is large, a window protocol where it is not",
                crate::rapid::Hybrid::default(),
            ),
            Controller::new(
                "thalweg-hybrid",
                PacketScale,
                Sack,
                "our own, after PACKET-SCALE-2017, section VI-C",
                "thalweg where the bandwidth-delay product is large or packets are lost to errors, CUBIC elsewhere: what thalweg cp uses",
                crate::rapid::Hybrid::of_thalweg(),
            ),
            Controller::new(
                "newreno",
                LossWindow,
                NewReno,
                "RFC 5681, RFC 6582",
                "TCP without selective acknowledgments",
                crate::reno::Reno::default(),
            ),
            Controller::new(
                "reno",
                LossWindow,
                Sack,
                "RFC 5681, RFC 6675",
                "TCP with selective acknowledgments",
                crate::reno::Reno::default(),
            ),
            Controller::new(
                "aimd",
                LossWindow,
                Sack,
                "BIC-2004, section VI",
                "AIMD(a, b): a packets more per round trip, a share b less on a loss",
                crate::aimd::Aimd::default(),
            ),
            Controller::new(
                "scalable",
                LossWindow,
                Sack,
                "Kelly, CCR 2003",
                "STCP: growth in proportion to the window",
                crate::scalable::Scalable::default(),
            ),
            Controller::new(
                "highspeed",
                LossWindow,
                Sack,
                "RFC 3649",
                "HSTCP: the larger the window, the faster it grows and the less it gives up",
                crate::highspeed::HighSpeed::default(),
            ),
            Controller::new(
                "bic",
                LossWindow,
                Sack,
                "BIC-2004, section VI-A",
                "binary search for the window of the last loss",
                crate::bic::Bic::default(),
            ),
            Controller::new(
                "bic-linux",
                LossWindow,
                Sack,
                "Linux, tcp_bic.c",
                "BIC with the constants of Linux; not its integer arithmetic, nor its special cases near the maximum, before \
                 the first loss and after a timeout",
                crate::bic::Bic::linux(),
            ),
            Controller::new(
                "cubic",
                LossWindow,
                Sack,
                "RFC 9438",
                "a cubic function of the time since the last loss; never slower than Reno. Without HyStart++",
                crate::cubic::Cubic::default(),
            ),
            Controller::new(
                "cubic-2008",
                LossWindow,
                Sack,
                "Ha, Rhee and Xu, SIGOPS OSR 2008",
                "CUBIC as first published: a fifth less on a loss",
                crate::cubic::Cubic::of_2008(),
            ),
            Controller::new(
                "htcp",
                LossWindow,
                Sack,
                "H-TCP (Leith and Shorten, PFLDnet 2004)",
                "the longer ago the last loss, the faster it grows; gives up what empties the queue",
                crate::htcp::Htcp::default(),
            ),
            Controller::new(
                "westwood",
                LossWindow,
                Sack,
                "Westwood+ (Grieco and Mascolo, CCR 2004)",
                "Reno whose window falls to what the path was measured to deliver",
                crate::westwood::Westwood::default(),
            ),
            Controller::new(
                "vegas",
                DelayWindow,
                Sack,
                "Brakmo and Peterson, JSAC 1995",
                "keeps one to three of its packets in the queue",
                crate::vegas::Vegas::default(),
            ),
            Controller::new(
                "fast",
                DelayWindow,
                Sack,
                "FAST TCP (Wei, Jin, Low and Hegde, IEEE/ACM ToN 14(6))",
                "keeps alpha of its packets in the queue, and gets there the faster, the further away it is",
                crate::fast::Fast::default(),
            ),
            Controller::new(
                "compound",
                DelayWindow,
                Sack,
                "Compound TCP (Tan, Song, Zhang and Sridharan, INFOCOM 2006)",
                "Reno's window, and another that grows fast while there is no queue",
                crate::compound::Compound::default(),
            ),
            Controller::new(
                "illinois",
                DelayWindow,
                Sack,
                "Liu, Basar and Srikant, Performance Evaluation 65, 2008",
                "an AIMD that grows less and gives up more, the longer the queueing delay",
                crate::illinois::Illinois::default(),
            ),
            Controller::new(
                "rrrp",
                Rate,
                Sack,
                "RRR-2008 (Haga et al., TRIDENTCOM 2008)",
                "relative rate reduction: the receiver reports the rate that arrives, and the sender keeps its own as much above it \
                 as the congestion it aims at",
                crate::rrrp::Rrrp::default(),
            ),
            Controller::new(
                "bbr",
                Rate,
                Sack,
                "draft-ietf-ccwg-bbr-06",
                "BBR version 3: paces at the rate that the path was measured to deliver, and keeps little more in flight than fits",
                crate::bbr::Bbr::default(),
            ),
            Controller::new(
                "rcp-ac",
                RouterAssisted,
                Sack,
                "RCP-AC (Dukkipati, McKeown and Fraser)",
                "climbs to RCP's rate as fast as the routers' buffers can take; wants links with queue = \"rcp-ac\"",
                crate::rcp_ac::RcpAc::default(),
            ),
            Controller::new(
                "rcp",
                RouterAssisted,
                Sack,
                "RCP-AC, equation 1 (Dukkipati et al., IWQoS 2005)",
                "sends at the rate that the routers allow every flow; wants links with queue = \"rcp\"",
                crate::rcp::Rcp::default(),
            ),
            Controller::new(
                "xcp",
                RouterAssisted,
                Sack,
                "XCP (Katabi, Handley and Rohrs, SIGCOMM 2002)",
                "a window that each packet's feedback changes; wants links with queue = \"xcp\"",
                crate::xcp::Xcp::default(),
            ),
        ]
    });
    &ALL
}

/// The controller of that name.
pub fn find(name: &str) -> Option<&'static Controller> {
    all().iter().find(|c| c.name == name)
}
