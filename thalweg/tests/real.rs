//! `thalweg run --real`: at low rates and for seconds, so that a busy machine can make the runs, and with bounds that
//! only a wrong run misses.

#![cfg(target_os = "linux")]

mod common;

use assert_cmd::cargo::cargo_bin;
use common::namespaces;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const SCENARIO: &str = "\
duration = \"3 s\"
path = { rate = \"20 Mbps\", rtt = \"40 ms\", buffer = \"1 bdp\" }
compare.controllers = [\"cubic\"]
";

/// Runs `thalweg run` in `home`, and returns its exit code, standard output and standard error.
fn run(home: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(cargo_bin!("thalweg")).current_dir(home).arg("run").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn home(scenario: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("path.toml"), scenario).unwrap();
    home
}

/// The runs of a scenario, simulated and real.
fn runs(scenario: &str, args: &[&str]) -> Vec<Value> {
    let home = home(scenario);
    let (code, out, said) = run(home.path(), &[&["path.toml", "--real", "--format", "json", "--quiet"], args].concat());
    assert_eq!(code, Some(0), "{said}");
    println!("{said}");
    serde_json::from_str::<Value>(&out).unwrap()["runs"].as_array().unwrap().clone()
}

/// Whether a run shows the path alone: it is simulated, or the host had the time to emulate the path.
fn shows_the_path(run: &Value) -> bool {
    run["emulator"].is_null() || run["emulator"]["kept_up"] == true
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// A log of each flow, of ours and of quinn's, and the keys with which their packets can be decrypted.
#[test]
fn real_flows_leave_logs_and_keys() {
    let home = home(SCENARIO);
    let mut command = Command::new(cargo_bin!("thalweg"));
    command.current_dir(home.path()).env("SSLKEYLOGFILE", home.path().join("keys"));
    command.args(["run", "path.toml", "--real", "--beside", "quinn-cubic", "--qlog", "logs", "--quiet"]);
    let output = command.args(["--set", "ecn=true"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let keys = fs::read_to_string(home.path().join("keys")).unwrap();
    let secrets = keys.lines().filter(|line| line.starts_with("CLIENT_TRAFFIC_SECRET_0 ")).count();
    assert_eq!(secrets, 2, "a connection each: {keys}");
    for (log, states, ecn) in [("cubic", true, true), ("cubic(real)", true, true), ("quinn-cubic(real)", false, false)]
    {
        let bytes = fs::read(home.path().join(format!("logs/{log}.sqlog"))).unwrap();
        let records: Vec<Value> =
            bytes.split(|byte| *byte == 0x1e).skip(1).map(|it| serde_json::from_slice(it).unwrap()).collect();
        let named = |name: &str| records.iter().filter(|record| record["name"] == name).collect::<Vec<_>>();
        let metrics = named("quic:recovery_metrics_updated");
        assert!((40..=302).contains(&metrics.len()), "{log}: {}", metrics.len());
        let rtt = metrics.iter().filter_map(|it| it["data"]["smoothed_rtt"].as_f64()).fold(f64::INFINITY, f64::min);
        assert!((40.0..200.0).contains(&rtt), "{log}: {rtt} ms");
        assert_eq!(!named("quic:congestion_state_updated").is_empty(), states, "{log}");
        let known: Vec<_> = named("quic:ecn_state_updated").iter().map(|it| it["data"]["new"].clone()).collect();
        assert_eq!(known.last().is_some_and(|last| last == "capable"), ecn, "{log}: {known:?}");
        let times = records.iter().filter_map(|record| record["time"].as_f64());
        assert!(times.fold(0.0, f64::max) < 4000.0, "{log}: the run takes 3 s");
    }
}

#[test]
fn a_real_run_has_the_results_of_a_simulated_one_beside_it() {
    let home = home(SCENARIO);
    let args = ["path.toml", "--real", "--beside", "quinn-cubic,quinn-bbr", "--out", "results"];
    let (code, out, said) = run(home.path(), &args);
    assert_eq!(code, Some(0), "{said}");
    println!("{out}");
    let read = |name| fs::read_to_string(home.path().join("results").join(name)).unwrap();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let runs = summary["runs"].as_array().unwrap();
    let names: Vec<_> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cubic", "cubic (real)", "quinn-cubic", "quinn-cubic (real)", "quinn-bbr", "quinn-bbr (real)"]);
    assert!(runs.iter().step_by(2).all(|run| run["emulator"].is_null()));
    for real in runs.iter().skip(1).step_by(2) {
        let goodput = number(&real["throughput_mbps"]);
        assert!((5.0..=20.0).contains(&goodput), "{real}");
        // The link counts all packets that it carries, with headers: the flow's, and its retransmissions.
        let carried = 20.0 * number(&real["links"][0]["utilization"]);
        assert!(goodput <= carried * 1.02, "{goodput} Mbps of {carried}");
        assert!(number(&real["flows"][0]["mean_rtt_ms"]) >= 40.0, "{real}");
        assert_eq!(real["duration_seconds"], 3.0);
        assert!(real["emulator"]["delivered_packets"][0].as_u64() > Some(1000));
    }
    let [pair, cubic, bbr] = &summary["agreement"].as_array().unwrap()[..] else { panic!("{}", summary["agreement"]) };
    assert_eq!((cubic["name"].as_str(), bbr["name"].as_str()), (Some("quinn-cubic"), Some("quinn-bbr")));
    assert_eq!(
        (pair["name"].as_str(), pair["throughput_mbps"][1].as_f64()),
        (Some("cubic"), runs[1]["throughput_mbps"].as_f64())
    );
    assert!(out.contains("agreement"), "{out}");
    assert!(read("report.html").contains("<h2>Real and simulated</h2>"));
}

#[test]
fn flows_with_round_trips_of_their_own_share_the_queue_and_start_and_end_as_they_should() {
    let scenario = SCENARIO.replace("40 ms", "20 ms")
        + "[[flow]]\ncontroller = \"rapid\"\nsize = \"500 kB\"\n\
           [[flow]]\ncontroller = \"cubic\"\nrtt = \"100 ms\"\nstart = \"1 s\"\nstop = \"2 s\"\n";
    let runs = runs(&scenario.replace("compare.controllers = [\"cubic\"]\n", ""), &[]);
    let [short, long] = [&runs[1]["flows"][0], &runs[1]["flows"][1]];
    println!("{short}\n{long}");
    assert!((0.2..3.0).contains(&number(&short["completion_seconds"])), "500 kB at 20 Mbps take 0.2 s: {short}");
    assert!(number(&short["mean_rtt_ms"]) >= 20.0 && number(&long["mean_rtt_ms"]) >= 100.0);
    // It sent for one of the 3 s that are measured.
    let megabits = 3.0 * number(&long["throughput_mbps"]);
    assert!((0.5..=22.0).contains(&megabits), "{long}");
}

/// Packets that repair a loss must not be dropped as forged ones.
#[test]
fn no_packets_are_lost_but_those_that_the_path_loses() {
    for run in
        &runs(&SCENARIO.replace("\"cubic\"", "\"rapid\", \"thalweg\", \"rrrp\""), &["--set", "path.packet-error=0.003"])
    {
        let lost = number(&run["links"][0]["errors"]) + number(&run["links"][0]["drops"]);
        let resent = number(&run["flows"][0]["retransmitted_packets"]);
        println!("{}: {} Mbps, {lost} lost, {resent} resent", run["name"], run["throughput_mbps"]);
        assert!(number(&run["throughput_mbps"]) > 0.5, "{run}");
        assert!(resent <= 1.5 * lost + 200.0, "{run}");
    }
}

#[test]
fn the_kernels_tcp_runs_beside() {
    if !namespaces() {
        return;
    }
    let runs = runs(SCENARIO, &["--beside", "kernel-cubic"]);
    let kernel = &runs[2];
    assert_eq!(kernel["name"], "kernel-cubic (real)");
    let goodput = number(&kernel["throughput_mbps"]);
    assert!((5.0..=20.0).contains(&goodput), "{kernel}");
    assert!(number(&kernel["links"][0]["mean_queue_packets"]) > 0.0);
}

/// Real queues mark as simulated ones do, and nothing is lost, whoever sends.
#[test]
fn queues_mark_packets_in_place_of_dropping_them() {
    let kernel = namespaces() && fs::read_to_string("/proc/sys/net/ipv4/tcp_ecn").unwrap().trim() != "0";
    let beside = if kernel { "quinn-cubic,quinn-bbr,kernel-cubic" } else { "quinn-cubic,quinn-bbr" };
    let scenario = SCENARIO.replace("1 bdp", "1 MB").replace("3 s", "5 s");
    for queue in ["codel", "fq-codel"] {
        let set = format!("path.queue={queue}");
        let mut simulated = None;
        for run in &runs(&scenario, &["--set", &set, "--set", "ecn=true", "--beside", beside]) {
            let (link, name) = (&run["links"][0], run["name"].as_str().unwrap());
            let [marks, drops, waiting] = ["marks", "drops", "mean_queue_packets"].map(|key| number(&link[key]));
            let resent = number(&run["flows"][0]["retransmitted_packets"]);
            let mbps = number(&run["throughput_mbps"]);
            println!("{queue}, {name}: {mbps} Mbps, {waiting} wait, {marks} marked, {drops} dropped, {resent} resent");
            assert!((5.0..=20.0).contains(&mbps), "{queue}, {name}: {mbps} Mbps");
            if name.contains("quinn-bbr") {
                assert!(marks == 0.0, "{queue}: quinn's BBR does not react to marks: {link}");
                continue;
            }
            assert!(marks > 0.0, "{queue}, {name}: {link}");
            if !shows_the_path(run) {
                continue;
            }
            assert!(drops == 0.0 && resent == 0.0, "{queue}, {name}: {link}, {resent}");
            if name.starts_with("cubic") {
                let factor = waiting / *simulated.get_or_insert(waiting);
                assert!((0.33..=3.0).contains(&factor), "{queue}: {factor} times the simulated queue");
            }
        }
        for run in &runs(&scenario, &["--set", &set]) {
            assert!(number(&run["links"][0]["marks"]) == 0.0, "{queue}, {}: {}", run["name"], run["links"][0]);
        }
    }
}

/// Prague's packets have a queue of their own at a DualPI2, which is short, and CUBIC's packets wait for longer.
#[test]
fn prague_and_cubic_share_a_dual_queue() {
    let scenario = "duration = \"10 s\"\nmeasure = [\"4 s\", \"10 s\"]\n\
                    path = { rate = \"40 Mbps\", rtt = \"20 ms\", buffer = \"1 MB\", queue = \"dualpi2\" }\n\
                    [[flow]]\ncontroller = \"prague\"\n[[flow]]\ncontroller = \"cubic\"\necn = true\n";
    for run in &runs(scenario, &[]) {
        let flow = |i: usize| {
            let flow = &run["flows"][i];
            ["throughput_mbps", "mean_rtt_ms", "retransmitted_packets"].map(|key| number(&flow[key]))
        };
        let ([prague, prague_rtt, resent], [cubic, cubic_rtt, also_resent]) = (flow(0), flow(1));
        println!(
            "{}: prague {prague} Mbps at {prague_rtt} ms, cubic {cubic} Mbps at {cubic_rtt} ms, {resent} and \
             {also_resent} sent again",
            run["name"]
        );
        assert!(number(&run["links"][0]["marks"]) > 100.0 && prague + cubic > 5.0, "{run}");
        if shows_the_path(run) {
            assert!(prague + cubic > 25.0 && prague > 6.0 && cubic > 6.0, "{run}");
            assert!(cubic_rtt > prague_rtt + 4.0, "the target of the classic queue is 15 ms: {run}");
            assert!(resent + also_resent == 0.0, "{run}");
        }
    }
}

/// Faster paths than the host can carry are tried, and the results say how far it could.
#[test]
fn a_run_says_how_much_of_the_host_it_took() {
    let home = home(SCENARIO);
    let args = ["path.toml", "--real", "--set", "path.rate=10Gbps", "--set", "duration=1 s", "--out", "results"];
    let (code, out, said) = run(home.path(), &args);
    assert_eq!(code, Some(0), "{said}");
    let summary = fs::read_to_string(home.path().join("results/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let emulator = &summary["runs"][1]["emulator"];
    assert!(number(&emulator["core_share"]) > 0.0 && number(&emulator["host_share"]) > 0.0, "{emulator}");
    let [kept_up, full] = [&emulator["kept_up"], &emulator["host_full"]].map(|value| value.as_bool().unwrap());
    let verdict = if !kept_up {
        "LATE"
    } else if full {
        "HOST FULL"
    } else {
        "kept up"
    };
    assert!(out.trim_end().ends_with(verdict), "{verdict}: {out}");
    assert_eq!(summary["agreement"][0]["trusted"], kept_up && !full);
    assert_eq!(said.contains("THE EMULATOR DID NOT KEEP UP"), !kept_up, "{said}");
    assert_eq!(said.contains("THE HOST HAD NO TIME LEFT"), full, "{said}");
}

/// Before anything is delivered there is nothing to compare.
#[test]
fn a_run_of_a_millisecond_has_no_verdict() {
    let home = home(SCENARIO);
    let (code, out, said) = run(home.path(), &["path.toml", "--real", "--set", "duration=1 ms"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!out.contains("NaN") && !out.contains("PASS"), "{out}");
}

#[test]
fn what_cannot_run_in_real_time_is_refused_in_a_line() {
    let home = home(SCENARIO);
    let real = |args: &[&str]| run(home.path(), &[&["path.toml", "--real"], args].concat());
    for (args, said) in [
        (&["--set", "traffic=[{kind=\"cbr\",rate=\"1 Mbps\"}]"][..], "path.toml: traffic: is not played in real runs"),
        (&["--set", "jitter=1 ms"], "path.toml: flow 1: jitter: is the hosts' own in real runs; remove it"),
        (&["--set", "flow=[{count=65}]"], "path.toml: flow: there are 65; real runs have at most 64"),
        (
            &["--set", "flow=[{ecn=true},{ecn=false}]", "--beside", "quinn-cubic"],
            "path.toml: flow 2: ecn: is one setting for all flows of quinn-cubic; write the same",
        ),
        (&["--set", "ecn=true", "--set", "flow=[{controller=\"bbr\",ecn=true}]"], "`bbr` does not react to marks"),
        (
            &["--set", "flow=[{},{controller=\"quinn-cubic\"}]"],
            "path.toml: flow 2: controller: is quinn-cubic: quinn carries all flows of a real run, or none; write the",
        ),
        (&["--beside", "quinn-vegas"], "there are quinn-cubic, quinn-bbr, quinn-newreno, kernel-"),
        (&["--beside", "cubic"], "there are quinn-cubic"),
    ] {
        let (code, _, error) = real(args);
        assert_eq!(code, Some(2), "{args:?}: {error}");
        assert!(error.contains(said) && error.lines().count() == 1, "{args:?}: {error}");
    }
    let (code, _, error) = run(home.path(), &["path.toml", "--beside", "quinn-bbr"]);
    assert!(code == Some(2) && error.contains("--real"), "{error}");
}
