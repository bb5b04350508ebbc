//! How packets are sent at their time.

use control::Duration;
use std::fmt;

/// How the packets of a connection are sent at their time. It is chosen when the connection is made, after the queue of the
/// interface to its peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// A thread sleeps until shortly before, spins and sends.
    #[default]
    Spin,
    /// The same, though the kernel would keep launch times: its queue may be late by so much, its timers' slack.
    Coarse(Duration),
    /// The kernel has them before, with their launch times (`SO_TXTIME`), and its queue, `fq`, holds them until then.
    Launch,
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
