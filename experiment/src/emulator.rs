//! How exact the emulator was in a run that was not simulated.

use serde::Serialize;

/// The packets that crossed the path in real time, and how exact the emulator was. Of a pair, the first is in the
/// forward direction. All values are over the whole run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EmulatorSummary {
    /// Pair: packets that arrived at the path.
    pub arrived_packets: [u64; 2],
    /// Pair: packets that left the path.
    pub delivered_packets: [u64; 2],
    /// Pair: the rate of packets that left the path, headers included, in Mbps.
    pub delivered_mbps: [f64; 2],
    /// The median of how long before or after its due time a packet left, in microseconds; none if none left.
    pub late_median_us: Option<f64>,
    /// The 99th percentile.
    pub late_p99_us: Option<f64>,
    /// The 99.9th percentile.
    pub late_p999_us: Option<f64>,
    /// The maximum.
    pub late_max_us: Option<f64>,
    /// The share of packets that left more than 200 us from their due time. (They are late: none leaves earlier by as
    /// much.)
    pub late_share: f64,
    /// Whether the emulator ran with real-time priority, which the system gives to root.
    pub realtime: bool,
    /// Packets that the kernel dropped before the emulator took them.
    pub missed: u64,
    /// Packets that the kernel did not take when they left the path.
    pub unsent: u64,
    /// Datagrams of clients for which the emulator had no room.
    pub refused: u64,
    /// Whether the emulator kept up: no packet was missed, unsent or refused, and at most 1 % left more than 200 us
    /// late.
    pub kept_up: bool,
    /// Share of one core that the emulator used.
    pub core_share: f64,
    /// The share of the host's processor time that all programs used; none if the kernel does not tell.
    pub host_share: Option<f64>,
    /// Whether all programs used more than 95 % of the host's processor time: senders or receivers may have been slower
    /// than their controllers and the path.
    pub host_full: bool,
}

impl EmulatorSummary {
    /// Whether the emulator kept up, and the host had processor time left.
    pub fn trusted(&self) -> bool {
        self.kept_up && !self.host_full
    }

    /// What tables say of the run: `kept up`, or why it is not to be trusted.
    pub fn verdict(&self) -> &'static str {
        match self {
            EmulatorSummary { kept_up: false, .. } => "LATE",
            EmulatorSummary { host_full: true, .. } => "HOST FULL",
            _ => "kept up",
        }
    }
}
