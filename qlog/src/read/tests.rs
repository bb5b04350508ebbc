//! Logs as implementations write them, and mistakes in them. Each log here is in the form of the implementation that is
//! named, with values of our own.

use super::*;
use crate::event::{Event, Happened, Metric};

/// The values of a metric, with their times.
fn values(trace: &Trace, metric: Metric) -> Vec<(f64, f64)> {
    let value = |event: &Event| match &event.happened {
        Happened::Metrics(metrics) => Some((event.time, metrics.get(metric)?)),
        _ => None,
    };
    trace.events.iter().filter_map(value).collect()
}

/// Packets lost, bytes sent, and the states.
fn others(trace: &Trace) -> (u64, u64, Vec<&str>) {
    let (mut lost, mut sent, mut states) = (0, 0, vec![]);
    for event in &trace.events {
        match &event.happened {
            Happened::Lost { packets, .. } => lost += packets,
            Happened::Sent(bytes) => sent += bytes,
            Happened::State { new, .. } => states.push(&new[..]),
            _ => {}
        }
    }
    (lost, sent, states)
}

fn one(text: &str) -> Trace {
    let mut traces = read(text.as_bytes()).unwrap();
    assert_eq!(traces.len(), 1);
    traces.remove(0)
}

#[test]
fn quiche_and_quinn() {
    let trace = one(concat!(
        "\x1e{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"client qlog\",\"description\":\"id=1f\",",
        "\"trace\":{\"vantage_point\":{\"type\":\"client\"},\"title\":\"client qlog\",",
        "\"configuration\":{\"time_offset\":0.0}}}\n",
        "\x1e{\"time\":0.25,\"name\":\"transport:packet_sent\",\"data\":{\"header\":{\"packet_type\":\"initial\",",
        "\"packet_number\":0},\"raw\":{\"length\":1200,\"payload_length\":1158},\"send_at_time\":0.25}}\n",
        "\x1e{\"time\":0.5,\"name\":\"recovery:metrics_updated\",\"data\":{\"smoothed_rtt\":333.0,\"rtt_variance\":166.5,",
        "\"congestion_window\":13500,\"bytes_in_flight\":1200,\"ssthresh\":18446744073709551615}}\n",
        "\x1e{\"time\":9.75,\"name\":\"recovery:congestion_state_updated\",\"data\":{\"new\":\"recovery\"}}\n",
        "\x1e{\"time\":9.75,\"name\":\"recovery:packet_lost\",\"data\":{\"header\":{\"packet_type\":\"1RTT\",",
        "\"packet_number\":4}}}\n",
        "\x1e{\"time\":10.5,\"name\":\"recovery:metrics_updated\",\"data\":{\"congestion_window\":6750}}\n",
    ));
    assert_eq!((&trace.title[..], &trace.logger[..], &trace.version[..]), ("client qlog", "client", "0.3"));
    assert_eq!(values(&trace, Metric::CongestionWindow), [(0.5, 13_500.0), (10.5, 6750.0)]);
    assert_eq!(values(&trace, Metric::Ssthresh), [], "the largest integer stands for none");
    assert_eq!(others(&trace), (1, 1200, vec!["recovery"]));
    assert_eq!(trace.total, 5);
}

#[test]
fn ngtcp2() {
    let trace = one(concat!(
        "\x1e{\"qlog_format\":\"JSON-SEQ\",\"qlog_version\":\"0.3\",\"trace\":{\"vantage_point\":{\"name\":\"ngtcp2\",",
        "\"type\":\"server\"},\"common_fields\":{\"protocol_type\":[\"QUIC\"],\"time_format\":\"relative\",",
        "\"reference_time\":0,\"group_id\":\"af\"}}}\n",
        "\x1e{\"time\":12,\"name\":\"recovery:metrics_updated\",\"data\":{\"min_rtt\":11,\"smoothed_rtt\":12,",
        "\"latest_rtt\":11,\"rtt_variance\":4,\"pto_count\":0,\"congestion_window\":14520,\"bytes_in_flight\":1452,",
        "\"ssthresh\":7260}}\n",
    ));
    assert_eq!((&trace.title[..], &trace.logger[..]), ("", "ngtcp2"));
    assert_eq!(values(&trace, Metric::MinRtt), [(12.0, 11.0)]);
    assert_eq!(values(&trace, Metric::Ssthresh), [(12.0, 7260.0)]);
}

#[test]
fn aioquic() {
    let trace = one(
        r#"{"qlog_format": "JSON", "qlog_version": "0.3", "traces": [{"common_fields": {"ODCID": "2f"}, "events": [
        {"data": {"packet_size": 1280}, "name": "transport:packet_sent", "time": 1700000000000.25},
        {"data": {"bytes_in_flight": 1280, "cwnd": 14000}, "name": "recovery:metrics_updated",
         "time": 1700000000000.5},
        {"data": {"latest_rtt": 20.5, "min_rtt": 20.5, "smoothed_rtt": 20.5, "rtt_variance": 10.25},
         "name": "recovery:metrics_updated", "time": 1700000000021.25}],
        "vantage_point": {"name": "aioquic", "type": "client"}}]}"#,
    );
    assert_eq!(trace.date, Some(1700000000000.25));
    assert_eq!(values(&trace, Metric::CongestionWindow), [(0.25, 14_000.0)]);
    assert_eq!(values(&trace, Metric::LatestRtt), [(21.0, 20.5)]);
    assert_eq!(others(&trace), (0, 1280, vec![]));
}

#[test]
fn picoquic() {
    let trace = one(r#"{ "qlog_version": "draft-00", "title": "picoquic", "traces": [
        { "vantage_point": { "name": "backend-67", "type": "server" },
        "title": "picoquic", "description": "0a", "event_fields": ["relative_time", "path_id", "category", "event", "data"],
        "configuration": {"time_units": "us"},
        "common_fields": { "protocol_type": "QUIC_HTTP3", "reference_time": "1234567"},
        "events": [
        [1500, 0, "transport", "packet_sent", { "packet_type": "1RTT", "header": { "packet_size": 1440, "packet_number": 3 },
         "frames": [{"frame_type": "padding"}]}],
        [2500, 0, "recovery", "metrics_updated", {"cwnd": 15360,"pacing_rate": 4000000,"smoothed_rtt": 250000,"min_rtt": 100}],
        [3500, 0, "recovery", "packet_lost", { "packet_type" : "1RTT", "packet_number" : 3, "trigger": "repeat"}]]}]}"#);
    assert_eq!(values(&trace, Metric::CongestionWindow), [(2.5, 15_360.0)]);
    assert_eq!(values(&trace, Metric::SmoothedRtt), [(2.5, 250.0)], "in microseconds");
    assert_eq!(values(&trace, Metric::PacingRate), [(2.5, 4e6)]);
    assert_eq!(others(&trace), (1, 1440, vec![]));
}

#[test]
fn the_newest_drafts_as_a_whole() {
    let traces = read(
        br#"{"file_schema": "urn:ietf:params:qlog:file:contained", "serialization_format": "application/qlog+json",
        "title": "two", "traces": [
        {"error_description": "File could not be found", "uri": "/latest.qlog"},
        {"event_schemas": ["urn:ietf:params:qlog:events:loglevel", "urn:ietf:params:qlog:events:quic-13"],
         "common_fields": {"time_format": "relative_to_previous_event"},
         "events": [
            {"time": 3, "name": "quic:recovery_metrics_updated", "data": {"congestion_window": "12000"}},
            {"time": 4, "name": "http:frame_parsed", "data": {"new": 1}},
            {"time": 5, "name": "quic:ecn_state_updated", "data": {"new": "capable"}}]}]}"#,
    )
    .unwrap();
    assert_eq!(traces.len(), 1);
    assert_eq!((&traces[0].title[..], &traces[0].version[..]), ("two", "quic-13"));
    assert_eq!(values(&traces[0], Metric::CongestionWindow), [(3.0, 12_000.0)]);
    assert_eq!(traces[0].events[1].time, 12.0);
}

#[test]
fn a_mistake_is_a_line_with_its_record() {
    let in_sequence = |record: &str| format!("\x1e{{\"qlog_version\":\"0.3\",\"trace\":{{}}}}\n\x1e{record}\n");
    let event = |data: &str| format!("{{\"time\":1,\"name\":\"recovery:metrics_updated\",\"data\":{data}}}");
    let list = "{\"qlog_version\":\"0.3\",\"traces\":[{\"events\":[[1]]}]}".to_string();
    let cases = [
        (String::new(), "record 1: the file is empty"),
        ("{}".into(), "record 1: is no qlog: it has no qlog_version, no file_schema and no traces"),
        ("[1, 2]".into(), "record 1: is no qlog: it has no qlog_version, no file_schema and no traces"),
        ("{\"qlog_version\":\"0.3\"}".into(), "record 1: traces is no list of traces"),
        ("{\"traces\":[{}]}".into(), "trace 1: events is no list of events"),
        (list, "trace 1, event 1: is a list, and the trace has no event_fields"),
        ("hello".into(), "record 1: is no JSON (expected value at line 1 column 1)"),
        ("\x1e{\"trace\":7}".into(), "record 1: trace is 7, which is no object"),
        (in_sequence("7"), "record 2: the event is 7, which is no object"),
        (in_sequence("{\"name\":\"a:b\"}"), "record 2: has no time"),
        (in_sequence("{\"time\":1}"), "record 2: has no name"),
        (in_sequence("{\"time\":[],\"name\":\"a:b\"}"), "record 2: time is [], which is no number"),
        (in_sequence(&event("[]")), "record 2: data is [], which is no object"),
        (in_sequence(&event("{\"cwnd\":true}")), "record 2: data.cwnd is true, which is no number"),
        (
            in_sequence("{\"time\":1,\"name\":\"quic:congestion_state_updated\",\"data\":{}}"),
            "record 2: data.new is missing",
        ),
        (in_sequence("}") + "\x1e{}\n", "record 2: is no JSON (expected value at line 1 column 1)"),
    ];
    for (file, expected) in cases {
        assert_eq!(read(file.as_bytes()).unwrap_err().to_string(), expected, "{file}");
    }
}

#[test]
fn a_file_that_ends_within_its_last_record_is_read_up_to_there() {
    let head = "\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n";
    let event = "\x1e{\"time\":1,\"name\":\"recovery:metrics_updated\",\"data\":{\"cwnd\":7}}\n";
    let whole = format!("{head}{event}{event}");
    let cut = &whole[..whole.len() - 9];
    assert_eq!(one(cut).events.len(), 1);
    // In the middle of a file, it is a mistake.
    assert!(read(format!("{cut}{event}").as_bytes()).is_err());
}
