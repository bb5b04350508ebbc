//! Error messages about scenarios: they name the line, the key and the remedy.

use super::*;

/// Of each mistake: the part of a correct scenario to replace, the mistake that replaces it, and the message.
#[test]
fn mistakes_are_named_with_line_key_and_remedy() {
    let mut wrong = String::new();
    for (from, to, said) in [
        // Values that do not fit their keys.
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
        (
            "duration",
            "pacing = 0.9\nduration",
            "test.toml:1:10: pacing: is not within 1 and 100; write one like 1.25, or remove it\n",
        ),
        ("60 s", "1e30 h", "test.toml:1:12: duration: `1e30 h` is too large; write less\n"),
        (
            "1 bdp",
            "0 packets",
            "test.toml:6:10: path.buffer: a buffer of `0 packets` would drop every packet that has to wait; write one like \"1 bdp\", \"20 ms\", \"750 packets\" or \"9 MB\"\n",
        ),
        ("1 bdp", "10 B", "test.toml:6:10: path.buffer: 10 B does not hold a single packet; write at least \"1 kB\"\n"),
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
        ("\"100 ms\"", "nan", "test.toml:5:7: nan is not a finite number; correct the TOML here\n"),
        (
            "\"100 ms\"",
            "99999999999999999999",
            "test.toml:5:7: the number 99999999999999999999 is too large; correct the TOML here\n",
        ),
        // Values that do not fit the rest of the scenario.
        (
            "\"reno\"",
            "\"rneo\"",
            "test.toml:9:14: flow[0].controller: there is no controller `rneo`; did you mean `reno`?\n",
        ),
        (
            "controller = \"reno\"",
            "start = \"1 s\"",
            "test.toml:8:1: flow[0].controller: is missing; write controller = \"rapid\", or [compare] with several\n",
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
            "test.toml:10:12: flow[0].coalesce: 0 ps is not more than 0 and at most 1 s; write one like \"100 us\", or remove it\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nmisbehaviour = \"lies\"",
            "test.toml:10:16: flow[0].misbehaviour: there is no choice `lies`; there is `optimistic-acks`, `false-reports`\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nmisbehaviour = \"optimistic-acks\"",
            "test.toml:10:16: flow[0].misbehaviour: needs a `receive-window`; write one like 500 beside it\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\njitter = \"2 s\"",
            "test.toml:10:10: flow[0].jitter: 2 s is not more than 0 and at most 1 s; write one like \"10 us\", or remove it\n",
        ),
        (
            "\"reno\"",
            "\"reno\"\nquantum = \"0 s\"",
            "test.toml:10:11: flow[0].quantum: 0 ps is not more than 0 and at most 1 s; write one like \"50 us\", or remove it\n",
        ),
        (
            "\"reno\"",
            "\"bbr\"\necn = true",
            "test.toml:10:7: flow[0].ecn: `bbr` does not react to marks; write false, or remove it\n",
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
            "test.toml:3:10: packet: 0 B is not a packet size; write \"1 B\" to \"1 MB\"\n",
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
            "test.toml:3:7: sweep.path: is not a list of values; write \"path.rate\" = [\"1 Gbps\", \"10 Gbps\"], with the whole key in quotes\n",
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
            "test.toml:7:34: path.queue.target: this kind of queue has no `target`; it has `min`, `max`, `max-p`, `weight`, `gentle`, `wait`, `mean-packet`\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"red\", min = 50, max = 40 }",
            "test.toml:7:41: path.queue.max: 40 packets are less than min = 50; write as much or more\n",
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
            "test.toml:7:36: path.queue.interval: interval = 0 ps is out of range; write \"1 us\" to \"60 s\"\n",
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
        // Links that change, and that lose, reorder and duplicate packets.
        (
            "rate = \"1 Gbps\"",
            "trace = \"no/such.trace\"",
            "test.toml:4:9: path.trace: no/such.trace cannot be read (no such file or directory); check its name and permissions\n",
        ),
        (
            "rate = \"1 Gbps\"",
            "rate = \"1 Gbps\"\ntrace = \"a.trace\"",
            "test.toml:4:8: path.rate: is given together with `trace`; remove one of the two\n",
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
            "test.toml:7:16: path.packet-error: 1.5 is not a probability below 1; write one like 1e-6\n",
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
            "test.toml:7:33: path.packet-error.r: is zero, so that no packet would pass once the channel is bad; write one like 0.1\n",
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
            "\"1 bdp\"\naggregate = \"2 s\"",
            "test.toml:7:13: path.aggregate: 2 s is not more than 0 and at most 1 s; write one like \"4 ms\", or remove it\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"policer\", rate = \"0 bps\" }",
            "test.toml:7:36: path.queue.rate: is zero; write one like \"10 Mbps\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nqueue = { kind = \"policer\", burst = \"9 B\" }",
            "test.toml:7:37: path.queue.burst: 9 B does not pass a single packet; write at least \"1 kB\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nduplicate = 1.1",
            "test.toml:7:13: path.duplicate: 1.1 is not within 0 and 1; write one like 0.01\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\njitter = { mean = \"0 s\", correlation = \"50 ms\" }",
            "test.toml:7:19: path.jitter.mean: 0 ps is not more than 0 and at most 1 s; write one like \"5 ms\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\njitter = { mean = \"5 ms\", correlation = \"4 ms\" }",
            "test.toml:7:41: path.jitter.correlation: 4 ms is too short; write at least \"5 ms\", and better ten times the mean\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\njitter = { mean = \"5 ms\" }",
            "test.toml:7:10: path.jitter.correlation: is missing; write correlation = \"50 ms\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nshaper = { rate = \"0 bps\", burst = \"1 MB\" }",
            "test.toml:7:19: path.shaper.rate: is zero; write one like \"50 Mbps\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nshaper = { rate = \"5 Mbps\", burst = \"9 B\" }",
            "test.toml:7:37: path.shaper.burst: 9 B does not pass a single packet; write at least \"1 kB\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nshaper = { rate = \"5 Mbps\" }",
            "test.toml:7:10: path.shaper.burst: is missing; write burst = \"1 MB\"\n",
        ),
        // Links whose directions differ.
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nreverse = { rate = \"0 bps\" }",
            "test.toml:7:20: path.reverse.rate: is zero; write one like \"1 Gbps\"\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nreverse = { rate = \"1 Mbps\", trace = \"a.trace\" }",
            "test.toml:7:20: path.reverse.rate: is given together with `trace`; remove one of the two\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nreverse = { rtt = \"10 ms\" }",
            "test.toml:7:13: path.reverse.rtt: there is no key `rtt`; did you mean `rate`?\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nduplicate = 2\nreverse = { rate = \"1 Mbps\" }",
            "test.toml:7:13: path.duplicate: 2 is not within 0 and 1; write one like 0.01\n",
        ),
        (
            "\"1 bdp\"",
            "\"1 bdp\"\nreverse = { rate = \"1 Mbps\", queue = { kind = \"codel\", targt = \"5 ms\" } }",
            "test.toml:7:64: path.reverse.queue.targt: there is no key `targt`; did you mean `target`?\n",
        ),
        // Runs that need more memory than the machine has.
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
            "test.toml: --set path.rate.x: `x` is a key below a value that is not a table; name a key of the scenario\n",
        ),
        ("a.b.c=1", "test.toml: --set a: there is no key `a`; did you mean `ack`?\n"),
        (
            "controller.bik.smax=1",
            "test.toml: --set controller.bik: there is no controller `bik`; did you mean `bic`?\n",
        ),
        (
            "jitter=0 s",
            "test.toml: --set jitter: 0 ps is not more than 0 and at most 1 s; write one like \"10 us\", or remove it\n",
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
fn empty_names_are_answered_like_others() {
    assert!(errors(DUMBBELL, &["\"\"=1"]).contains("there is no key ``; there is `title`, "));
    let nameless = TWO_LINKS.replace("name = \"b\"", "name = \"\"");
    let lines = errors(&nameless, &[]);
    assert!(lines.contains("link[1].name: is empty; write one like \"first\"\n"), "{lines}");
    assert!(lines.contains("flow[0].route[1]: there is no link `b`; "), "{lines}");
    assert!("=1".parse::<Set>().unwrap_err().contains("a name is empty"));
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
fn a_file_that_is_not_there_is_named() {
    let problems = load(Path::new("no/such.toml"), &[], &MACHINE).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "no/such.toml: cannot be read (no such file or directory); check its name and permissions"
    );
}
