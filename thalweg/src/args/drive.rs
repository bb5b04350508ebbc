//! The arguments that choose the controller of what a command sends.

use scenario::Set;

/// Which controller drives what is sent.
#[derive(Debug, clap::Args)]
pub struct Drive {
    /// The congestion controller of what is sent [default: thalweg-hybrid].
    #[arg(long, value_name = "NAME")]
    pub controller: Option<String>,
    /// Give a parameter of the controller another value; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub sets: Vec<Set>,
    /// Send ECN-capable packets (ECT(0)), which queues mark in place of dropping them; the controller must react to
    /// marks, as cubic does.
    #[arg(long)]
    pub ecn: bool,
}
