//! The senders and receivers that can carry the flows of a run.

use experiment::Experiment;
use std::fmt;
use std::str::FromStr;

/// Who carries the flows of a run. Its text form is `ours`, `quinn-NAME` or `kernel-NAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contestant {
    /// QUIC of `wire`, with the experiment's controllers.
    Ours,
    /// QUIC of quinn, with one of its own controllers.
    Quinn(Congestion),
    /// The kernel's TCP, with the congestion control of this name.
    Kernel(String),
}

/// quinn's own controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// CUBIC (RFC 8312).
    Cubic,
    /// BBR, version 1.
    Bbr,
    /// NewReno (RFC 9002).
    NewReno,
}

impl Congestion {
    const ALL: [(Congestion, &str); 3] =
        [(Congestion::Cubic, "cubic"), (Congestion::Bbr, "bbr"), (Congestion::NewReno, "newreno")];

    /// The one that has this name as a controller of the simulator, and as a contestant.
    pub(crate) fn named(name: &str) -> Option<Congestion> {
        let name = name.strip_prefix("quinn-")?;
        Congestion::ALL.iter().find(|(_, known)| *known == name).map(|(congestion, _)| *congestion)
    }

    /// Whether its packets may be ECN-capable: quinn's BBR ignores marks.
    pub(crate) fn reacts_to_marks(self) -> bool {
        self != Congestion::Bbr
    }
}

impl Contestant {
    /// Who carries the flows of an experiment with these controllers: quinn where all are the same one of its own
    /// (`quinn-cubic`), and ours otherwise.
    pub fn of(experiment: &Experiment) -> Contestant {
        let mut named = experiment.flows.iter().map(|flow| Congestion::named(&flow.controller));
        match named.next().flatten() {
            Some(first) if named.all(|other| other == Some(first)) => Contestant::Quinn(first),
            _ => Contestant::Ours,
        }
    }
}

/// The file in which the kernel lists its congestion controls.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

impl FromStr for Contestant {
    type Err = String;

    /// Reads the text form of a contestant other than `ours`. The kernel must have the congestion control that a text
    /// names.
    fn from_str(text: &str) -> Result<Contestant, String> {
        let kernels = || std::fs::read_to_string(AVAILABLE).unwrap_or_default();
        let kernels: Vec<String> = kernels().split_whitespace().map(String::from).collect();
        if let Some(congestion) = Congestion::named(text) {
            return Ok(Contestant::Quinn(congestion));
        }
        match text.split_once('-') {
            Some(("kernel", name)) if kernels.iter().any(|kernel| kernel == name) => {
                Ok(Contestant::Kernel(name.into()))
            }
            _ => {
                let quinns = Congestion::ALL.iter().map(|(_, name)| format!("quinn-{name}"));
                let all: Vec<_> = quinns.chain(kernels.iter().map(|name| format!("kernel-{name}"))).collect();
                Err(format!("there are {}", all.join(", ")))
            }
        }
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contestant::Ours => f.write_str("ours"),
            Contestant::Quinn(congestion) => {
                let known = Congestion::ALL.iter().find(|(known, _)| known == congestion);
                write!(f, "quinn-{}", known.map_or("", |(_, name)| name))
            }
            Contestant::Kernel(name) => write!(f, "kernel-{name}"),
        }
    }
}
