//! The files and tables that runs leave.

mod common;

use common::finished;
use experiment::{EmulatorSummary, Place};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::Path;
use thalweg_lab::results::{Summary, summary, table, write};

fn json_of(summary: &Summary) -> Value {
    serde_json::to_value(summary).unwrap()
}

fn rows(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field<'a>(row: &'a Row, column: &str) -> &'a Field {
    row.get_column_iter().find(|(name, _)| *name == column).unwrap().1
}

#[test]
fn json_has_what_was_promised() {
    let summary = json_of(&summary("Who is first?", 7, &[finished("reno", 2, true)]));
    assert_eq!((&summary["title"], &summary["seed"]), (&json!("Who is first?"), &json!(7)));
    let run = &summary["runs"][0];
    for key in ["name", "controller", "parameters", "packets_delivered", "wall_seconds", "links", "flows", "jain"] {
        assert!(!run[key].is_null(), "{key} in {run}");
    }
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for key in ["name", "utilization", "mean_queue_packets", "max_queue_packets", "drops"] {
        assert!(keys(&run["links"][0]).contains(&key.to_string()), "{key}");
    }
    for key in [
        "id",
        "controller",
        "rtt_ms",
        "throughput_mbps",
        "retransmitted_packets",
        "loss_events",
        "acquire_rtts",
        "completion_seconds",
    ] {
        assert!(keys(&run["flows"][0]).contains(&key.to_string()), "{key}");
    }
    assert_eq!(run["flows"][0]["acquire_rtts"], json!(6.5));
    assert_eq!(run["flows"][1]["acquire_rtts"], Value::Null);
    assert_eq!(run["flows"][1]["rtt_ms"], json!(110.0));
}

#[test]
fn what_is_not_a_number_is_null() {
    let mut run = finished("rapid", 1, false);
    run.outcome.flows[0].delivered = control::Bytes(0);
    run.outcome.flows[0].mean_rtt = f64::NAN;
    run.outcome.links[0].mean_queue = f64::INFINITY;
    let text = serde_json::to_string(&summary("", 1, &[run])).unwrap();
    let run = &serde_json::from_str::<Value>(&text).unwrap()["runs"][0];
    assert_eq!((&run["jain"], &run["flows"][0]["mean_rtt_ms"]), (&Value::Null, &Value::Null));
    assert_eq!(run["links"][0]["mean_queue_packets"], Value::Null);
}

#[test]
fn fairness_at_500_ms() {
    let even = summary("", 1, &[finished("reno", 2, true)]).runs[0].clone();
    assert!(even.jain_500ms_median.unwrap() > 0.99);
    // The second flow is there for 19 of 20 s only.
    assert!(even.jain < even.jain_500ms_median.unwrap());
    let mut odd = finished("reno", 2, true);
    odd.run.experiment.sample = control::Duration::from_millis(300);
    assert_eq!(summary("", 1, &[odd]).runs[0].jain_500ms_median, None);
}

#[test]
fn same_runs_same_bytes() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut runs = [finished("rapid", 3, false), finished("reno", 2, true)];
    write(one.path(), "t", 1, &runs).unwrap();
    runs[0].wall_seconds = 99.0;
    write(two.path(), "t", 1, &runs).unwrap();
    for file in ["summary.json", "flows.parquet", "links.parquet", "transfers.parquet", "completion.parquet"] {
        let [one, two] = [one.path(), two.path()].map(|dir| fs::read(dir.join(file)).unwrap());
        assert!(!one.is_empty() && one == two, "{file}");
    }
    let summary = fs::read_to_string(one.path().join("summary.json")).unwrap();
    assert!(!summary.contains("wall_seconds"));
}

#[test]
fn flows_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let runs = [finished("rapid", 3, false), finished("reno", 2, true)];
    write(dir.path(), "t", 1, &runs).unwrap();
    let rows = rows(&dir.path().join("flows.parquet"));
    let samples = runs[0].outcome.sampled.len();
    assert_eq!(rows.len(), (3 + 2) * samples);

    // The last sample of reno's second flow.
    let (row, series) = (rows.last().unwrap(), &runs[1].outcome.flows[1].series);
    let text = |text: &str| Field::Str(text.to_string());
    assert_eq!((field(row, "run"), field(row, "controller")), (&text("reno"), &text("reno")));
    assert_eq!((field(row, "flow"), field(row, "time_s")), (&Field::Int(2), &Field::Double(20.0)));
    assert_eq!(field(row, "window_packets"), &Field::Double(*series.window.last().unwrap()));
    assert_eq!(field(row, "rate_mbps"), &Field::Null);
    assert_eq!(field(row, "available_mbps"), &Field::Null);
    assert_eq!(field(row, "rtt_ms"), &Field::Double(series.rtt.last().unwrap() * 1e3));
    assert_eq!(field(row, "phase"), &text("congestion-avoidance"));
    let mbps = *series.delivered.last().unwrap() as f64 * 8.0 / 0.05 / 1e6;
    assert!(matches!(field(row, "throughput_mbps"), Field::Double(x) if (x - mbps).abs() < 1e-6 * mbps));

    // Rapid's second flow has not begun in the first sample.
    let row = &rows[samples];
    assert_eq!((field(row, "flow"), field(row, "phase")), (&Field::Int(2), &Field::Null));
    assert_eq!((field(row, "throughput_mbps"), field(row, "rtt_ms")), (&Field::Double(0.0), &Field::Null));

    // Its last sample.
    let (row, series) = (&rows[2 * samples - 1], &runs[0].outcome.flows[1].series);
    assert_eq!(field(row, "available_mbps"), &Field::Double(*series.available.last().unwrap() * 1e-6));
}

#[test]
fn links_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let runs = [finished("rapid", 3, false), finished("reno", 2, true)];
    write(dir.path(), "t", 1, &runs).unwrap();
    let rows = rows(&dir.path().join("links.parquet"));
    let series = &runs[0].outcome.links[0].series;
    assert_eq!(rows.len(), 2 * series.queue.len());
    assert_eq!(field(&rows[3], "link"), &Field::Str("bottleneck".into()));
    assert_eq!(field(&rows[3], "queue_packets"), &Field::Double(series.queue[3]));
    assert_eq!(field(&rows[3], "max_queue_packets"), &Field::Long(series.max_queue[3] as i64));
    assert_eq!(field(&rows[0], "drops"), &Field::Long(1));
    assert_eq!(field(&rows[3], "utilization"), &Field::Double(series.utilization[3]));
}

/// The keys of `value` and of all that is in it, without those of parameters and settings, which the scenario names.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| keys(one, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                found.push(key.clone());
                if key != "parameters" && key != "settings" {
                    keys(value, found);
                }
            }
        }
        _ => {}
    }
}

/// Every key of `summary.json` and every column of the Parquet files has a row in the documentation.
#[test]
fn the_documentation_has_every_key_and_column() {
    let page = include_str!("../../docs/results.md");
    let (simulated, mut real) = (finished("reno", 2, true), finished("reno", 2, true));
    real.run.identity.place = Place::Real;
    real.emulator = Some(EmulatorSummary::default());
    let text = r#"
        duration = "2 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        traffic = [{ kind = "flows", controller = "reno", per-second = 30, size = "20 kB" }]
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let traffic = thalweg_lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap().remove(0);
    let runs = [simulated, real, traffic];
    let mut names = Vec::new();
    keys(&json_of(&summary("t", 1, &runs)), &mut names);
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t", 1, &runs).unwrap();
    for file in ["flows.parquet", "links.parquet", "transfers.parquet", "completion.parquet"] {
        let reader = SerializedFileReader::new(File::open(dir.path().join(file)).unwrap()).unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().columns().to_vec();
        names.extend(columns.iter().map(|column| column.name().to_string()));
    }
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/results.md lacks `{name}`");
    }
}

#[test]
fn no_runs_no_rows() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "nothing", 1, &[]).unwrap();
    assert_eq!(rows(&dir.path().join("flows.parquet")).len(), 0);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    assert!(write(&dir.path().join("missing"), "t", 1, &[]).is_err());
}

#[test]
fn one_row_per_run() {
    let text = table(&summary("", 1, &[finished("rapid", 1, false), finished("a-run-with-a-longer-name", 1, true)]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    assert!(lines[1].contains("goodput") && lines[2].contains("Mbps"), "{text}");
    assert!(lines[4].starts_with("rapid ") && lines[4].ends_with("6.5"), "{text}");
    assert!(!text.contains("Jain"), "one flow has nobody to be fair to:\n{text}");
    assert!(lines[4].chars().count() == lines[5].chars().count(), "numbers end where numbers end:\n{text}");
}

#[test]
fn few_flows_are_listed_and_many_are_not() {
    let text = table(&summary("", 1, &[finished("reno", 3, true)]));
    assert_eq!(text.lines().count(), 5 + 1 + 4 + 3, "{text}");
    let text = table(&summary("", 1, &[finished("reno", 50, true)]));
    assert_eq!(text.lines().count(), 5, "{text}");
}

#[test]
fn long_names_wrap() {
    let name = "thalweg, path.rate = 10 Gbps, path.rtt = 100 ms, path.buffer = 1 bdp, flow.packet = 1500 B";
    let text = table(&summary("", 1, &[finished(name, 1, true)]));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

/// Every exchange of connections that come and go is a row, and their figures are those of the rows.
#[test]
fn transfers_read_back() {
    let text = r#"
        duration = "5 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        traffic = [{ kind = "web", per-second = 20, name = "surfers", direction = "reverse", object = "30 kB", think = "200 ms" }]
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let runs = thalweg_lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t", 1, &runs).unwrap();
    let rows = rows(&dir.path().join("transfers.parquet"));
    let figures = json_of(&summary("t", 1, &runs))["runs"][0]["traffic"][0].clone();
    assert_eq!((&figures["name"], &figures["controller"]), (&json!("surfers"), &json!("reno")));
    assert_eq!(figures["transfers"], json!(rows.len()));
    let done = rows.iter().filter(|row| *field(row, "completion_s") != Field::Null).count();
    assert_eq!(figures["completed_transfers"], json!(done));
    assert!(done > 0 && done < rows.len(), "12 Mbps of objects do not fit into 10");
    assert!(figures["carried_mbps"][0].as_f64().unwrap() > 5.0 * figures["carried_mbps"][1].as_f64().unwrap());
    assert!(figures["completion_median_seconds"].as_f64() <= figures["completion_p99_seconds"].as_f64());
    assert_eq!(field(&rows[0], "traffic"), &Field::Str("surfers".into()));
    assert_eq!((field(&rows[0], "sent_bytes"), field(&rows[0], "rtt_ms")), (&Field::Long(400), &Field::Double(40.0)));
    let text = table(&summary("t", 1, &runs));
    assert!(text.lines().any(|line| line.starts_with("surfers ")), "{text}");
}

/// Each segment of a video is a transfer, and each session has its figures in the summary and in the table.
#[test]
fn videos_read_back() {
    let text = r#"
        duration = "20 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp" }
        [[traffic]]
        kind = "video"
        count = 2
        length = "10 s"
        controller = "reno"
        [[traffic]]
        kind = "web"
        per-second = 1
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let runs = thalweg_lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t", 1, &runs).unwrap();
    let rows = rows(&dir.path().join("transfers.parquet"));
    let segments = rows.iter().filter(|row| *field(row, "traffic") == Field::Str("video".into()));
    assert_eq!(segments.count(), 6, "two sessions of 10 s in segments of 4 s");
    let figures = json_of(&summary("t", 1, &runs))["runs"][0]["traffic"].clone();
    let videos = figures[0]["videos"].as_array().unwrap();
    assert_eq!((videos.len(), &figures[1]["videos"]), (2, &json!(null)), "web sessions play no video");
    for (i, video) in videos.iter().enumerate() {
        assert_eq!((&video["connection"], &video["segments"]), (&json!(i + 1), &json!(3)), "{video}");
        assert!(video["startup_seconds"].as_f64().unwrap() > 0.06 && video["stalled_share"] == 0.0, "{video}");
        assert!((1.0..=8.0).contains(&video["bitrate_mbps"].as_f64().unwrap()), "{video}");
    }
    let text = table(&summary("t", 1, &runs));
    assert!(text.lines().any(|line| line.starts_with("video 2 ")), "{text}");
}

/// What a router allows is a column of its link's samples, and null without one; transfers are in bins of their sizes.
#[test]
fn routers_and_completion_times_read_back() {
    let text = r#"
        duration = "5 s"
        path = { rate = "10 Mbps", rtt = "40 ms", buffer = "1 bdp", queue = "matching" }
        compare.controllers = ["rcp-ac", "reno"]
        traffic = [{ kind = "flows", per-second = 30, size = { exponential = "20 kB" } }]
    "#;
    let machine = scenario::Machine::this(None);
    let plan = scenario::read("test", text, &[], &machine).unwrap();
    let runs = thalweg_lab::runner::run(&plan, machine.jobs, &(), &|_| true).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t", 1, &runs).unwrap();
    for row in rows(&dir.path().join("links.parquet")) {
        let routed = *field(&row, "run") == Field::Str("rcp-ac".into());
        for column in ["allowed_mbps", "growth_kb"] {
            assert_eq!(*field(&row, column) != Field::Null, routed, "{row}");
        }
    }
    let figures = json_of(&summary("t", 1, &runs));
    let bins = rows(&dir.path().join("completion.parquet"));
    let mut next = bins.iter();
    for run in figures["runs"].as_array().unwrap() {
        let traffic = &run["traffic"][0];
        let listed = traffic["completion_by_size"].as_array().unwrap();
        let transfers: u64 = listed.iter().map(|bin| bin["transfers"].as_u64().unwrap()).sum();
        assert_eq!(json!(transfers), traffic["completed_transfers"]);
        for bin in listed {
            let row = next.next().unwrap();
            assert_eq!(*field(row, "run"), Field::Str(run["name"].as_str().unwrap().into()));
            assert_eq!(*field(row, "mean_s"), Field::Double(bin["mean_seconds"].as_f64().unwrap()));
            assert_eq!(*field(row, "ideal_s"), Field::Double(bin["ideal_seconds"].as_f64().unwrap()));
            let (mean, [from, to]) = (&bin["mean_bytes"], [0, 1].map(|i| bin["bytes"][i].as_f64().unwrap()));
            assert!((from..to).contains(&mean.as_f64().unwrap()), "{bin}");
        }
    }
    assert!(next.next().is_none());
}
