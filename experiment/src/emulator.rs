//! What an emulator says of a run that was not simulated.

use serde::Serialize;

/// What crossed the path in real time, and how exact the emulator was. Of a pair, the first is forward. All are over the whole
/// run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EmulatorSummary {
    /// Packets that came to the path.
    pub arrived_packets: [u64; 2],
    /// Packets that left it.
    pub delivered_packets: [u64; 2],
    /// What left it, headers included.
    pub delivered_mbps: [f64; 2],
    /// How late packets left, against the moment when they were due: the median.
    pub late_median_us: Option<f64>,
    /// 99 % were not later.
    pub late_p99_us: Option<f64>,
    /// 99.9 % were not later.
    pub late_p999_us: Option<f64>,
    /// The latest.
    pub late_max_us: Option<f64>,
    /// The share of packets that left more than 200 us late.
    pub late_share: f64,
    /// Whether the system scheduled the emulator before everything else, as it does for root.
    pub realtime: bool,
    /// Packets that the kernel dropped before the emulator took them.
    pub missed: u64,
    /// Packets that the kernel did not take when they left the path.
    pub unsent: u64,
    /// Datagrams of clients that there was no room for.
    pub refused: u64,
    /// Whether the run is to be trusted: no packet was missed or unsent, and at most 1 % left more than 200 us late.
    pub kept_up: bool,
}
