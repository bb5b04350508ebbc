//! The links of a run, with the delays, buffers and queues that follow from the flows that cross them.

use super::draft_direction::DraftDirection;
use super::draft_link::DraftLink;
use super::flows::FlowGroup;
use super::network::Network;
use super::traffic::PlannedWorkload;
use crate::keys::Scenario;
use crate::problems::Problems;
use crate::queue::Site;
use crate::values::buffer::BufferSize;
use control::{Bytes, Duration};
use path::{Buffer, DirectionSetup, LinkSetup, Shaper, queue};

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
        let [out, back] = crossing.delays(link, network);
        LinkSetup {
            name: link.name.to_string(),
            forward: crossing.direction(&link.forward, out, network, scenario, problems),
            reverse: link.reverse.as_ref().map(|it| crossing.direction(it, back, network, scenario, problems)),
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
    /// The one-way delays of a link, there and back. Where the scenario gives none, it is what the other links, and the
    /// link's other direction, leave of the smallest RTT; half of that if neither direction is given one. So all of the
    /// smallest RTT is on links that flows share, and none of it in access links.
    fn delays(&self, link: &DraftLink, network: &Network) -> [Duration; 2] {
        let rest = |rtt: Duration, links: &[usize]| rtt - network.round_trip(links);
        let flows = self.groups.iter().map(|group| rest(group.rtt.low, &group.route().links));
        let connections =
            self.workloads.iter().map(|planned| rest(planned.expected.least_rtt, &planned.workload.route.links));
        let left = flows.chain(connections).min().unwrap_or(network.path_rtt());
        match link.delays() {
            [None, None] => [Duration(left.0 / 2); 2],
            given => given.map(|delay| delay.unwrap_or(left)),
        }
    }

    /// A direction of the link, whose delay is `delay`.
    fn direction(
        &self,
        draft: &DraftDirection,
        delay: Duration,
        network: &Network,
        scenario: &Scenario,
        problems: &mut Problems,
    ) -> DirectionSetup {
        if let Some(Shaper { burst, .. }) = draft.shaper {
            let message = format!("{burst} does not pass a single packet; write at least \"{}\"", scenario.packet);
            problems.unless(burst >= scenario.packet, draft.at.key("shaper").key("burst"), message);
        }
        let buffer = self.buffer(draft, network, scenario, problems);
        let holds = match buffer {
            Buffer::Packets(packets) => Bytes(packets.saturating_mul(scenario.packet.0)),
            Buffer::Bytes(bytes) => bytes,
        };
        let site = Site {
            queue: queue::Site { rate: draft.capacity(), buffer, packet: scenario.packet },
            router_buffer: holds,
            controllers: self.controllers(),
        };
        let (queue, router) = draft.queue.read(&site, draft.at.key("queue"), problems);
        DirectionSetup {
            rate: draft.rate,
            shaper: draft.shaper,
            delay,
            changes: draft.changes.clone(),
            trace: draft.trace.clone(),
            aggregate: draft.aggregate,
            jitter: draft.jitter,
            buffer,
            queue,
            router,
            errors: draft.errors,
            corrupt: draft.corrupt,
            reorder: draft.reorder,
            duplicate: draft.duplicate,
        }
    }

    /// The buffer of a direction, in packets of the scenario's size or in bytes.
    fn buffer(
        &self,
        draft: &DraftDirection,
        network: &Network,
        scenario: &Scenario,
        problems: &mut Problems,
    ) -> Buffer {
        let packets = |seconds: f64| {
            let packets = seconds * draft.capacity().as_bps() / scenario.packet.as_bits();
            Buffer::Packets((packets.round() as u64).max(1))
        };
        match draft.buffer {
            BufferSize::Packets(packets) => Buffer::Packets(packets),
            BufferSize::Bytes(bytes) => {
                let message = format!("{bytes} does not hold a single packet; write at least \"{}\"", scenario.packet);
                problems.unless(bytes >= scenario.packet, draft.at.key("buffer"), message);
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
