use super::*;
use crate::contestant::Congestion;
use scenario::Machine;
use serde_json::Value;

/// The first flow of a scenario with this controller, whose parameters are written in TOML.
fn flow(controller: &str, parameters: &str) -> Flow {
    let router = if controller.starts_with("rcp") { ", queue = { kind = \"rcp-ac\" }" } else { "" };
    let text = format!(
        "duration = \"1 s\"\ncompare.controllers = [\"{controller}\"]\n\
         path = {{ rate = \"20 Mbps\", rtt = \"40 ms\", buffer = \"1 bdp\"{router} }}\n\
         [controller.{controller}]\n{parameters}"
    );
    let plan = scenario::read("test", &text, &[], &Machine::this(None)).expect("a scenario");
    plan.runs[0].experiment.flows[0].clone()
}

/// The parameters with which `wire` runs the flow's controller.
fn parameters(flow: &Flow) -> Value {
    serde_json::from_str(&choice(flow).unwrap().parameters()).unwrap()
}

#[test]
fn parameters_that_are_auto_are_left_to_the_host() {
    for (controller, estimator) in [("rapid", "auto"), ("thalweg", "regression")] {
        let parameters = parameters(&flow(controller, ""));
        assert_eq!([&parameters["estimator"], &parameters["resolution"]], [estimator, "auto"], "{controller}");
    }
}

#[test]
fn the_simulators_estimator_can_be_asked_for_by_name() {
    for (controller, estimator) in [("rapid", "onset"), ("thalweg", "onset"), ("thalweg", "regression")] {
        let given = format!("estimator = \"{estimator}\"\nresolution = \"50 ps\"\n");
        let parameters = parameters(&flow(controller, &given));
        assert_eq!([&parameters["estimator"], &parameters["resolution"]], [estimator, "50 ps"], "{controller}");
    }
}

#[test]
fn packets_of_controllers_with_stamps_have_a_header_for_them() {
    for (controller, header) in [("rapid", wire::header::SIZE), ("cubic", 0), ("rcp-ac", wire::header::ROUTED)] {
        let flow = flow(controller, "");
        assert_eq!(framing(Stack::Wire, &flow).packet, PACKET + header as u64, "{controller}");
        assert_eq!(framing(Stack::Quinn(Congestion::Cubic), &flow).packet, PACKET, "{controller}");
    }
}
