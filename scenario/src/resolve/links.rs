//! The links of a run, with the delays, buffers and queues that follow from the flows that cross them.

use super::flows::FlowGroup;
use super::network::{DraftLink, Network};
use super::traffic::PlannedWorkload;
use crate::keys::Scenario;
use crate::problems::Problems;
use crate::queue::Site;
use crate::values::buffer::BufferSize;
use control::{Bytes, Duration};
use path::{Buffer, LinkSetup, queue};

/// The links of `network`, as `groups` and `workloads` cross them.
pub(super) fn links(
    network: &Network,
    scenario: &Scenario,
    groups: &[FlowGroup],
    workloads: &[PlannedWorkload],
    problems: &mut Problems,
) -> Vec<LinkSetup> {
    let finish = |(i, link): (usize, &DraftLink)| {
        let crossing = Crossing {
            groups: groups.iter().filter(|group| group.route().links.contains(&i)).collect(),
            workloads: workloads.iter().filter(|planned| planned.workload.route.links.contains(&i)).collect(),
        };
        let buffer = crossing.buffer(link, network, scenario, problems);
        let holds = match buffer {
            Buffer::Packets(packets) => Bytes(packets.saturating_mul(scenario.packet.0)),
            Buffer::Bytes(bytes) => bytes,
        };
        let site = Site {
            queue: queue::Site { rate: link.rate, buffer, packet: scenario.packet },
            router_buffer: holds,
            controllers: crossing.controllers(),
        };
        let (queue, router) = link.queue.read(&site, link.at.key("queue"), problems);
        LinkSetup {
            name: link.name.to_string(),
            rate: link.rate,
            delay: link.delay.unwrap_or_else(|| crossing.delay(network)),
            changes: link.changes.clone(),
            trace: link.trace.clone(),
            aggregate: link.aggregate,
            buffer,
            queue,
            router,
            errors: link.errors,
            corrupt: link.corrupt,
            reorder: link.reorder,
            duplicate: link.duplicate,
        }
    };
    network.links.iter().enumerate().map(finish).collect()
}

/// The flows and the connections that cross one link.
struct Crossing<'a> {
    groups: Vec<&'a FlowGroup>,
    workloads: Vec<&'a PlannedWorkload>,
}

impl Crossing<'_> {
    /// The one-way delay of a link that is given none: half of what the other links leave of the smallest RTT. So all
    /// of the smallest RTT is on links that flows share, and none of it in access links.
    fn delay(&self, network: &Network) -> Duration {
        let rest = |rtt: Duration, links: &[usize]| rtt - network.round_trip(links);
        let flows = self.groups.iter().map(|group| rest(group.rtt.low, &group.route().links));
        let connections =
            self.workloads.iter().map(|planned| rest(planned.expected.least_rtt, &planned.workload.route.links));
        Duration(flows.chain(connections).min().unwrap_or(network.path_rtt()).0 / 2)
    }

    /// The buffer of `link`, in packets of the scenario's size or in bytes.
    fn buffer(&self, link: &DraftLink, network: &Network, scenario: &Scenario, problems: &mut Problems) -> Buffer {
        let packets = |seconds: f64| {
            let packets = seconds * link.rate.as_bps() / scenario.packet.as_bits();
            Buffer::Packets((packets.round() as u64).max(1))
        };
        match link.buffer {
            BufferSize::Packets(packets) => Buffer::Packets(packets),
            BufferSize::Bytes(bytes) => {
                let message = format!("{bytes} does not hold a single packet; write at least \"{}\"", scenario.packet);
                problems.unless(bytes >= scenario.packet, link.at.key("buffer"), message);
                Buffer::Bytes(bytes)
            }
            BufferSize::Bdp(times) => {
                let flows: f64 = self.groups.iter().map(|group| group.count as f64).sum();
                let all: f64 = self.groups.iter().map(|group| group.count as f64 * group.rtt.mean_secs()).sum();
                let rtt = if flows > 0.0 { all / flows } else { network.path_rtt().as_secs() };
                packets(times * rtt)
            }
            BufferSize::Time(time) => packets(time.as_secs()),
        }
    }

    /// The controllers of all that cross the link.
    fn controllers(&self) -> Vec<&str> {
        let flows = self.groups.iter().map(|group| group.controller());
        flows.chain(self.workloads.iter().map(|planned| planned.workload.controller.as_str())).collect()
    }
}
