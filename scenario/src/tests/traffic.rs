//! `[[traffic]]`.

use super::*;
use control::{Bytes, Duration};
use experiment::Pattern;
use experiment::traffic::Connection;

const TRAFFIC: &str = r#"duration = "60 s"

[path]
rate = "100 Mbps"
rtt = "100 ms"
buffer = "1 bdp"
"#;

#[test]
fn each_kind_of_traffic_has_keys_of_its_own() {
    let traffic = |table: &str| runs(DUMBBELL, &[&format!("traffic=[{{ {table} }}]")])[0].experiment.cross[0].clone();
    assert_eq!(traffic(r#"kind = "poisson", rate = "2 Mbps""#).pattern, Pattern::Poisson);
    let onoff = traffic(r#"kind = "onoff", rate = "8 Mbps", on = "100 ms", off = "300 ms""#);
    assert_eq!((onoff.pattern, onoff.mean_rate().as_mbps()), {
        let (on, off) = (Duration::from_millis(100), Duration::from_millis(300));
        (Pattern::OnOff { on, off, shape: 1.5 }, 2.0)
    });
    for (table, said) in [
        (r#"rate = "1 Mbps""#, "kind: is missing; write kind = \"cbr\"\n"),
        (r#"kind = 1, rate = "1 Mbps""#, "kind: is not a string in quotes; write kind = \"cbr\"\n"),
        (r#"kind = "poison", rate = "1 Mbps""#, "kind: there is no choice `poison`; did you mean `poisson`?\n"),
        (r#"kind = "poisson""#, "rate: is missing; write rate = \"1 Gbps\"\n"),
        (r#"kind = "cbr", rate = "1 Mbps", on = "1 s""#, "on: there is no key `on`; there is `kind`, `rate`, "),
        (r#"kind = "onoff", rate = "1 Mbps", on = "1 s""#, "off: is missing; write off = \"500 ms\"\n"),
        (r#"kind = "onoff", rate = "1 Mbps", on = "1 us", off = "1 s""#, "on: 1 us is too short for a packet"),
        (r#"kind = "onoff", rate = "1 Mbps", on = "1 s", off = "1 s", shape = 1"#, "shape: 1 is not a shape"),
        (r#"kind = "poisson", rate = "1 Mbps", stop = "0 s""#, "stop: 0 ps is not after its start"),
    ] {
        let lines = errors(DUMBBELL, &[&format!("traffic=[{{ {table} }}]")]);
        assert!(lines.contains(&format!("traffic[0].{said}")), "{table}: {lines}");
    }
}

#[test]
fn connections_come_and_go() {
    let workload = |table: &str| {
        let run = runs(TRAFFIC, &[&format!("traffic=[{{ {table} }}]")]).remove(0);
        (run.controller, run.experiment.flows.len(), run.experiment.workloads.into_iter().next().unwrap())
    };
    let flows = r#"kind = "flows", size = "30 kB", controller = "bic", load = "50 Mbps""#;
    let (controller, n, flows) = workload(flows);
    assert_eq!((controller.as_str(), n, flows.name.as_str(), flows.sends), ("bic", 0, "flows", [true, false]));
    assert!(flows.handshake && !flows.route.reverse && flows.header == Bytes(0));
    let (controller, _, web) = workload(r#"kind = "web", per-second = 3, name = "surfers", handshake = false"#);
    assert_eq!((controller.as_str(), web.name.as_str(), web.sends), ("reno", "surfers", [true, true]));
    // The direction of `web` is that of the objects.
    assert!(!web.handshake && web.route.reverse && web.header == Bytes(40));
    let (_, _, tmix) = workload(r#"kind = "tmix", load = "70 Mbps", direction = "reverse", stop = "10 s""#);
    assert!(!tmix.route.reverse && tmix.stop.as_secs() == 10.0);

    assert!(!tmix.idle_restart && workload(r#"kind = "tmix", load = "7 Mbps", idle-restart = true"#).2.idle_restart);
    let (_, n, video) = workload(r#"kind = "video", controller = "bbr", count = 3"#);
    assert_eq!((n, video.sends, video.header), (0, [true, true], Bytes(40)));
    let mut starts = Vec::new();
    let (mut arrivals, mut session) = (video.population.arrivals().unwrap(), Connection::default());
    while arrivals.next(&mut session).unwrap() {
        starts.push((session.start.as_secs(), session.player.is_some()));
    }
    assert_eq!(starts, [(0.0, true); 3], "all begin at `start`");

    // Two workloads of one kind have different names. [compare] controls `flows` that name no controller, and needs no
    // [[flow]].
    let two = r#"traffic=[{ kind = "flows", size = "1 kB", per-second = 1 }, { kind = "flows", size = "1 MB", per-second = 1 }]"#;
    let runs = runs(TRAFFIC, &[two, r#"compare.controllers=["bic", "reno"]"#]);
    let names: Vec<&str> = runs[0].experiment.workloads.iter().map(|w| w.name.as_str()).collect();
    assert_eq!((names, runs[0].experiment.flows.len()), (vec!["flows", "flows 2"], 0));
    assert_eq!(runs[1].experiment.workloads[0].controller, "reno");
}

#[test]
fn compare_controls_video_that_names_no_controller() {
    let runs = runs(TRAFFIC, &[r#"traffic=[{ kind = "video" }]"#, r#"compare.controllers=["bic", "reno"]"#]);
    let controllers: Vec<&str> = runs.iter().map(|run| run.experiment.workloads[0].controller.as_str()).collect();
    assert_eq!((controllers, runs[0].experiment.flows.len()), (vec!["bic", "reno"], 0));
}

/// Of each mistake: the table with the mistake, and the message after `traffic[0].`.
#[test]
fn mistakes_in_connections_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().join("scenario.toml").display().to_string();
    std::fs::write(folder.path().join("bad.cvec"), "SEQ 5 1 1 1\nr 100\n> -5\n").unwrap();
    std::fs::write(folder.path().join("empty.cvec"), "").unwrap();
    std::fs::write(folder.path().join("good.cvec"), "SEQ 5 1 1 1\nr 100\n> 5\n").unwrap();
    std::fs::write(folder.path().join("bad.cdf"), "100 0.5\n50 1\n").unwrap();
    std::fs::write(folder.path().join("good.cdf"), "100 0.5\n500 1\n").unwrap();
    let result = |table: &str| {
        let sets: Vec<Set> = vec![format!("traffic=[{{ {table} }}]").parse().unwrap()];
        read(&name, TRAFFIC, &sets, &MACHINE)
    };
    for (table, said) in [
        (r#"kind = "tmix""#, "file: is missing; write file = \"mix.cvec\", or load"),
        (r#"kind = "tmix", file = "none.cvec""#, "file: none.cvec cannot be read (no such file or directory); check"),
        (r#"kind = "tmix", file = ".""#, "file: . cannot be read (it is not a regular file); check"),
        (r#"kind = "tmix", file = "bad.cvec""#, "file: bad.cvec:3: `> -5` has `-5` in place of a whole number"),
        (r#"kind = "tmix", file = "empty.cvec""#, "file: empty.cvec:1: the file has no connection; name"),
        (r#"kind = "tmix", file = "good.cvec", load = "1 Mbps""#, "load: is given together with `file`"),
        (r#"kind = "tmix", load = "0 Mbps""#, "load: is zero"),
        (r#"kind = "tmix", load = "1 Mbps", packet = "40 B""#, "packet: 40 B is not more than its header"),
        (r#"kind = "flows", per-second = 1"#, "controller: is missing; write controller = \"reno\""),
        (r#"kind = "flows", per-second = 1, controller = "reno""#, "size: is missing; write size = \"30 kB\""),
        (r#"kind = "flows", size = "1 kB", controller = "reno""#, "load: is missing; write load = \"90 Mbps\""),
        (r#"kind = "flows", size = "0 kB", per-second = 1, controller = "reno""#, "size: a mean size of zero"),
        (
            r#"kind = "flows", size = 7, per-second = 1, controller = "reno""#,
            "size: integer `7` does not fit here; write a size",
        ),
        (
            r#"kind = "flows", size = { pareto = "1 kB" }, per-second = 1, controller = "reno""#,
            "size: this is not a distribution",
        ),
        (
            r#"kind = "flows", size = { pareto = "1 kB", shape = 1.0 }, per-second = 1, controller = "reno""#,
            "size: 1 is not a shape of a Pareto",
        ),
        (
            r#"kind = "flows", size = { file = "bad.cdf" }, per-second = 1, controller = "reno""#,
            "size: bad.cdf:2: has a smaller size",
        ),
        (r#"kind = "flows", size = "1 kB", per-second = -1, controller = "reno""#, "per-second: makes -1 connections"),
        (
            r#"kind = "flows", size = "1 kB", per-second = 1, load = "1 bps", controller = "reno""#,
            "load: is given together with `per-second`",
        ),
        (
            r#"kind = "flows", size = "1 kB", per-second = 1, controller = "rno""#,
            "controller: there is no controller `rno`",
        ),
        (r#"kind = "flows", size = "1 kB", per-second = 1, rtt = "0 s", controller = "reno""#, "rtt: is zero"),
        (r#"kind = "flows", size = "1 kB", per-second = 1e8, controller = "reno""#, "per-second: this needs about"),
        (r#"kind = "web", per-second = 1, objects = 0.5"#, "objects: 0.5 is not a mean number of objects"),
        (r#"kind = "web", per-second = 1, think = 5"#, "think: integer `5` does not fit here"),
        (r#"kind = "web", per-second = 1, name = " ""#, "name: is empty"),
        (r#"kind = "video""#, "controller: is missing; write controller = \"reno\""),
        (r#"kind = "video", controller = "reno", load = "1 Mbps""#, "load: there is no key `load`"),
        (r#"kind = "video", controller = "reno", segment = "0 s""#, "segment: 0 ps is not within 10 ms and 3600 s"),
        (r#"kind = "video", controller = "reno", buffer = "0 s""#, "buffer: is zero; write one like \"30 s\""),
        (r#"kind = "video", controller = "reno", length = "0 s""#, "length: is zero"),
        (r#"kind = "video", controller = "reno", bitrates = []"#, "bitrates: is empty; write one or more"),
        (r#"kind = "video", controller = "reno", bitrates = ["0 bps"]"#, "bitrates: has a bitrate of zero"),
        (
            r#"kind = "video", controller = "reno", bitrates = ["2 Mbps", "1 Mbps"]"#,
            "bitrates: does not rise from the first to the last",
        ),
        (r#"kind = "video", controller = "reno", rule = "bufer""#, "rule: there is no choice `bufer`"),
        (r#"kind = "video", controller = "reno", count = 0"#, "count: is zero"),
        (r#"kind = "video", controller = "reno", per-second = 0"#, "per-second: makes 0 connections per second"),
        (r#"kind = "frames", controller = "reno""#, "bitrate: is missing; write bitrate = "),
        (r#"kind = "frames", controller = "reno", bitrate = "0 bps""#, "bitrate: 0 bps is not within 1 bps and"),
        (r#"kind = "frames", controller = "reno", bitrate = "1 Mbps", fps = 0"#, "fps: 0 is not a number of frames"),
        (r#"kind = "frames", controller = "reno", bitrate = "1 Mbps", length = "0 s""#, "length: is zero"),
        (r#"kind = "web", per-second = 1, idle-restart = 1"#, "idle-restart: integer `1` does not fit here"),
        (r#"kind = "web", per-second = 1, sise = "1 kB""#, "sise: there is no key `sise`"),
    ] {
        let problems = result(table).expect_err(table);
        let lines: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
        assert!(lines.contains(&format!(": --set traffic[0].{said}")), "{table}: {lines}");
        assert!(
            problems.iter().all(|problem| problem.to_string().contains("; ") || problem.to_string().ends_with('?')),
            "{lines}"
        );
    }
    for table in [
        r#"kind = "tmix", file = "good.cvec""#,
        r#"kind = "flows", size = { file = "good.cdf" }, load = "1 Mbps", controller = "reno""#,
        r#"kind = "flows", size = { lognormal = "9 kB", sigma = 2 }, load = "1 Mbps", controller = "reno""#,
    ] {
        result(table).unwrap();
    }
}

#[test]
fn traffic_sends_at_most_one_packet_per_nanosecond() {
    let lines = errors(DUMBBELL, &["traffic=[{ kind = \"cbr\", rate = \"20 Tbps\", packet = \"1 B\" }]"]);
    let said = "test.toml: --set traffic[0].rate: makes more than one packet per nanosecond; write less, or a larger traffic.packet\n";
    assert_eq!(lines, said);
}
