//! How packets are sent at their time.

use control::Duration;
use std::fmt;

/// How the packets of a connection are sent at their time. It is chosen when the connection is made, by the queueing
/// discipline of the interface to its peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// A thread sleeps until shortly before a packet's time, spins and sends.
    #[default]
    Spin,
    /// The same. The kernel would keep launch times, but its queue `fq` may be late by this much (its `timer_slack`).
    Coarse(Duration),
    /// The kernel gets packets early, with their launch times (`SO_TXTIME`), and its queue `fq` holds them until then.
    Launch,
}

/// How long before its launch time the kernel gets a datagram, at least: longer than a thread oversleeps, and short
/// enough that up to 3 Gbps `fq` holds less than the 100 packets that it takes of a flow.
const LEAD: Duration = Duration::from_micros(200);

impl Pacing {
    /// How long before its time a packet is handed to the kernel.
    pub(crate) fn lead(self) -> Duration {
        match self {
            Pacing::Spin | Pacing::Coarse(_) => Duration::ZERO,
            Pacing::Launch => LEAD,
        }
    }
}

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pacing::Spin => write!(f, "sleep until shortly before, then spin"),
            Pacing::Coarse(slack) => write!(
                f,
                "sleep until shortly before, then spin (no launch times: fq may be {:.1} us late, its timer_slack)",
                slack.as_secs() * 1e6
            ),
            Pacing::Launch => write!(f, "launch times in the kernel (SO_TXTIME, fq)"),
        }
    }
}
