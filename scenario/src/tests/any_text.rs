//! Any text is answered with a plan or with error messages of one line each.

use super::*;
use path::queue::registry;
use proptest::prelude::*;
use proptest::sample::select;
use std::num::NonZero;

/// Pieces of scenarios, correct and wrong, that random texts are made of. Random characters alone would hardly ever
/// pass the TOML parser.
fn piece() -> impl Strategy<Value = String> {
    let disciplines: Vec<&str> = registry::all().iter().map(|discipline| discipline.name).collect();
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
        Just("{ rate = \"1 Mbps\", burst = \"10 kB\" }".to_string()),
        Just("{ mean = \"1 ms\", correlation = \"10 ms\" }".to_string()),
        Just("[{ at = \"1 s\", rate = \"2 Mbps\", delay = \"1 ms\" }]".to_string()),
        Just("{ kind = \"ared\", min = 1, max-p = 0.5, interval = \"1 s\" }".to_string()),
        "(reno|newreno|cbr|poisson|onoff|flows|web|tmix|reverse|sack|a|b)".prop_map(|name| format!("\"{name}\"")),
        select(disciplines).prop_map(|name| format!("\"{name}\"")),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| format!("{n:?}")),
    ];
    let key = "(title|duration|seed|sample|measure|packet|ack|delayed-ack|coalesce|jitter|quantum|min-rto|rate|trace|shaper|change|aggregate|corrupt|reorder|duplicate|rtt|buffer|queue|packet-error|access|delay|name|\
               controller|start|stop|size|route|direction|count|receive-window|max-burst|pacing|recovery|misbehaviour|kind|on|off|shape|load|per-second|objects|object|request|think|handshake|file|compare.controllers|\
               reverse.rate|reverse.buffer|reverse.delay|reverse.jitter|sweep.\"path.rate\"|sweep.\"flow\\[0\\].count\"|controller.reno.[a-z]{1,4}|[a-z]{1,3})";
    let header = "(\\[path\\]|\\[path.reverse\\]|\\[\\[link\\]\\]|\\[\\[flow\\]\\]|\
                  \\[\\[traffic\\]\\]|\\[measure\\]|\\[sweep\\]|\\[compare\\])\n";
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
        // A correct scenario with a single change gets further than a random text.
        check_total(base, &format!("path.{}", set.trim()));
        check_total(base, &format!("flow[0].{}", set.trim()));
        check_total(base, set.trim());
    }
}

/// Checks that `text`, with `set`, gives a plan with runs or at least one error message, and each message in one line.
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
