//! `thalweg run --qlog` and `thalweg show`.

use assert_cmd::cargo::cargo_bin_cmd;
use jsonschema::Validator;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Losses, timeouts, marks, a link that changes, flows that start, end and stop.
const ALL: &str = r#"
title = "Everything"
duration = "8 s"
sample = "10 ms"

[path]
rate = "10 Mbps"
rtt = "40 ms"
buffer = "30 packets"
change = [{ at = "2 s", rate = "2 Mbps" }, { at = "4 s", rate = "0 bps" }, { at = "5.5 s", rate = "10 Mbps" }]
queue = { kind = "red", min = 10, max = 10, weight = 1, gentle = false }

[[flow]]
controller = "cubic"

[[flow]]
controller = "dctcp"
ecn = true
start = "500 ms"
stop = "7 s"

[[flow]]
controller = "bbr"
size = "300 kB"
start = "1 s"
"#;

fn thalweg(home: &Path, args: &[&str]) -> (i32, String, String) {
    let output = cargo_bin_cmd!("thalweg").current_dir(home).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn home(scenario: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("run.toml"), scenario).unwrap();
    home
}

/// The records of a log.
fn records(file: &Path) -> Vec<Value> {
    let bytes = fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let records = bytes.split(|&byte| byte == 0x1e).skip(1);
    records.map(|record| serde_json::from_slice(record).unwrap()).collect()
}

fn schema() -> Validator {
    let text = include_str!("schema.json");
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

/// The events of a log of this name.
fn named<'r>(records: &'r [Value], name: &str) -> Vec<&'r Value> {
    records.iter().filter(|record| record["name"] == name).collect()
}

#[test]
fn logs_keep_to_the_drafts_schema_and_have_all_events() {
    let home = home(ALL);
    let (code, with, err) = thalweg(home.path(), &["run", "run.toml", "--qlog", "logs", "--quiet"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let schema = schema();
    let mut seen = BTreeSet::new();
    for flow in 1..=3 {
        let records = records(&home.path().join(format!("logs/cubic+dctcp+bbr-flow-{flow}.sqlog")));
        assert!(records.len() > 100, "{}", records.len());
        for record in &records {
            assert!(schema.is_valid(record), "{record}: {}", schema.validate(record).unwrap_err());
        }
        let times: Vec<f64> = records[1..].iter().map(|event| event["time"].as_f64().unwrap()).collect();
        assert!(times.is_sorted() && *times.last().unwrap() <= 8000.0, "{times:?}");
        seen.extend(records[1..].iter().map(|event| event["name"].as_str().unwrap().to_string()));
        let markers: Vec<&str> =
            named(&records, "simulation:marker").iter().map(|it| it["data"]["type"].as_str().unwrap()).collect();
        for kind in ["link_rate", "flow_start", "flow_stop", "flow_completed"] {
            assert!(markers.contains(&kind), "{kind}: {markers:?}");
        }
        let scenario = &named(&records, "simulation:scenario")[0]["data"];
        assert_eq!((&scenario["name"], &scenario["details"]["packet_bytes"]), (&"Everything".into(), &1000.into()));
        // The link carries nothing for 1.5 s.
        let timeouts = named(&records, "quic:recovery_metrics_updated");
        let timeouts = timeouts.iter().filter_map(|it| it["data"]["pto_count"].as_u64()).max();
        assert!(flow == 3 || timeouts >= Some(1), "flow {flow}: {timeouts:?}");
    }
    assert_eq!(
        seen.into_iter().collect::<Vec<_>>(),
        [
            "quic:congestion_state_updated",
            "quic:ecn_state_updated",
            "quic:packet_lost",
            "quic:recovery_metrics_updated",
            "simulation:marker",
            "simulation:scenario"
        ]
    );
    let (_, without, _) = thalweg(home.path(), &["run", "run.toml", "--quiet"]);
    assert_eq!(with, without, "who is watched does the same");
}

/// The schema itself: it refuses what the drafts do not have.
#[test]
fn the_schema_refuses_other_records() {
    let schema = schema();
    let event = |name: &str, data: &str| format!(r#"{{"time": 1.5, "name": "{name}", "data": {data}}}"#);
    let valid = event("quic:recovery_metrics_updated", r#"{"smoothed_rtt": 1.5, "congestion_window": 1000}"#);
    assert!(schema.is_valid(&serde_json::from_str(&valid).unwrap()));
    for wrong in [
        event("recovery:metrics_updated", r#"{"smoothed_rtt": 1.5}"#),
        event("quic:recovery_metrics_updated", "{}"),
        event("quic:recovery_metrics_updated", r#"{"cwnd": 1000}"#),
        event("quic:recovery_metrics_updated", r#"{"congestion_window": 1000.5}"#),
        event("quic:congestion_state_updated", r#"{"old": "slow_start"}"#),
        event("quic:packet_lost", r#"{"trigger": "bad luck"}"#),
        event("quic:ecn_state_updated", r#"{"new": "off"}"#),
        event("simulation:marker", r#"{"text": "x"}"#),
        r#"{"name": "simulation:marker", "data": {}}"#.into(),
    ] {
        assert!(!schema.is_valid(&serde_json::from_str(&wrong).unwrap()), "{wrong}");
    }
}

#[test]
fn what_a_log_counts_is_what_the_results_count() {
    let scenario = "duration = \"30 s\"\npath = { rate = \"20 Mbps\", rtt = \"40 ms\", buffer = \"20 packets\", packet-error = 0.005 }\n\
                    flow = [{ controller = \"cubic\", size = \"10 MB\" }]\n";
    let home = home(scenario);
    let args = ["run", "run.toml", "--qlog", "logs", "--format", "json", "--quiet"];
    let (code, out, err) = thalweg(home.path(), &args);
    assert_eq!((code, err.as_str()), (0, ""));
    let summary: Value = serde_json::from_str(&out).unwrap();
    let flow = &summary["runs"][0]["flows"][0];
    let records = records(&home.path().join("logs/cubic.sqlog"));
    let lost = named(&records, "quic:packet_lost");
    let lost: u64 = lost.iter().map(|event| event["data"]["packets"].as_u64().unwrap()).sum();
    // All data arrived, so that every packet that was found lost was sent again.
    assert!(flow["completion_seconds"].is_number(), "{flow}");
    assert!(lost > 20 && Some(lost) == flow["retransmitted_packets"].as_u64(), "{lost}: {flow}");
    let recoveries = named(&records, "quic:congestion_state_updated");
    let recoveries = recoveries.iter().filter(|event| event["data"]["new"] == "recovery").count() as u64;
    assert!(recoveries > 10 && Some(recoveries) <= flow["loss_events"].as_u64(), "{recoveries}: {flow}");
}

#[test]
fn a_log_follows_the_time_and_not_the_packets() {
    let scenario = "duration = \"4 s\"\npath = { rate = \"1 Gbps\", rtt = \"20 ms\", buffer = \"100 packets\" }\n\
                    compare.controllers = [\"scalable\", \"rapid\"]\n";
    let home = home(scenario);
    for jobs in ["1", "2"] {
        let (code, _, err) = thalweg(home.path(), &["run", "run.toml", "--qlog", jobs, "--quiet", "--jobs", jobs]);
        assert_eq!((code, err.as_str()), (0, ""));
    }
    for name in ["scalable.sqlog", "rapid.sqlog"] {
        let read = |jobs| fs::read(home.path().join(jobs).join(name)).unwrap();
        assert_eq!(read("1"), read("2"), "{name} is the same on any number of cores");
        let records = records(&home.path().join("1").join(name));
        let metrics = named(&records, "quic:recovery_metrics_updated").len();
        let lost = named(&records, "quic:packet_lost").len();
        // A record every 10 ms of 4 s.
        assert!((200..=402).contains(&metrics) && lost <= 402, "{name}: {metrics} and {lost}");
        assert!(read("1").len() < 150_000, "{name}: {} bytes", read("1").len());
    }
}

#[test]
fn logs_are_drawn() {
    let home = home(ALL);
    let (code, _, err) = thalweg(home.path(), &["run", "run.toml", "--qlog", "logs", "--quiet"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let logs = [1, 2, 3].map(|flow| format!("logs/cubic+dctcp+bbr-flow-{flow}.sqlog"));
    let one = ["show", &logs[0], "--out", "one"];
    let all = ["show", &logs[0], &logs[1], &logs[2], "--out", "all"];
    for (args, folder) in [(&one[..], "one"), (&all[..], "all")] {
        let (code, out, err) = thalweg(home.path(), args);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("flow 1") && out.contains("quic-13") && out.ends_with("logs.html\n"), "{out}");
        let page = fs::read_to_string(home.path().join(folder).join("logs.html")).unwrap();
        for said in ["Congestion window (kB)", "slow_start", "link_rate: bottleneck: 2 Mbps", "Scenario: Everything"] {
            let said =
                if folder == "one" { said.replace("Congestion window (kB)", "Window (kB)") } else { said.into() };
            assert!(page.contains(&said), "{folder}: {said}");
        }
    }
}

#[test]
fn a_file_that_is_no_log_is_answered_in_a_line() {
    let home = home(ALL);
    let write = |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
    write("no.qlog", "hello");
    write("other.json", "{\"runs\": []}");
    write("empty.sqlog", "\x1e{\"qlog_version\":\"0.4\",\"trace\":{}}\n");
    write("bad.sqlog", "\x1e{\"qlog_version\":\"0.4\",\"trace\":{}}\n\x1e{\"time\":1}\n");
    for (file, said) in [
        ("missing.qlog", "missing.qlog: cannot be read (no such file or directory)\n"),
        ("no.qlog", "no.qlog: record 1: is no JSON (expected value at line 1 column 1)\n"),
        ("other.json", "other.json: record 1: is no qlog: it has no qlog_version, no file_schema and no traces\n"),
        (
            "empty.sqlog",
            "empty.sqlog: has no events of congestion control: no metrics, states, losses or packets sent\n",
        ),
        ("bad.sqlog", "bad.sqlog: record 2: has no name\n"),
    ] {
        let (code, out, err) = thalweg(home.path(), &["show", file]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert_eq!(err.to_lowercase(), said.to_lowercase());
    }
    write("file", "");
    let (code, _, err) = thalweg(home.path(), &["run", "run.toml", "--qlog", "file", "--quiet"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.starts_with("--qlog file: cannot be written ("), "{err}");
}
