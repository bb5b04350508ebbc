//! The families in which controllers are listed.

/// What a controller takes as the sign of congestion, and what it sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The delays of packets sent at exact times set a rate.
    PacketScale,
    /// Losses set a window.
    LossWindow,
    /// Delays and losses set a window.
    DelayWindow,
    /// The share of marked packets sets a window.
    MarkWindow,
    /// A measurement of the path sets a rate.
    Rate,
    /// Routers on the path set a rate or a window.
    RouterAssisted,
}

impl Family {
    /// All families, in the order in which to list them.
    pub const ALL: [Family; 6] = [
        Family::PacketScale,
        Family::LossWindow,
        Family::DelayWindow,
        Family::MarkWindow,
        Family::Rate,
        Family::RouterAssisted,
    ];

    /// The name in lists and file names.
    pub fn name(self) -> &'static str {
        match self {
            Family::PacketScale => "packet-scale",
            Family::LossWindow => "loss-window",
            Family::DelayWindow => "delay-window",
            Family::MarkWindow => "mark-window",
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
            Family::MarkWindow => {
                "a window that shrinks by the share of packets that queues mark (ECN); Reno where no queue marks"
            }
            Family::Rate => "a sending rate, set by what the path was measured to deliver",
            Family::RouterAssisted => {
                "what the routers on the path write on each packet; Reno where none of them takes part"
            }
        }
    }
}
