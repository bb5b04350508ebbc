use super::*;
use crate::testing::Parcel;
use crate::{DirectionSetup, Reorder};

fn link(ms: u64) -> LinkSetup {
    LinkSetup::plain("a", Rate::from_mbps(8.0), Duration::from_millis(ms), Buffer::UNLIMITED)
}

fn topology(links: &[LinkSetup]) -> Topology<Parcel> {
    Topology::new(links, 1).unwrap()
}

/// What a packet meets on a route before its end.
fn hops(topology: &mut Topology<Parcel>, first: u32) -> Vec<Hop> {
    let (mut packet, mut met) = (Parcel { hop: first, ..Parcel::new(0) }, Vec::new());
    loop {
        met.push(topology.hop(packet.hop));
        match topology.hop(packet.hop) {
            Hop::Lane(lane) => {
                topology.lanes.arrive(lane, control::Time::ZERO, &packet);
                packet = *topology.lanes.first(lane);
                topology.lanes.exit(lane);
            }
            Hop::Interface(_) => packet.hop += 1,
            Hop::Host => {
                met.pop();
                return met;
            }
        }
    }
}

fn hosts(route: &Route, ms: u64) -> HostPair<'_> {
    HostPair { route, rtt: Duration::from_millis(ms), access: None, interfaces: [None; 2] }
}

#[test]
fn hosts_have_half_of_the_delay_beyond_the_links_on_either_way() {
    let mut topology = topology(&[link(10), link(5)]);
    let route = Route { links: vec![0, 1], reverse: false };
    let [data, acks] = topology.connect(&hosts(&route, 51));
    assert_eq!(hops(&mut topology, data), [Hop::Lane(4), Hop::Lane(0), Hop::Lane(2)]);
    assert_eq!(hops(&mut topology, acks), [Hop::Lane(5), Hop::Lane(3), Hop::Lane(1)]);
    for lane in [4, 5] {
        let exit = topology.lanes.arrive(lane, control::Time::ZERO, &Parcel::new(0));
        assert_eq!(exit, Some(control::Time(10_500_000_000)));
    }
}

#[test]
fn routes_without_access_links_share_their_hops() {
    let mut topology = topology(&[link(10)]);
    let route = Route { links: vec![0], reverse: false };
    let first = topology.connect(&hosts(&route, 20));
    assert_eq!(topology.connect(&hosts(&route, 20)), first);
    assert_eq!(topology.add_route(&route), first[0]);
    assert_ne!(topology.connect(&hosts(&route, 21)), first);
    let mut topology = topology.with_access_links();
    assert_ne!(topology.connect(&hosts(&route, 20)), first);
}

/// Where routes begin with delays of their own, and all is known on the one link behind them.
#[test]
fn links_behind_which_all_is_known() {
    let flawed = |mut link: LinkSetup| {
        link.forward.corrupt = 0.1;
        link
    };
    for (links, used, forward, back) in [
        (vec![link(10)], vec![0], Some(0), Some(1)),
        (vec![flawed(link(10))], vec![0], None, None),
        (vec![link(10), link(10)], vec![0, 1], None, None),
    ] {
        let mut topology = topology(&links);
        let route = Route { links: used, reverse: false };
        let [data, acks] = topology.connect(&hosts(&route, 51));
        let lanes = [data, acks].map(|position| topology.access_lane(position).unwrap());
        assert_eq!(lanes[1], lanes[0] + 1);
        let position = |topology: &Topology<Parcel>, lane| topology.lanes.onto(lane).unwrap();
        let at_first = position(&topology, lanes[0]);
        assert_eq!(topology.answered_over(at_first), None, "the host may delay its answers");
        topology.answer_at_once([data, acks]);
        assert_eq!(topology.answered_over(position(&topology, lanes[0])), forward);
        assert_eq!(topology.ends_over(position(&topology, lanes[1])), back);
        assert_eq!(hops(&mut topology, data).len(), 1 + links.len());
    }
}

#[test]
fn interfaces_are_the_outermost_hops_of_data() {
    let mut topology = topology(&[link(10)]);
    let route = Route { links: vec![0], reverse: true };
    let pair = HostPair { interfaces: [Some(0), Some(1)], access: Some(Rate::from_mbps(1.0)), ..hosts(&route, 20) };
    let [data, acks] = topology.connect(&pair);
    assert_eq!(hops(&mut topology, data), [Hop::Interface(0), Hop::Lane(2), Hop::Lane(1), Hop::Interface(1)]);
    assert_eq!(hops(&mut topology, acks), [Hop::Lane(0)]);
}

#[test]
fn detours_lie_behind_the_described_links_in_both_directions() {
    let reorder = Some(Reorder { probability: 0.1, delay: Duration::from_millis(3) });
    let mut flawed = link(1);
    (flawed.forward.reorder, flawed.forward.duplicate) = (reorder, 0.1);
    let topology = topology(&[link(1), flawed]);
    assert_eq!((topology.described(), topology.lanes.len()), (4, 8));
    for index in 0..2 {
        assert_eq!(topology.detour(index, Fate::Reordered), None);
    }
    for (index, [reordered, duplicated]) in [(2, [4, 5]), (3, [6, 7])] {
        assert_eq!(topology.detour(index, Fate::Reordered), Some(reordered));
        assert_eq!(topology.detour(index, Fate::Duplicated), Some(duplicated));
        assert_eq!(topology.detour(index, Fate::Lost), None);
    }
    assert_eq!(topology.detour(6, Fate::Reordered), None, "a detour has none of its own");
}

/// 8 Mbps and 2 ms there, 1 Mbps and 7 ms back: a packet of 1000 bytes takes 1 + 2 ms there and 8 + 7 ms back.
#[test]
fn a_link_may_differ_in_its_directions() {
    let reverse = DirectionSetup {
        duplicate: 0.1,
        ..DirectionSetup::plain(Rate::from_mbps(1.0), Duration::from_millis(7), Buffer::UNLIMITED)
    };
    let mut topology = topology(&[LinkSetup { reverse: Some(reverse), ..link(2) }]);
    let route = Route { links: vec![0], reverse: false };
    assert_eq!(topology.round_trip(&route), Duration::from_millis(9));
    let [data, acks] = topology.connect(&hosts(&route, 9));
    assert_eq!([hops(&mut topology, data), hops(&mut topology, acks)], [[Hop::Lane(0)], [Hop::Lane(1)]]);
    for (lane, ms) in [(0, 3), (1, 15)] {
        let later = control::Time::ZERO + Duration::from_millis(1000);
        let exit = topology.lanes.arrive(lane, later, &Parcel::new(0));
        assert_eq!(exit, Some(later + Duration::from_millis(ms)));
    }
    assert_eq!([0, 1].map(|index| topology.detour(index, Fate::Duplicated)), [None, Some(2)]);
}
