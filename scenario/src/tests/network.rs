//! Links, routes and queues.

use super::*;
use ::path::queue::red;
use ::path::{Buffer, Change, Ecn, Errors, GilbertElliott, Jitter, Reorder, Shaper};
use control::{Bytes, Duration, Rate, Time};
use serde_json::json;

#[test]
fn a_dumbbell_needs_six_lines() {
    let plan = plan_of(DUMBBELL, &[]).unwrap();
    assert_eq!((plan.title.as_str(), plan.seed), ("test", 1));
    let run = &plan.runs[0];
    assert_eq!((run.name().as_str(), run.controller.as_str()), ("reno", "reno"));
    let experiment = &run.experiment;
    assert_eq!(experiment.duration, Duration::from_secs(60.0));
    assert_eq!(experiment.sample, Duration::from_millis(50));
    assert_eq!(experiment.measure, (Time::ZERO, Time(60_000_000_000_000)));
    let link = &experiment.links[0];
    assert!(link.name == "bottleneck" && link.reverse.is_none());
    let link = &link.forward;
    assert_eq!(link.delay, Duration::from_millis(50));
    assert_eq!((link.rate, link.buffer), (Rate::from_gbps(1.0), Buffer::Packets(12_500)));
    let flow = &experiment.flows[0];
    assert_eq!((flow.rtt, flow.packet, flow.ack_size), (Duration::from_millis(100), Bytes(1000), Bytes(40)));
    assert_eq!((flow.access, flow.stop, flow.size, flow.delayed_ack), (None, None, None, None));
    assert_eq!((flow.coalesce, flow.jitter, flow.quantum), (None, None, None));
    assert_eq!((&flow.route.links[..], flow.route.reverse), (&[0][..], false));
}

#[test]
fn ecn_is_the_flows_or_else_the_scenarios_where_the_controller_reacts_to_marks() {
    let ecn = |key: &str, set: &[&str]| one(&(key.to_string() + DUMBBELL), set).flows.remove(0).ecn;
    assert_eq!(ecn("", &[]), Ecn::NotEct);
    assert_eq!(ecn("ecn = true\n", &[]), Ecn::Ect0);
    assert_eq!(ecn("ecn = true\n", &["flow[0].ecn=false"]), Ecn::NotEct);
    assert_eq!(ecn("", &["flow[0].ecn=true"]), Ecn::Ect0);
    assert_eq!(ecn("ecn = true\n", &["flow[0].controller=bbr"]), Ecn::NotEct);
}

#[test]
fn the_noise_of_hosts_is_the_flows_or_else_the_scenarios() {
    let text = "coalesce = \"50 us\"\njitter = \"10 us\"\nquantum = \"20 us\"\n".to_string()
        + DUMBBELL
        + "coalesce = \"200 us\"\n";
    let flow = one(&text, &[]).flows.remove(0);
    let found = [flow.coalesce, flow.jitter, flow.quantum];
    assert_eq!(found, [200, 10, 20].map(|us| Some(Duration::from_micros(us))));
    let flow = one(&text, &["flow[0].quantum=70 us"]).flows.remove(0);
    assert_eq!(flow.quantum, Some(Duration::from_micros(70)));
}

#[test]
fn routes_name_links_and_the_bottleneck() {
    let experiment = one(TWO_LINKS, &["flow[0].direction=reverse"]);
    assert_eq!((&experiment.flows[0].route.links[..], experiment.flows[0].route.reverse), (&[0, 1][..], true));
    assert_eq!(experiment.flows[0].rtt, Duration::from_millis(60));
    assert_eq!(experiment.links[1].forward.buffer, Buffer::Packets(15_000));

    let both = "path = { rate = \"1 Gbps\", rtt = \"100 ms\", buffer = \"9 MB\" }\n".to_string() + TWO_LINKS;
    let experiment = one(&both, &["flow[0].route=[\"bottleneck\", \"b\"]"]);
    assert_eq!(experiment.flows[0].route.links, [0, 2]);
    assert_eq!(experiment.links[0].forward.delay, Duration::from_millis(30), "what b leaves of the RTT");
    assert_eq!(experiment.links[0].forward.buffer, Buffer::Bytes(Bytes(9_000_000)));
}

#[test]
fn a_queue_is_a_name_or_a_table_and_its_defaults_are_the_literatures() {
    let queue = |set: &str| one(DUMBBELL, &[&format!("path.queue={set}")]).links[0].forward.queue.clone();
    assert!(one(DUMBBELL, &[]).links[0].forward.queue.is_drop_tail());
    assert_eq!(queue("codel").parameters, json!({ "target": "5 ms", "interval": "100 ms" }));
    assert_eq!(queue("fq-codel"), queue("{ kind = \"fq-codel\", queues = 1024, interval = \"100 ms\" }"));
    assert_eq!(queue("red").packet, Bytes(1000));
    let given = queue("{ kind = \"ared\", min = 10, bottom = 0.001, gentle = false }").parameters;
    let red = red::Parameters { min: Some(10.0), gentle: false, ..Default::default() };
    let expected = red::AdaptiveParameters { red, bottom: 0.001, ..Default::default() };
    assert_eq!(serde_json::from_value::<red::AdaptiveParameters>(given).unwrap(), expected);
    let routed = one(DUMBBELL, &["path.queue={ kind = \"rcp-ac\", gamma = 0.05 }"]).links[0].forward.clone();
    let router = routed.router.expect("a router");
    assert!(routed.queue.is_drop_tail() && router.protocol == "rcp-ac", "{router:?}");
    assert_eq!(router.parameters["gamma"], 0.05);
    assert_eq!(Buffer::Bytes(router.buffer), Buffer::Bytes(Bytes(12_500_000)), "{:?}", routed.buffer);
    let matching = |controller: &str| {
        let link =
            one(DUMBBELL, &["path.queue=matching", &format!("flow[0].controller={controller}")]).links[0].clone();
        link.forward.router.map(|router| router.protocol)
    };
    assert_eq!((matching("reno"), matching("xcp").as_deref()), (None, Some("xcp")));
    let two = one(TWO_LINKS, &["link[1].queue=codel"]);
    assert!(two.links[0].forward.queue.is_drop_tail());
    assert_eq!(two.links[1].forward.queue, queue("codel"));
}

#[test]
fn links_change_and_lose_corrupt_reorder_and_duplicate_packets() {
    let text = r#"
        duration = "60 s"
        [path]
        rate = "10 Mbps"
        rtt = "100 ms"
        buffer = "1 bdp"
        packet-error = { p = 0.001, r = 0.1 }
        duplicate = 0.01
        corrupt = 0.001
        [[path.change]]
        at = "10 s"
        rate = "100 Mbps"
        [[path.change]]
        at = "20 s"
        delay = "10 ms"
        [[link]]
        name = "radio"
        rate = "1 Gbps"
        delay = "1 ms"
        buffer = "100 packets"
        packet-error = 1e-6
        aggregate = "4 ms"
        jitter = { mean = "5 ms", correlation = "50 ms" }
        reorder = { probability = 0.02, delay = "3 ms" }
        [[flow]]
        controller = "reno"
        "#;
    let links = one(text, &[]).links.into_iter().map(|link| link.forward).collect::<Vec<_>>();
    let bursts = GilbertElliott { p: 0.001, r: 0.1, good: 0.0, bad: 1.0 };
    assert_eq!((links[0].errors, links[0].duplicate), (Errors::Bursts(bursts), 0.01));
    assert_eq!((links[1].errors, links[1].duplicate), (Errors::Uniform(1e-6), 0.0));
    assert_eq!((links[0].corrupt, links[1].corrupt), (0.001, 0.0));
    assert_eq!((links[0].aggregate, links[1].aggregate), (None, Some(Duration::from_millis(4))));
    let jitter = Jitter { mean: Duration::from_millis(5), correlation: Duration::from_millis(50) };
    assert_eq!((links[0].jitter, links[1].jitter), (None, Some(jitter)));
    let reorder = Reorder { probability: 0.02, delay: Duration::from_millis(3) };
    assert_eq!((links[0].reorder, links[1].reorder), (None, Some(reorder)));
    let changes = [
        Change { at: Time(10_000_000_000_000), rate: Some(Rate::from_mbps(100.0)), delay: None },
        Change { at: Time(20_000_000_000_000), rate: None, delay: Some(Duration::from_millis(10)) },
    ];
    assert_eq!(links[0].changes, changes);
    let rate = |s: u64| links[0].capacity_at(Time(s * 1_000_000_000_000)).as_mbps();
    assert_eq!((rate(9), rate(10), rate(30)), (10.0, 100.0, 100.0));
    // The estimate of memory goes by the fastest rate that the link ever has.
    assert!(errors(text, &["path.change[0].rate=900 Tbps"]).contains("path.rate: this needs about"));
}

/// The link's rate is the trace's mean rate: 4 opportunities of 1504 bytes in 10 ms.
#[test]
fn a_trace_is_read_from_the_scenarios_folder() {
    let folder = std::env::temp_dir().join(format!("thalweg-beside-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cell.trace"), "1\n5\n5\n10\n").unwrap();
    std::fs::write(folder.join("bad.trace"), "1\n5\n2\n").unwrap();
    let file = folder.join("scenario.toml");
    std::fs::write(&file, DUMBBELL.replace("rate = \"1 Gbps\"", "trace = \"cell.trace\"")).unwrap();
    let load = |sets: &[&str]| {
        let sets: Vec<Set> = sets.iter().map(|set| set.parse().unwrap()).collect();
        load(&file, &sets, &MACHINE)
    };
    let plan = load(&[]).unwrap();
    let wrong = load(&["path.trace=bad.trace"]).unwrap_err()[0].to_string();
    let both = load(&["path.change=[{ at = \"1 s\", rate = \"1 Mbps\" }]"]).unwrap_err()[0].to_string();
    std::fs::remove_dir_all(&folder).unwrap();
    let link = &plan.runs[0].experiment.links[0].forward;
    assert!((link.rate.as_mbps() - 4.8128).abs() < 1e-9 && link.trace.is_some(), "{}", link.rate);
    assert_eq!(link.buffer, Buffer::Packets(60)); // 4.8128 Mbps x 100 ms
    assert!(wrong.contains("bad.trace:3: 2 ms is before the line above;"), "{wrong}");
    assert!(
        both.contains("path.change[0].rate: the link has a trace in place of a rate; remove the change of the rate"),
        "{both}"
    );
}

#[test]
fn the_reverse_direction_has_what_it_is_given_and_the_rest_from_the_forward_one() {
    let text = r#"
        duration = "60 s"
        [path]
        rate = "100 Mbps"
        rtt = "40 ms"
        buffer = "1 bdp"
        queue = "red"
        packet-error = 1e-6
        aggregate = "4 ms"
        jitter = { mean = "5 ms", correlation = "50 ms" }
        corrupt = 0.001
        change = [{ at = "10 s", rate = "50 Mbps" }, { at = "20 s", rate = "70 Mbps", delay = "9 ms" }]
        [path.reverse]
        rate = "10 Mbps"
        packet-error = 0.05
        aggregate = "0 s"
        jitter = { mean = "0 s", correlation = "50 ms" }
        duplicate = 0.1
        [[flow]]
        controller = "reno"
        "#;
    let link = one(text, &[]).links.remove(0);
    let (forward, reverse) = (&link.forward, link.direction(true));
    assert_eq!((forward.rate, reverse.rate), (Rate::from_mbps(100.0), Rate::from_mbps(10.0)));
    let bdps = [Buffer::Packets(500), Buffer::Packets(50)];
    assert_eq!([forward.buffer, reverse.buffer], bdps, "of its own rate");
    assert_eq!((&forward.queue, forward.delay), (&reverse.queue, reverse.delay));
    assert_eq!((forward.errors, reverse.errors), (Errors::Uniform(1e-6), Errors::Uniform(0.05)));
    assert_eq!((forward.aggregate, reverse.aggregate), (Some(Duration::from_millis(4)), None));
    assert!(forward.jitter.is_some() && reverse.jitter.is_none());
    assert_eq!([forward.corrupt, reverse.corrupt, forward.duplicate, reverse.duplicate], [0.001, 0.001, 0.0, 0.1]);
    let delay = Change { at: Time(20_000_000_000_000), rate: None, delay: Some(Duration::from_millis(9)) };
    assert_eq!((forward.changes.len(), &reverse.changes[..]), (2, &[delay][..]), "no changes of a rate of its own");
    assert_eq!(one(text, &["path.reverse.delay=5 ms"]).links[0].direction(true).changes, []);
    assert_eq!(one(text, &["path.reverse.change=[]"]).links[0].direction(true).changes, []);
    let empty = one(DUMBBELL, &["path.reverse={}"]).links.remove(0);
    assert_eq!(format!("{:?}", empty.forward), format!("{:?}", empty.direction(true)));
    // The estimate of memory counts either direction's buffer.
    let lines = errors(text, &["path.reverse.buffer=100 TB"]);
    assert!(lines.starts_with("test.toml: --set path.reverse.buffer: this needs about 12800 GB"), "{lines}");
}

#[test]
fn the_delays_of_both_directions_make_up_the_round_trip() {
    let delays = |sets: &[&str]| {
        let link = one(DUMBBELL, sets).links.remove(0);
        [link.forward.delay, link.direction(true).delay].map(|delay| delay.as_millis())
    };
    assert_eq!(delays(&["path.reverse.rate=1 Mbps"]), [50.0, 50.0]);
    assert_eq!(delays(&["path.reverse.delay=70 ms"]), [30.0, 70.0], "what the reverse direction leaves of the RTT");
    assert_eq!(delays(&["path.delay=10 ms"]), [10.0, 10.0]);
    assert_eq!(delays(&["path.delay=10 ms", "path.reverse.delay=70 ms"]), [10.0, 70.0]);
    let lines = errors(DUMBBELL, &["path.reverse.delay=101 ms"]);
    assert!(
        lines.contains("100 ms is less than its links' delays, there and back; write at least \"101 ms\""),
        "{lines}"
    );
    let two = one(TWO_LINKS, &["link[0].reverse.delay=15 ms"]);
    assert_eq!(two.flows[0].rtt, Duration::from_millis(65), "10 + 15 + 20 + 20");
}

/// A buffer of one bdp, RED's thresholds, a router's capacity and shares of the load go by what passes in the long run.
#[test]
fn a_shapers_rate_is_the_links_capacity() {
    let shaped = |queue: &str| {
        let sets = ["path.shaper={ rate = \"50 Mbps\", burst = \"1 MB\" }", "path.reverse.rate=10 Mbps", queue];
        one(DUMBBELL, &sets).links.remove(0)
    };
    let link = shaped("path.queue=codel");
    let shaper = Some(Shaper { rate: Rate::from_mbps(50.0), burst: Bytes(1_000_000) });
    assert_eq!((link.forward.shaper, link.direction(true).shaper), (shaper, shaper));
    assert_eq!((link.forward.rate, link.forward.capacity()), (Rate::from_gbps(1.0), Rate::from_mbps(50.0)));
    assert_eq!(link.direction(true).capacity(), Rate::from_mbps(10.0), "below the shaper's");
    assert_eq!([link.forward.buffer, link.direction(true).buffer], [625, 125].map(Buffer::Packets));
    let router = shaped("path.queue=rcp-ac").forward.router.unwrap();
    assert_eq!(router.buffer, Bytes(625_000));
}

#[test]
fn a_load_is_a_share_of_the_rate_in_its_own_direction() {
    let text = format!("{DUMBBELL}[[traffic]]\nkind = \"tmix\"\nload = \"20 %\"\n");
    let load = |direction: &str| {
        let sets = ["path.reverse.rate=10 Mbps".to_string(), format!("traffic[0].direction={direction}")];
        format!("{:?}", one(&text, &sets.each_ref().map(String::as_str)).workloads[0].population)
    };
    assert!(load("forward").contains("load: Rate(200000000.0)"), "{}", load("forward"));
    assert!(load("reverse").contains("load: Rate(2000000.0)"), "{}", load("reverse"));
}

#[test]
fn mistakes_in_routes_are_named() {
    for (from, to, said) in [
        ("\"b\"]", "\"c\"]", "test.toml:8:15: flow[0].route[1]: there is no link `c`; there is `a`, `b`\n"),
        ("\"b\"]", "\"a\"]", "test.toml:8:15: flow[0].route[1]: `a` is crossed twice; remove one of the two\n"),
        ("route = [\"a\", \"b\"]", "", "test.toml:6:1: flow[0].route: is missing; write one like route = [\"a\"]\n"),
        (
            "\"b\"]",
            "\"b\"]\nrtt = \"50 ms\"",
            "test.toml:9:7: flow[0].rtt: 50 ms is less than its links' delays, there and back; write at least \"60 ms\"\n",
        ),
        (
            "name = \"b\"",
            "name = \"a\"",
            "test.toml:4:12: link[1].name: there is another link called `a`; give this one a name of its own\n",
        ),
    ] {
        let lines = errors(&TWO_LINKS.replacen(from, to, 1), &[]);
        assert!(lines.starts_with(said), "\nexpected {said}but got {lines}");
    }
}
