//! The time series of a flow as events, for senders that are not ours and cannot be watched.

use control::Time;
use experiment::{Flow, FlowSeries};
use qlog::{Event, Happened, Metric, Metrics, milliseconds};

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
        metrics.set(Metric::SmoothedRtt, value(&series.rtt, 1e6).map(|us| us.round() / 1e3));
        metrics.set(Metric::CongestionWindow, value(&series.window, flow.packet.0 as f64).map(f64::round));
        metrics.set(Metric::PacingRate, value(&series.rate, 1.0).map(f64::round));
        let delivered = series.delivered.get(i).map(|&bytes| bytes as f64 * 8.0 / seconds);
        metrics.set(Metric::DeliveryRate, delivered.filter(|rate| rate.is_finite()).map(f64::round));
        if let Some(&packets) = series.retransmitted.get(i).filter(|packets| **packets > 0) {
            let lost = Happened::Lost { packets: packets.into(), bytes: None, trigger: None };
            events.push(Event { time: milliseconds(at.since(Time::ZERO)), happened: lost });
        }
        if !metrics.is_empty() {
            events.push(Event { time: milliseconds(at.since(Time::ZERO)), happened: Happened::Metrics(metrics) });
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Duration, Phase};
    use scenario::Machine;

    #[test]
    fn an_interval_gives_its_metrics_and_losses() {
        let text = "duration = \"1 s\"\npath = { rate = \"10 Mbps\", rtt = \"20 ms\", buffer = \"10 packets\" }\n\
                    flow = [{ controller = \"reno\", start = \"15 ms\" }]\n";
        let plan = scenario::read("test.toml", text, &[], &Machine::this(None)).unwrap();
        let flow = &plan.runs[0].experiment.flows[0];
        let series = FlowSeries {
            delivered: vec![0, 12_500],
            window: vec![f64::NAN, 7.5],
            rate: vec![f64::NAN; 2],
            available: vec![f64::NAN; 2],
            rtt: vec![f64::NAN, 0.0201234567],
            retransmitted: vec![0, 3],
            phase: vec![None, Some(Phase::SlowStart)],
        };
        let sampled = [10, 20].map(|ms| Time::ZERO + Duration::from_millis(ms));
        let events = events(flow, &series, &sampled);
        assert!(events.iter().all(|event| event.time == 20.0), "none before the flow starts: {events:?}");
        assert_eq!(events[0].happened, Happened::Lost { packets: 3, bytes: None, trigger: None });
        let Happened::Metrics(metrics) = &events[1].happened else { panic!("{events:?}") };
        let expected = [(Metric::SmoothedRtt, 20.123), (Metric::CongestionWindow, 7500.0), (Metric::DeliveryRate, 1e7)];
        assert_eq!(metrics.iter().collect::<Vec<_>>(), expected);
    }
}
