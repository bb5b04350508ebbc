//! The charts that every flow and every link gets.

use super::common::Common;
use crate::figure::{Curve, Vertical};
use control::Time;
use experiment::{FlowSeries, LinkSeries};

/// How a time series is drawn. `S` is [`FlowSeries`] or [`LinkSeries`].
pub struct Chart<S> {
    /// What the vertical axis shows, such as `Window`.
    pub name: &'static str,
    /// The unit of that axis.
    pub unit: Unit,
    /// Whether that axis begins at zero.
    pub from_zero: bool,
    /// How the samples of a bin become one value.
    pub bin: Bin,
    /// The samples, one per sampling interval; NaN where there is none. A run without any value has no such chart.
    pub samples: fn(&S) -> Vec<f64>,
}

/// How the samples within one bin of a figure become one value.
pub enum Bin {
    /// Their mean.
    Mean,
    /// The largest.
    Max,
}

/// The unit of samples, and the unit of the axis.
pub enum Unit {
    /// Packets.
    Packets,
    /// Bytes, shown in kilobytes.
    Kilobytes,
    /// Seconds, shown in milliseconds.
    Milliseconds,
    /// Bits per second, shown in Mbps or Gbps.
    Rate,
}

/// The charts of each flow, in order. Throughput, which stands before them, is no entry: it follows from the bytes
/// delivered.
pub const FLOWS: &[Chart<FlowSeries>] = &[
    Chart { name: "Window", unit: Unit::Packets, from_zero: true, bin: Bin::Mean, samples: |flow| flow.window.clone() },
    Chart { name: "Rate", unit: Unit::Rate, from_zero: true, bin: Bin::Mean, samples: |flow| flow.rate.clone() },
    Chart { name: "RTT", unit: Unit::Milliseconds, from_zero: false, bin: Bin::Mean, samples: |flow| flow.rtt.clone() },
];

/// The charts of each link, in order. The last two show what routers that take part in congestion control tell the
/// flows.
pub const LINKS: &[Chart<LinkSeries>] = &[
    Chart {
        name: QUEUE,
        unit: Unit::Packets,
        from_zero: true,
        bin: Bin::Max,
        samples: |link| link.max_queue.iter().map(|&n| n as f64).collect(),
    },
    Chart {
        name: "Allowed rate",
        unit: Unit::Rate,
        from_zero: true,
        bin: Bin::Mean,
        samples: |link| link.allowed.clone(),
    },
    Chart {
        name: "Allowed growth",
        unit: Unit::Kilobytes,
        from_zero: true,
        bin: Bin::Mean,
        samples: |link| link.growth.clone(),
    },
];

/// The name of the chart of queues.
pub const QUEUE: &str = "Queue";

impl<S> Chart<S> {
    /// What the vertical axis shows, and in which unit.
    pub fn axis(&self, common: &Common) -> String {
        self.axis_of(self.name, common)
    }

    /// The same, with `name` in place of the chart's own.
    pub fn axis_of(&self, name: &str, common: &Common) -> String {
        match self.unit {
            Unit::Packets => format!("{name} (packets)"),
            Unit::Kilobytes => format!("{name} (kB)"),
            Unit::Milliseconds => format!("{name} (ms)"),
            Unit::Rate => common.rate_axis(name),
        }
    }

    /// The extent of the vertical axis.
    pub fn vertical(&self) -> Vertical {
        if self.from_zero { Vertical::FromZero } else { Vertical::Around }
    }

    /// What samples are multiplied by to be in the unit of the axis.
    pub fn factor(&self, common: &Common) -> f64 {
        match self.unit {
            Unit::Packets => 1.0,
            Unit::Kilobytes => 1e-3,
            Unit::Milliseconds => 1e3,
            Unit::Rate => common.rate_factor(),
        }
    }

    /// The values of `series` bin by bin, not yet multiplied by the factor. `sampled`: the ends of the sampling
    /// intervals.
    pub fn curve(&self, common: &Common, sampled: &[Time], series: &S) -> Curve {
        let samples = (self.samples)(series).into_iter();
        match self.bin {
            Bin::Mean => common.grid.mean(sampled, samples),
            Bin::Max => common.grid.max(sampled, samples),
        }
    }
}
