//! The time series of a flow as events, for senders that are not ours and cannot be watched.

use super::folder::ms;
use control::Time;
use experiment::{Flow, FlowSeries};
use qlog::{Event, Happened, Metric, Metrics};

/// The metrics at the end of each sampling interval, and how many packets were sent again in it.
pub fn events(flow: &Flow, series: &FlowSeries, sampled: &[Time]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut before = Time::ZERO;
    for (i, &at) in sampled.iter().enumerate() {
        let seconds = at.since(before).as_secs();
        before = at;
        if at < flow.start || series.phase.get(i).copied().flatten().is_none() {
            continue;
        }
        let value = |values: &[f64], scale: f64| {
            values.get(i).copied().filter(|value| value.is_finite()).map(|value| value * scale)
        };
        let mut metrics = Metrics::default();
        metrics.set(Metric::SmoothedRtt, value(&series.rtt, 1e3));
        metrics.set(Metric::CongestionWindow, value(&series.window, flow.packet.0 as f64).map(f64::round));
        metrics.set(Metric::PacingRate, value(&series.rate, 1.0).map(f64::round));
        let delivered = series.delivered.get(i).map(|&bytes| bytes as f64 * 8.0 / seconds);
        metrics.set(Metric::DeliveryRate, delivered.filter(|rate| rate.is_finite()).map(f64::round));
        if let Some(&packets) = series.retransmitted.get(i).filter(|packets| **packets > 0) {
            let lost = Happened::Lost { packets: packets.into(), bytes: None, trigger: None };
            events.push(Event { time: ms(at), happened: lost });
        }
        if !metrics.is_empty() {
            events.push(Event { time: ms(at), happened: Happened::Metrics(metrics) });
        }
    }
    events
}
