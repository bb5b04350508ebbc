//! What a protocol provides: parameters from which the parties of one flow are built.

use crate::roles::{Conditions, Receiver, Sender};
use alloc::{boxed::Box, string::String};

/// A protocol's parameters: a plain struct whose `Default` is the paper's choice. It builds the protocol's parties.
pub trait Protocol: Send + Sync + 'static {
    /// Whether the parameters are valid. If not, the error names the parameter and says what to write instead.
    fn check(&self) -> Result<(), String>;

    /// The sending party on such a host.
    fn sender(&self, host: &Conditions) -> Box<dyn Sender>;

    /// The receiving party on such a host, if the protocol has one. The sender's host may have other conditions.
    fn receiver(&self, _host: &Conditions) -> Option<Box<dyn Receiver>> {
        None
    }
}

/// How a protocol's senders react to ECN marks. From this follows what the ECN field of its packets says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnSupport {
    /// Not at all: its packets must be Not-ECT.
    None,
    /// To marks as to a loss, once per window of data (RFC 3168): its packets may be ECT(0).
    Classic,
    /// To the share of marks, as scalable congestion controls do (RFC 9331): its packets may be ECT(1).
    L4s,
}

impl EcnSupport {
    /// The name in lists and documents.
    pub fn name(self) -> &'static str {
        match self {
            EcnSupport::None => "none",
            EcnSupport::Classic => "classic",
            EcnSupport::L4s => "l4s",
        }
    }
}

/// How a host repairs losses for a protocol unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "registry", derive(schemars::JsonSchema))]
pub enum Recovery {
    /// Selective acknowledgments, RFC 6675.
    Sack,
    /// Selective acknowledgments, losses found by time, and probes for lost tails: RACK-TLP, RFC 8985.
    #[cfg_attr(feature = "serde", serde(rename = "rack-tlp"))]
    RackTlp,
    /// Without them, one hole per round trip, RFC 6582.
    NewReno,
}
