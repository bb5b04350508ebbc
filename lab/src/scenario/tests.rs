//! What users see: what scenarios mean, and what is said about those that are wrong.

use super::*;
use crate::plan::Run;
use ::path::{Change, Discipline, GilbertElliott, codel, red};
use control::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;
use sim::{Buffer, Errors, Pattern, Reorder};
use std::num::NonZero;

const MACHINE: Machine = Machine { memory: 8_000_000_000, jobs: NonZero::new(2).unwrap() };

const DUMBBELL: &str = r#"duration = "60 s"

[path]
rate = "1 Gbps"
rtt = "100 ms"
buffer = "1 bdp"

[[flow]]
controller = "reno"
"#;

const TWO_LINKS: &str = r#"duration = "60 s"
link = [
  { name = "a", rate = "1 Gbps", delay = "10 ms", buffer = "100 packets" },
  { name = "b", rate = "2 Gbps", delay = "20 ms", buffer = "1 bdp" },
]
[[flow]]
controller = "reno"
route = ["a", "b"]
"#;

fn plan_of(text: &str, sets: &[&str]) -> Result<Plan, Vec<Problem>> {
    let sets: Vec<Set> = sets.iter().map(|set| set.parse().unwrap()).collect();
    read("test.toml", text, &sets, &MACHINE)
}

fn runs(text: &str, sets: &[&str]) -> Vec<Run> {
    plan_of(text, sets).unwrap_or_else(|p| panic!("{}\n{text}", p[0])).runs
}

fn one(text: &str, sets: &[&str]) -> sim::Experiment {
    runs(text, sets).remove(0).experiment
}

/// The lines that a user sees.
fn errors(text: &str, sets: &[&str]) -> String {
    let problems = plan_of(text, sets).map(|plan| plan.title).expect_err("this scenario is wrong");
    problems.iter().map(|p| format!("{p}\n")).collect()
}

#[test]
fn a_dumbbell_needs_six_lines() {
    let plan = plan_of(DUMBBELL, &[]).unwrap();
    assert_eq!((plan.title.as_str(), plan.seed), ("test", 1));
    let run = &plan.runs[0];
    assert_eq!((run.name.as_str(), run.controller.as_str()), ("reno", "reno"));
    let experiment = &run.experiment;
    assert_eq!(experiment.duration, Duration::from_secs(60.0));
    assert_eq!(experiment.sample, Duration::from_millis(50));
    assert_eq!(experiment.measure, (Time::ZERO, Time(60_000_000_000_000)));
    let link = &experiment.links[0];
    assert_eq!((link.name.as_str(), link.delay), ("bottleneck", Duration::from_millis(50)));
    assert_eq!((link.rate, link.buffer), (Rate::from_gbps(1.0), Buffer::Packets(12_500)));
    let flow = &experiment.flows[0];
    assert_eq!((flow.rtt, flow.packet, flow.ack_size), (Duration::from_millis(100), Bytes(1000), Bytes(40)));
    assert_eq!((flow.access, flow.stop, flow.size, flow.delayed_ack), (None, None, None, None));
    assert_eq!((flow.coalesce, flow.jitter), (None, None));
    assert_eq!((&flow.route.links[..], flow.route.reverse), (&[0][..], false));
}

#[test]
fn hosts_are_as_noisy_as_their_flow_or_else_the_scenario_says() {
    let text = "coalesce = \"50 us\"\njitter = \"10 us\"\n".to_string() + DUMBBELL + "coalesce = \"200 us\"\n";
    let flow = one(&text, &[]).flows.remove(0);
    assert_eq!((flow.coalesce, flow.jitter), (Some(Duration::from_micros(200)), Some(Duration::from_micros(10))));
}

#[test]
fn flows_that_are_alike_are_drawn_from_the_seed_alone() {
    let text = DUMBBELL.to_string()
        + "start = { uniform = [\"0 s\", \"20 s\"] }\nrtt = { uniform = [\"60 ms\", \"165 ms\"] }\ncount = 24\n";
    let times =
        |sets: &[&str]| -> Vec<_> { one(&text, sets).flows.iter().map(|flow| (flow.start, flow.rtt)).collect() };
    let few = times(&[]);
    assert_eq!(few.len(), 24);
    assert_eq!(few, times(&["flow[0].controller=newreno", "path.rate=10 Gbps"]));
    assert_eq!(few[..], times(&["flow[0].count=100"])[..24]);
    assert_ne!(few, times(&["seed=2"]));
    // What the link has of the delay is common to all.
    assert_eq!(one(&text, &[]).links[0].delay, Duration::from_millis(30));
    // 1 Gbps x 112.5 ms
    assert_eq!(one(&text, &[]).links[0].buffer, Buffer::Packets(14_063));
}

#[test]
fn routes_name_links_and_the_bottleneck() {
    let experiment = one(TWO_LINKS, &["flow[0].direction=reverse"]);
    assert_eq!((&experiment.flows[0].route.links[..], experiment.flows[0].route.reverse), (&[0, 1][..], true));
    assert_eq!(experiment.flows[0].rtt, Duration::from_millis(60));
    assert_eq!(experiment.links[1].buffer, Buffer::Packets(15_000));

    let both = "path = { rate = \"1 Gbps\", rtt = \"100 ms\", buffer = \"9 MB\" }\n".to_string() + TWO_LINKS;
    let experiment = one(&both, &["flow[0].route=[\"bottleneck\", \"b\"]"]);
    assert_eq!(experiment.flows[0].route.links, [0, 2]);
    assert_eq!(experiment.links[0].delay, Duration::from_millis(30), "what b leaves of the RTT");
    assert_eq!(experiment.links[0].buffer, Buffer::Bytes(Bytes(9_000_000)));
}

#[test]
fn comparing_and_sweeping_multiply() {
    let text = r#"
        duration = "10 s"
        path = { rate = "1 Gbps", rtt = "100 ms", buffer = "1 bdp" }
        compare.controllers = ["reno", "newreno"]
        sweep = { "path.rate" = ["1 Gbps", "2 Gbps"], "flow[0].count" = [1, 3] }
    "#;
    let runs = runs(text, &[]);
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names.len(), 8);
    assert_eq!(names[0], "reno, path.rate = 1 Gbps, flow[0].count = 1");
    assert_eq!(names[3], "newreno, path.rate = 1 Gbps, flow[0].count = 3");
    assert_eq!(names[4], "reno, path.rate = 2 Gbps, flow[0].count = 1");
    assert_eq!(runs[3].experiment.flows.len(), 3);
    assert_eq!(runs[4].experiment.links[0].rate, Rate::from_gbps(2.0));
    assert_eq!(runs[4].settings["path.rate"], "2 Gbps");
}

#[test]
fn parameters_lie_over_the_defaults() {
    let (name, first) = match control::registry::find("reno").unwrap().defaults().as_object().unwrap().iter().next() {
        Some((name, value)) => (name.clone(), value.clone()),
        None => return,
    };
    let run = &runs(DUMBBELL, &[&format!("controller.reno.{name}={first}")])[0];
    assert_eq!(run.parameters[&name], first);
    assert_eq!(run.parameters, run.experiment.flows[0].parameters);
}

#[test]
fn what_the_command_line_sets_is_laid_over_the_file() {
    let experiment = one(DUMBBELL, &["path.rate=10Gbps", "flow[1].controller=newreno", "flow.1.start=5 s"]);
    assert_eq!(experiment.links[0].rate, Rate::from_gbps(10.0));
    assert_eq!(experiment.flows[1].start, Time(5_000_000_000_000));
    assert_eq!(runs(DUMBBELL, &["flow[1].controller=newreno"])[0].name, "reno+newreno");
}

/// One line per mistake: the text to replace, what to replace it by, and what must be said.
#[test]
fn mistakes_are_named_with_line_key_and_remedy() {
    let mut wrong = String::new();
    for (from, to, said) in [
        // What does not fit its key.
        (
            "1 Gbps",
            "-1 Gbps",
            "test.toml:4:8: path.rate: `-1 Gbps` is negative; a rate must be zero or more, like \"1 Gbps\"\n",
        ),
        (
            "1 Gbps",
            "1 Gb",
            "test.toml:4:8: path.rate: `1 Gb` has the unit `Gb`; write a rate like \"1 Gbps\", in bps, kbps, Mbps, Gbps, Tbps\n",
        ),
        (
            "\"1 Gbps\"",
            "1e9",
            "test.toml:4:8: path.rate: floating point `1000000000.0` does not fit here; write a rate with its unit in quotes, like \"1 Gbps\"\n",
        ),
        ("1 Gbps", "0 bps", "test.toml:4:8: path.rate: is zero; write one like \"1 Gbps\"\n"),
        (
            "\"60 s\"",
            "60",
            "test.toml:1:12: duration: integer `60` does not fit here; write a time with its unit in quotes, like \"100 ms\"\n",
        ),
        ("60 s", "0 s", "test.toml:1:12: duration: is zero; write one like \"60 s\"\n"),
        ("60 s", "1e30 h", "test.toml:1:12: duration: `1e30 h` is too large; write less\n"),
        (
            "1 bdp",
            "0 packets",
            "test.toml:6:10: path.buffer: a buffer of `0 packets` would drop every packet that has to wait; write one like \"1 bdp\", \"20 ms\", \"750 packets\" or \"9 MB\"\n",
        ),
        ("1 bdp", "10 B", "test.toml:6:10: path.buffer: 10 B holds not even one packet; write at least \"1 kB\"\n"),
        // Keys.
        ("rate =", "rte =", "test.toml:4:1: path.rte: there is no key `rte`; did you mean `rate`?\n"),
        ("[path]", "speed = 1\n[path]", "test.toml:3:1: speed: there is no key `speed`; did you mean `seed`?\n"),
        ("rate = \"1 Gbps\"\n", "", "test.toml:3:1: path.rate: is missing; write rate = \"1 Gbps\"\n"),
        (
            "duration = \"60 s\"",
            "",
            "test.toml:1:1: duration: is missing; write duration = \"60 s\", how long to simulate, at the top\n",
        ),
        ("[path]", "[pth]", "test.toml:3:2: pth: there is no key `pth`; did you mean `path`?\n"),
        // TOML.
        ("[path]", "[path", "test.toml:3:6: unclosed table, expected `]`; correct the TOML here\n"),
        ("rtt =", "rate =", "test.toml:5:1: duplicate key; correct the TOML here\n"),
        ("\"100 ms\"", "nan", "test.toml:5:7: nan is no finite number; correct the TOML here\n"),
        (
            "\"100 ms\"",
            "99999999999999999999",
            "test.toml:5:7: the number 99999999999999999999 is too large; correct the TOML here\n",
        ),
        // What does not fit the rest.
        (
            "\"reno\"",
            "\"rneo\"",
            "test.toml:9:14: flow[0].controller: there is no controller `rneo`; did you mean `reno`?\n",
        ),
        (
            "controller = \"reno\"",
            "start = \"1 s\"",
            "test.toml:8:1: flow[0].controller: is missing; write controller = \"rapid\", or [compare] with some\n",
        ),
        (
            "[[flow]]\ncontroller = \"reno\"",
            "",
            "test.toml:1:1: flow: is missing, so nothing would be sent; write [[flow]] with a controller\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nstart = \"60 s\"",
            "test.toml:10:9: flow[0].start: 60 s is not before the end of the run; write less than \"60 s\"\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nstart = \"5 s\"\nstop = \"5 s\"",
            "test.toml:11:8: flow[0].stop: 5 s is not after its start; write more than \"5 s\"\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nstart = { uniform = [\"5 s\", \"4 s\"] }",
            "test.toml:10:9: flow[0].start: 5 s is more than 4 s; put the smaller time first\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nstart = { uniform = [\"5 s\"] }",
            "test.toml:10:21: flow[0].start.uniform: a list of 1 does not fit here; write a list of 2\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nstart = { unifrm = [\"5 s\"] }",
            "test.toml:10:11: flow[0].start.unifrm: there is no key `unifrm`; did you mean `uniform`?\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\ncount = 0",
            "test.toml:10:9: flow[0].count: is zero; write 1 or more, or remove the flow\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\ncount = -1",
            "test.toml:10:9: flow[0].count: integer `-1` does not fit here; write a whole number, 0 or more\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\ncoalesce = \"0 us\"",
            "test.toml:10:12: flow[0].coalesce: 0 ps is no such delay; write one like \"100 us\", up to \"1 s\", or remove it\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\njitter = \"2 s\"",
            "test.toml:10:10: flow[0].jitter: 2 s is no such delay; write one like \"10 us\", up to \"1 s\", or remove it\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nrecovery = \"sac\"",
            "test.toml:10:12: flow[0].recovery: there is no choice `sac`; did you mean `sack`?\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nroute = [\"bottlneck\"]",
            "test.toml:10:10: flow[0].route[0]: there is no link `bottlneck`; did you mean `bottleneck`?\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nroute = []",
            "test.toml:10:9: flow[0].route: has no link; write one like [\"bottleneck\"]\n",
        ),
        (
            "[path]",
            "measure = { to = \"61 s\" }\n[path]",
            "test.toml:3:18: measure.to: 61 s is after the end of the run; write at most \"60 s\"\n",
        ),
        (
            "[path]",
            "measure = { from = \"9 s\", to = \"9 s\" }\n[path]",
            "test.toml:3:20: measure.from: 9 s is not before the interval's end; write less than \"9 s\"\n",
        ),
        (
            "[path]",
            "sample = \"1 ns\"\n[path]",
            "test.toml:3:10: sample: 1 ns makes more than 10000000 samples in 60 s; write at least \"6 us\"\n",
        ),
        (
            "[path]",
            "packet = \"0 B\"\n[path]",
            "test.toml:3:10: packet: 0 B is no size for a packet; write \"1 B\" to \"1 MB\"\n",
        ),
        (
            "[path]",
            "controller.rneo.a = 1\n[path]",
            "test.toml:3:12: controller.rneo: there is no controller `rneo`; did you mean `reno`?\n",
        ),
        (
            "[path]",
            "controller.reno.nonsense = 1\n[path]",
            "test.toml:3:28: controller.reno.nonsense: there is no parameter `nonsense`",
        ),
        (
            "[path]",
            "sweep.path.rate = [\"1 Gbps\"]\n[path]",
            "test.toml:3:7: sweep.path: is no list of values; write \"path.rate\" = [\"1 Gbps\", \"10 Gbps\"], with the whole key in quotes\n",
        ),
        (
            "[path]",
            "sweep.\"path.rate\" = [\"1 Gbps\", \"fast\"]\n[path]",
            "test.toml:3:32: path.rate: `fast` does not start with a number; write a rate like \"1 Gbps\"\n",
        ),
        (
            "[path]",
            "sweep.\"path.rte\" = [\"1 Gbps\"]\n[path]",
            "test.toml:3:21: path.rte: there is no key `rte`; did you mean `rate`?\n",
        ),
        (
            "[path]",
            "compare.controllers = []\n[path]",
            "test.toml:3:23: compare.controllers: names none; write controllers = [\"rapid\", \"bic\"]\n",
        ),
        (
            "[path]",
            "compare.controllers = [\"reno\", \"bicc\"]\n[path]",
            "test.toml:3:32: compare.controllers[1]: there is no controller `bicc`",
        ),
        (
            "[path]",
            "compare.controllers = [\"reno\", \"reno\"]\n[path]",
            "test.toml:3:32: compare.controllers[1]: `reno` is listed twice; remove one\n",
        ),
        // Queues.
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = \"coddle\"",
            "test.toml:7:9: path.queue: there is no choice `coddle`; did you mean `codel`?\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"codel\", targt = \"5 ms\" }",
            "test.toml:7:35: path.queue.targt: there is no key `targt`; did you mean `target`?\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { target = \"5 ms\" }",
            "test.toml:7:9: path.queue.kind: is missing; write kind = ",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"red\", target = \"5 ms\" }",
            "test.toml:7:34: path.queue.target: this kind of queue has no `target`; it has `min`, `max`, `max-p`, `weight`, `gentle`\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"red\", min = 50, max = 50 }",
            "test.toml:7:41: path.queue.max: 50 packets are not more than min = 50; write more\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"ared\", max-p = 1.5 }",
            "test.toml:7:34: path.queue.max-p: 1.5 is not within 0 and 1; write one like 0.01\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"fq-codel\", queues = 0 }",
            "test.toml:7:39: path.queue.queues: 0 is no number of queues; write 1 to 65536\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"rcp-ac\", gama = 0.1 }",
            "test.toml:7:35: path.queue.gama: there is no parameter `gama`; did you mean `gamma`?\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"rcp\", interval = \"0 s\" }",
            "test.toml:7:36: path.queue.interval: interval = 0 ps is no such time; write \"1 us\" to \"60 s\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"rcp\", initial-rate = 0.1, least-rate = 0.2 }",
            "test.toml:7:9: path.queue: least-rate = 0.2 is above initial-rate = 0.1; write less\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = 1",
            "test.toml:7:9: path.queue: integer `1` does not fit here; write a queue like \"codel\" or { kind = \"codel\", target = \"5 ms\" }\n",
        ),
        (
            "[[flow]]",
            "[controller.vegas]\nalpha = 5\nbeta = 1\n[[flow]]",
            "test.toml:8:1: controller.vegas: alpha = 5 is above beta = 1; write less\n",
        ),
        // Names.
        (
            "[[flow]]",
            "[[link]]\nname = \"a\\u001b[2J\"\nrate = \"1 Gbps\"\ndelay = \"1 ms\"\nbuffer = \"1 bdp\"\n[[flow]]",
            "test.toml:9:8: link[0].name: `a\\u{1b}[2J` has a character that cannot be shown; write one like \"first\"\n",
        ),
        // Links that change, lose, reorder and double.
        (
            "rate = \"1 Gbps\"",
            "trace = \"no/such.trace\"",
            "test.toml:4:9: path.trace: no/such.trace cannot be read (no such file or directory); check its name and permissions\n",
        ),
        (
            "rate = \"1 Gbps\"",
            "rate = \"1 Gbps\"\ntrace = \"a.trace\"",
            "test.toml:4:8: path.rate: there is a trace, too; remove one of them\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nchange = [{ at = \"2 s\", rate = \"0 bps\" }, { at = \"2 s\", rate = \"1 Gbps\" }]",
            "test.toml:7:50: path.change[1].at: 2 s is not after the change before it; write more than \"2 s\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\n[[path.change]]\nat = \"2 s\"",
            "test.toml:7:1: path.change[0]: changes nothing; write a rate, or a delay, or both\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\n[[path.change]]\nrate = \"1 Gbps\"",
            "test.toml:7:1: path.change[0].at: is missing; write at = ",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\n[[path.change]]\nat = \"2 s\"\nrtt = \"10 ms\"",
            "test.toml:9:1: path.change[0].rtt: there is no key `rtt`; ",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\npacket-error = 1.5",
            "test.toml:7:16: path.packet-error: 1.5 is no probability below 1; write one like 1e-6\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\npacket-error = \"often\"",
            "test.toml:7:16: path.packet-error: string \"often\" does not fit here; write a probability like 1e-6, or bursts like { p = 0.001, r = 0.1 }\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\npacket-error = { p = 0.001, r = 2 }",
            "test.toml:7:33: path.packet-error.r: 2 is not within 0 and 1; write one like 0.01\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\npacket-error = { p = 0.001, r = 0.0 }",
            "test.toml:7:33: path.packet-error.r: is zero, so that nothing would pass for ever; write one like 0.1\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\npacket-error = { p = 0.001 }",
            "test.toml:7:16: path.packet-error.r: is missing; write r = ",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nreorder = { probability = -1, delay = \"1 ms\" }",
            "test.toml:7:27: path.reorder.probability: -1 is not within 0 and 1; write one like 0.01\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nreorder = { probability = 0.1, delay = \"0 ms\" }",
            "test.toml:7:40: path.reorder.delay: is zero; write one like \"5 ms\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nduplicate = 1.1",
            "test.toml:7:13: path.duplicate: 1.1 is not within 0 and 1; write one like 0.01\n",
        ),
        // More than the machine has.
        (
            "1 bdp",
            "100 TB",
            "test.toml:6:10: path.buffer: this needs about 12800 GB of memory and 8.00 GB are free; write less\n",
        ),
        ("1 Gbps", "900 Tbps", "test.toml:4:8: path.rate: this needs about"),
        (
            "\"reno\"",
            "\"reno\"\ncount = 1000000000000000",
            "test.toml:10:9: flow[0].count: this needs about 6e10 GB of memory",
        ),
    ] {
        assert!(DUMBBELL.contains(from), "{from}");
        let lines = errors(&DUMBBELL.replacen(from, to, 1), &[]);
        if !lines.starts_with(said) || lines.lines().count() != 1 || !lines.contains(';') {
            wrong += &format!("\nexpected {said}\nbut got  {lines}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn queues_have_short_forms_and_the_literatures_parameters() {
    let queue = |set: &str| one(DUMBBELL, &[&format!("path.queue={set}")]).links[0].queue;
    assert_eq!(one(DUMBBELL, &[]).links[0].queue, Discipline::DropTail);
    assert_eq!(queue("codel"), Discipline::CoDel(codel::Parameters::RFC));
    assert_eq!(queue("fq-codel"), queue("{ kind = \"fq-codel\", queues = 1024, interval = \"100 ms\" }"));
    let automatic = red::Parameters::automatic(Rate::from_gbps(1.0), Bytes(1000));
    assert_eq!(queue("red"), Discipline::Red(automatic));
    assert_eq!((automatic.min, automatic.max), (312.5, 937.5));
    let adaptive = Some(red::Adaptive { bottom: 0.001, ..red::Adaptive::PAPER });
    let given = queue("{ kind = \"ared\", min = 10, bottom = 0.001, gentle = false }");
    let expected = red::Parameters { min: 10.0, max: 30.0, gentle: false, adaptive, ..automatic };
    assert_eq!(given, Discipline::Red(expected));
    let routed = one(DUMBBELL, &["path.queue={ kind = \"rcp-ac\", gamma = 0.05 }"]).links[0].clone();
    let router = routed.router.expect("a router");
    assert_eq!((routed.queue, router.protocol.as_str()), (Discipline::DropTail, "rcp-ac"));
    assert_eq!(router.parameters["gamma"], 0.05);
    assert_eq!(Buffer::Bytes(router.buffer), Buffer::Bytes(Bytes(12_500_000)), "{:?}", routed.buffer);
    let matching = |controller: &str| {
        let link =
            one(DUMBBELL, &["path.queue=matching", &format!("flow[0].controller={controller}")]).links[0].clone();
        link.router.map(|router| router.protocol)
    };
    assert_eq!((matching("reno"), matching("xcp").as_deref()), (None, Some("xcp")));
    let two = one(TWO_LINKS, &["link[1].queue=codel"]);
    assert_eq!((two.links[0].queue, two.links[1].queue), (Discipline::DropTail, queue("codel")));
}

#[test]
fn links_change_lose_corrupt_reorder_and_double() {
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
        reorder = { probability = 0.02, delay = "3 ms" }
        [[flow]]
        controller = "reno"
        "#;
    let links = one(text, &[]).links;
    let bursts = GilbertElliott { p: 0.001, r: 0.1, good: 0.0, bad: 1.0 };
    assert_eq!((links[0].errors, links[0].duplicate), (Errors::Bursts(bursts), 0.01));
    assert_eq!((links[1].errors, links[1].duplicate), (Errors::Uniform(1e-6), 0.0));
    assert_eq!((links[0].corrupt, links[1].corrupt), (0.001, 0.0));
    let reorder = Reorder { probability: 0.02, delay: Duration::from_millis(3) };
    assert_eq!((links[0].reorder, links[1].reorder), (None, Some(reorder)));
    let changes = [
        Change { at: Time(10_000_000_000_000), rate: Some(Rate::from_mbps(100.0)), delay: None },
        Change { at: Time(20_000_000_000_000), rate: None, delay: Some(Duration::from_millis(10)) },
    ];
    assert_eq!(links[0].changes, changes);
    let rate = |s: u64| links[0].rate_at(Time(s * 1_000_000_000_000)).as_mbps();
    assert_eq!((rate(9), rate(10), rate(30)), (10.0, 100.0, 100.0));
    // The memory is that of the fastest it gets.
    assert!(errors(text, &["path.change[0].rate=900 Tbps"]).contains("path.rate: this needs about"));
}

/// A trace is looked for beside the scenario, and its mean rate is the link's: 4 opportunities of 1504 bytes in 10 ms.
#[test]
fn a_trace_is_read_from_beside_the_scenario() {
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
    let link = &plan.runs[0].experiment.links[0];
    assert!((link.rate.as_mbps() - 4.8128).abs() < 1e-9 && link.trace.is_some(), "{}", link.rate);
    assert_eq!(link.buffer, Buffer::Packets(60)); // 4.8128 Mbps x 100 ms
    assert!(wrong.contains("bad.trace:3: 2 ms is before the line above;"), "{wrong}");
    assert!(both.contains("path.change[0].rate: the link has a trace in place of a rate; remove this"), "{both}");
}

#[test]
fn mistakes_in_routes_are_named() {
    for (from, to, said) in [
        ("\"b\"]", "\"c\"]", "test.toml:8:15: flow[0].route[1]: there is no link `c`; there is `a`, `b`\n"),
        ("\"b\"]", "\"a\"]", "test.toml:8:15: flow[0].route[1]: `a` is crossed twice; remove one\n"),
        ("route = [\"a\", \"b\"]", "", "test.toml:6:1: flow[0].route: is missing; write one like route = [\"a\"]\n"),
        (
            "\"b\"]",
            "\"b\"]\nrtt = \"50 ms\"",
            "test.toml:9:7: flow[0].rtt: 50 ms is less than its links' delays, there and back; write at least \"60 ms\"\n",
        ),
        (
            "name = \"b\"",
            "name = \"a\"",
            "test.toml:4:12: link[1].name: there is another link `a`; give it a name of its own\n",
        ),
    ] {
        let lines = errors(&TWO_LINKS.replacen(from, to, 1), &[]);
        assert!(lines.starts_with(said), "\nexpected {said}but got {lines}");
    }
}

#[test]
fn mistakes_on_the_command_line_name_the_option() {
    for (set, said) in [
        (
            "path.rate=fast",
            "test.toml: --set path.rate: `fast` does not start with a number; write a rate like \"1 Gbps\"\n",
        ),
        (
            "path.rate=10",
            "test.toml: --set path.rate: integer `10` does not fit here; write a rate with its unit in quotes, like \"1 Gbps\"\n",
        ),
        ("path.rte=1 Gbps", "test.toml: --set path.rte: there is no key `rte`; did you mean `rate`?\n"),
        (
            "flow[3].count=2",
            "test.toml: --set flow[3].count: there is no element 3; the list has 1 element, counted from 0; name a key of the scenario\n",
        ),
        (
            "path.rate.x=2",
            "test.toml: --set path.rate.x: `x` is looked for in what is no table; name a key of the scenario\n",
        ),
        ("a.b.c=1", "test.toml: --set a: there is no key `a`; did you mean `ack`?\n"),
        (
            "controller.bik.smax=1",
            "test.toml: --set controller.bik: there is no controller `bik`; did you mean `bic`?\n",
        ),
        (
            "jitter=0 s",
            "test.toml: --set jitter: 0 ps is no such delay; write one like \"10 us\", up to \"1 s\", or remove it\n",
        ),
        ("measure.to=0 s", "test.toml: --set measure.to: is zero; write one like \"60 s\", or remove it\n"),
        (
            "flow[0].start={ uniform = [\"0 s\"] }",
            "test.toml: --set flow[0].start.uniform: a list of 1 does not fit here; write a list of 2\n",
        ),
        ("path=1", "test.toml: --set path: integer `1` does not fit here; write a table\n"),
        ("path.buffer=1e9 GB", "test.toml: --set path.buffer: this needs about 1e8 GB of memory"),
    ] {
        let lines = errors(DUMBBELL, &[set]);
        assert!(lines.starts_with(said), "\nexpected {said}but got {lines}");
    }
}

#[test]
fn each_kind_of_traffic_has_its_keys() {
    let traffic = |table: &str| runs(DUMBBELL, &[&format!("traffic=[{{ {table} }}]")])[0].experiment.cross[0].clone();
    assert_eq!(traffic(r#"kind = "poisson", rate = "2 Mbps""#).pattern, Pattern::Poisson);
    let onoff = traffic(r#"kind = "onoff", rate = "8 Mbps", on = "100 ms", off = "300 ms""#);
    assert_eq!((onoff.pattern, onoff.mean_rate().as_mbps()), {
        let (on, off) = (Duration::from_millis(100), Duration::from_millis(300));
        (Pattern::OnOff { on, off, shape: 1.5 }, 2.0)
    });
    for (table, said) in [
        (r#"rate = "1 Mbps""#, "kind: is missing; write kind = \"cbr\"\n"),
        (r#"kind = 1, rate = "1 Mbps""#, "kind: is no text in quotes; write kind = \"cbr\"\n"),
        (r#"kind = "poison", rate = "1 Mbps""#, "kind: there is no choice `poison`; did you mean `poisson`?\n"),
        (r#"kind = "poisson""#, "rate: is missing; write rate = \"1 Gbps\"\n"),
        (r#"kind = "cbr", rate = "1 Mbps", on = "1 s""#, "on: there is no key `on`; there is `kind`, `rate`, "),
        (r#"kind = "onoff", rate = "1 Mbps", on = "1 s""#, "off: is missing; write off = \"500 ms\"\n"),
        (r#"kind = "onoff", rate = "1 Mbps", on = "1 us", off = "1 s""#, "on: 1 us is too short for a packet"),
        (r#"kind = "onoff", rate = "1 Mbps", on = "1 s", off = "1 s", shape = 1"#, "shape: 1 is no shape"),
        (r#"kind = "poisson", rate = "1 Mbps", stop = "0 s""#, "stop: 0 ps is not after its start"),
    ] {
        let lines = errors(DUMBBELL, &[&format!("traffic=[{{ {table} }}]")]);
        assert!(lines.contains(&format!("traffic[0].{said}")), "{table}: {lines}");
    }
}

const TRAFFIC: &str = r#"duration = "60 s"

[path]
rate = "100 Mbps"
rtt = "100 ms"
buffer = "1 bdp"
"#;

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
    // It is the objects that go forward.
    assert!(!web.handshake && web.route.reverse && web.header == Bytes(40));
    let (_, _, tmix) = workload(r#"kind = "tmix", load = "70 Mbps", direction = "reverse", stop = "10 s""#);
    assert!(!tmix.route.reverse && tmix.stop.as_secs() == 10.0);

    // Two of a kind have two names; what is compared controls flows that name no controller, and needs no [[flow]].
    let two = r#"traffic=[{ kind = "flows", size = "1 kB", per-second = 1 }, { kind = "flows", size = "1 MB", per-second = 1 }]"#;
    let runs = runs(TRAFFIC, &[two, r#"compare.controllers=["bic", "reno"]"#]);
    let names: Vec<&str> = runs[0].experiment.workloads.iter().map(|w| w.name.as_str()).collect();
    assert_eq!((names, runs[0].experiment.flows.len()), (vec!["flows", "flows 2"], 0));
    assert_eq!(runs[1].experiment.workloads[0].controller, "reno");
}

/// What is wrong with connections that come and go; the part of the line after `traffic[0].`.
#[test]
fn what_is_wrong_with_connections() {
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
        (r#"kind = "tmix", file = ".""#, "file: . cannot be read (it is no regular file); check"),
        (r#"kind = "tmix", file = "bad.cvec""#, "file: bad.cvec:3: `> -5` has `-5` in place of a whole number"),
        (r#"kind = "tmix", file = "empty.cvec""#, "file: empty.cvec:1: there is no connection in it; name"),
        (r#"kind = "tmix", file = "good.cvec", load = "1 Mbps""#, "load: is given beside `file`"),
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
            "size: this is no distribution",
        ),
        (
            r#"kind = "flows", size = { pareto = "1 kB", shape = 1.0 }, per-second = 1, controller = "reno""#,
            "size: 1 is no shape of a Pareto",
        ),
        (
            r#"kind = "flows", size = { file = "bad.cdf" }, per-second = 1, controller = "reno""#,
            "size: bad.cdf:2: has a size",
        ),
        (r#"kind = "flows", size = "1 kB", per-second = -1, controller = "reno""#, "per-second: makes -1 connections"),
        (
            r#"kind = "flows", size = "1 kB", per-second = 1, load = "1 bps", controller = "reno""#,
            "load: is given beside",
        ),
        (
            r#"kind = "flows", size = "1 kB", per-second = 1, controller = "rno""#,
            "controller: there is no controller `rno`",
        ),
        (r#"kind = "flows", size = "1 kB", per-second = 1, rtt = "0 s", controller = "reno""#, "rtt: is zero"),
        (r#"kind = "flows", size = "1 kB", per-second = 1e8, controller = "reno""#, "per-second: this needs about"),
        (r#"kind = "web", per-second = 1, objects = 0.5"#, "objects: 0.5 is no mean number of objects"),
        (r#"kind = "web", per-second = 1, think = 5"#, "think: integer `5` does not fit here"),
        (r#"kind = "web", per-second = 1, name = " ""#, "name: is empty"),
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
fn traffic_leaves_its_packets_time() {
    let lines = errors(DUMBBELL, &["traffic=[{ kind = \"cbr\", rate = \"20 Tbps\", packet = \"1 B\" }]"]);
    let said = "test.toml: --set traffic[0].rate: makes more than one packet per nanosecond; write less, or a larger traffic.packet\n";
    assert_eq!(lines, said);
}

#[test]
fn memory_is_that_of_all_runs_together() {
    let lines = errors(DUMBBELL, &["sample=10 us", "flow[0].count=30"]);
    assert!(
        lines.starts_with(
            "test.toml: --set sample: this needs about 9.60 GB of memory and 8.00 GB are free; write more"
        ),
        "{lines}"
    );

    // One of 4.5 GB fits, two at a time do not; and of what fits alone, the samples of ten may not.
    let big = ["path.buffer=35e6 packets", "sweep.seed=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"];
    assert!(errors(DUMBBELL, &big).contains("--set path.buffer: this needs about 8.97 GB of memory"));
    assert!(errors(DUMBBELL, &big).contains("2 runs at a time, and 8.00 GB are free; write less, or use fewer --jobs"));
    assert_eq!(runs(DUMBBELL, &big[..1]).len(), 1);
    let fine = ["sample=20 us", "flow[0].count=5", big[1], "seed=3"];
    assert_eq!(runs(DUMBBELL, &fine[..2]).len(), 1);
    assert!(errors(DUMBBELL, &fine).contains("sweep: its runs need about"), "{}", errors(DUMBBELL, &fine));
}

#[test]
fn several_mistakes_are_all_named() {
    let lines = errors(DUMBBELL, &["sample=0 s", "flow[0].count=0", "path.rtt=0 s"]);
    assert!(lines.lines().count() >= 3, "{lines}");
}

#[test]
fn a_message_is_one_line_whatever_it_quotes() {
    let lines = errors(&DUMBBELL.replace("rate =", "\"\\n\\u001b[2J\" ="), &[]);
    assert!(lines.contains("\\n\\u{1b}[2J") && lines.lines().count() == 1, "{lines}");
    let lines = errors(&DUMBBELL.replace("1 Gbps", &"x".repeat(1_000_000)), &[]);
    assert!(lines.len() < 1000);
}

#[test]
fn too_many_runs_are_refused_before_they_are_made() {
    let many: Vec<String> = (1..=200).map(|n| n.to_string()).collect();
    let sweep = format!("sweep = {{ seed = [{0}], \"flow[0].count\" = [{0}] }}\n", many.join(","));
    assert!(errors(&(sweep + DUMBBELL), &[]).contains("more than 10000 runs; sweep fewer values"));
}

#[test]
fn long_sweeps_are_planned_in_no_time() {
    let seeds: Vec<String> = (1..=10_000).map(|n| n.to_string()).collect();
    let begin = std::time::Instant::now();
    assert_eq!(runs(&format!("sweep.seed = [{}]\n{DUMBBELL}", seeds.join(",")), &[]).len(), 10_000);
    assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
}

#[test]
fn shipped_scenarios_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut seen = 0;
    for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let plan = load(&file, &[], &MACHINE).unwrap_or_else(|p| panic!("{}", p[0]));
        assert!(!plan.title.is_empty());
        seen += 1;
    }
    assert!(seen >= 4);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let problems = load(Path::new("no/such.toml"), &[], &MACHINE).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "no/such.toml: cannot be read (no such file or directory); check its name and permissions"
    );
}

/// Pieces of scenarios, right and wrong, that random texts are made of: random characters alone would never pass the parser.
fn piece() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("\"1 bdp\"".to_string()),
        Just("[\"a\", \"bottleneck\"]".to_string()),
        Just("{ uniform = [\"0 s\", \"9e18 ps\"] }".to_string()),
        Just("[1, 2, \"3 s\"]".to_string()),
        Just("1979-05-27".to_string()),
        (any::<f64>(), "(ps|ms|s|h|bps|Gbps|Tbps|B|TB|bdp|packets|)").prop_map(|(n, unit)| format!("\"{n} {unit}\"")),
        (0u32..20, "(ms|s|h|bps|Gbps|Tbps|B|kB|TB|bdp|packets)").prop_map(|(n, unit)| format!("\"1e{n} {unit}\"")),
        Just("{ p = 0.01, r = 0.1 }".to_string()),
        Just("{ probability = 0.1, delay = \"1 ms\" }".to_string()),
        Just("[{ at = \"1 s\", rate = \"2 Mbps\", delay = \"1 ms\" }]".to_string()),
        Just("{ kind = \"ared\", min = 1, max-p = 0.5, interval = \"1 s\" }".to_string()),
        "(reno|newreno|cbr|poisson|onoff|flows|web|tmix|droptail|red|codel|fq-codel|reverse|sack|a|b)"
            .prop_map(|name| format!("\"{name}\"")),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:?}")),
    ];
    let key = "(title|duration|seed|sample|measure|packet|ack|delayed-ack|coalesce|jitter|min-rto|rate|trace|change|corrupt|reorder|duplicate|rtt|buffer|queue|packet-error|access|delay|name|\
               controller|start|stop|size|route|direction|count|receive-window|recovery|kind|on|off|shape|load|per-second|objects|object|request|think|handshake|file|compare.controllers|\
               sweep.\"path.rate\"|sweep.\"flow\\[0\\].count\"|controller.reno.[a-z]{1,4}|[a-z]{1,3})";
    let header =
        "(\\[path\\]|\\[\\[link\\]\\]|\\[\\[flow\\]\\]|\\[\\[traffic\\]\\]|\\[measure\\]|\\[sweep\\]|\\[compare\\])\n";
    prop_oneof![4 => (key, value).prop_map(|(key, value)| format!("{key} = {value}\n")), 1 => header]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,200}", set in ".{0,40}") {
        check_total(&text, &set);
    }

    #[test]
    fn no_scenario_makes_the_parser_panic(
        top in proptest::collection::vec(piece(), 0..6),
        rest in proptest::collection::vec(piece(), 0..8),
        set in piece(),
        whole in any::<bool>(),
    ) {
        let base = if whole { DUMBBELL } else { TWO_LINKS };
        check_total(&format!("{}{base}{}", top.concat(), rest.concat()), set.trim());
        // And with one thing changed in what is right, which gets further.
        check_total(base, &format!("path.{}", set.trim()));
        check_total(base, &format!("flow[0].{}", set.trim()));
        check_total(base, set.trim());
    }
}

/// Whatever comes in, out comes a plan that can be run, or lines.
fn check_total(text: &str, set: &str) {
    let sets: Vec<Set> = set.parse().into_iter().collect();
    let machine = Machine { memory: 20_000_000, jobs: NonZero::<usize>::MIN };
    match read("any.toml", text, &sets, &machine) {
        Ok(plan) => assert!(!plan.runs.is_empty()),
        Err(problems) => {
            assert!(!problems.is_empty());
            assert!(problems.iter().all(|problem| problem.to_string().lines().count() == 1));
        }
    }
}

#[test]
fn the_reference_shows_scenarios_that_are_right() {
    let reference = include_str!("../../../docs/scenarios.md");
    let blocks: Vec<&str> = reference.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 5);
    for block in blocks {
        // Some are a part only.
        let whole = match block {
            _ if block.contains("duration") => block.to_string(),
            _ if block.contains("[path]") => format!("duration = \"60 s\"\n{block}[[flow]]\ncontroller = \"reno\"\n"),
            _ => format!("{DUMBBELL}{block}"),
        };
        assert!(!runs(&whole, &[]).is_empty());
    }
}
