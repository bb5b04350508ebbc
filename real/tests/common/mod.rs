//! The experiment of the tests.

use experiment::Experiment;
use scenario::Machine;

/// A flow with this controller for 3 s, over 20 Mbps and 40 ms.
pub fn experiment(controller: &str) -> Experiment {
    let text = format!(
        "duration = \"3 s\"\npacket = \"{} B\"\ncompare.controllers = [\"{controller}\"]\n\
         path = {{ rate = \"20 Mbps\", rtt = \"40 ms\", buffer = \"1 bdp\" }}\n",
        thalweg_real::PACKET.0
    );
    let mut plan = scenario::read("test", &text, &[], &Machine::this(None)).expect("a scenario");
    plan.runs.remove(0).experiment
}
