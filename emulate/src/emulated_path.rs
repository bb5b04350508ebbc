//! The links and routes that an emulator lets packets cross.

use crate::Handle;
use control::Duration;
use path::{HostPair, LinkSetup, Topology};

/// By how much less packets are delayed than the path says, where its propagation delay is at least that: as long as
/// they take on average from when they leave the last link to when the kernel has them, because the emulator works in
/// rounds and takes time to wake. Measured on a virtual machine at 1 Gbps: 47 us in the median, and 94 us in 99 %.
const AHEAD: Duration = Duration::from_micros(50);

/// Links, empty, and routes over them.
pub struct EmulatedPath {
    /// The links. Each route begins with an access link of its own.
    pub(crate) topology: Topology<Handle>,
    /// Of each route, the positions in the topology at which packets begin forward and back.
    pub(crate) routes: Vec<[u32; 2]>,
    ahead: Duration,
}

impl EmulatedPath {
    /// The links as described, and a route for each pair of hosts. Everything random follows from `seed`.
    ///
    /// # Errors
    /// If a link names a router protocol that does not exist, or parameters that the protocol does not take.
    pub fn new<'a>(
        links: &[LinkSetup],
        seed: u64,
        hosts: impl IntoIterator<Item = HostPair<'a>>,
    ) -> Result<EmulatedPath, String> {
        let spare: Vec<Duration> = links.iter().map(spare).collect();
        let hosts: Vec<HostPair> = hosts.into_iter().collect();
        let ahead = hosts.iter().map(|pair| spare_of_route(pair, links, &spare)).min().unwrap_or_default().min(AHEAD);
        let links: Vec<LinkSetup> = links.iter().zip(&spare).map(|(link, &spare)| shortened(link, spare)).collect();
        let mut topology = Topology::new(&links, seed)?.with_access_links();
        // What the links of a route have been shortened by beyond `ahead` comes back as delay of its access links.
        let routes =
            hosts.into_iter().map(|pair| topology.connect(&HostPair { rtt: pair.rtt - ahead.scale(2.0), ..pair }));
        let routes = routes.collect();
        Ok(EmulatedPath { topology, routes, ahead })
    }

    /// By how much less packets of all routes are delayed in each direction than was described: 50 us, or the shortest
    /// propagation delay of a route.
    pub fn ahead(&self) -> Duration {
        self.ahead
    }

    /// Number of link directions that are observed: those of the described links, in the order of
    /// [`LinkDirection::index`](path::LinkDirection::index).
    pub(crate) fn observed(&self) -> usize {
        self.topology.described()
    }
}

/// By how much a link's delay can be shortened at any time and in either direction, [`AHEAD`] at most.
fn spare(link: &LinkSetup) -> Duration {
    let delays = link.each().flat_map(|direction| {
        let later = direction.changes.iter().filter_map(|change| change.delay);
        later.chain([direction.delay])
    });
    delays.fold(AHEAD, Duration::min)
}

/// By how much a route's delay can be shortened in either direction, given what its links can spare.
fn spare_of_route(pair: &HostPair, links: &[LinkSetup], spare: &[Duration]) -> Duration {
    let sum = |of: &dyn Fn(usize) -> Duration| pair.route.links.iter().map(|&link| of(link)).sum::<Duration>();
    // Access links have half of what the links leave of the round trip, in each direction.
    (pair.rtt - sum(&|link| links[link].round_trip())).scale(0.5) + sum(&|link| spare[link])
}

/// The link with propagation delays that are shorter by `spare`, before and after its changes.
fn shortened(link: &LinkSetup, spare: Duration) -> LinkSetup {
    let mut link = link.clone();
    for direction in link.each_mut() {
        direction.delay -= spare;
        let later = direction.changes.iter_mut().filter_map(|change| change.delay.as_mut());
        later.for_each(|delay| *delay -= spare);
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Rate, Time};
    use path::{Buffer, Change, DirectionSetup, Route};

    const US: fn(u64) -> Duration = Duration::from_micros;

    /// How much earlier packets are due on a route over `links` with these delays, in microseconds, and a round trip
    /// that is longer by `beyond`; and the round trip that is left.
    fn ahead(links: &[u64], change: Option<u64>, beyond: u64) -> (Duration, Duration) {
        let mut setups: Vec<LinkSetup> =
            links.iter().map(|&us| LinkSetup::plain("", Rate::from_mbps(1.0), US(us), Buffer::UNLIMITED)).collect();
        if let Some(us) = change {
            setups[0].forward.changes.push(Change { at: Time::ZERO, rate: None, delay: Some(US(us)) });
        }
        let route = Route { links: (0..links.len()).collect(), reverse: false };
        let rtt = US(2 * links.iter().sum::<u64>() + beyond);
        let pair = HostPair { route: &route, rtt, access: None, interfaces: [None; 2] };
        let path = EmulatedPath::new(&setups, 1, [pair]).unwrap();
        (path.ahead(), path.topology.round_trip(&route))
    }

    #[test]
    fn a_path_is_ahead_by_what_its_delays_can_spare() {
        assert_eq!(ahead(&[10_000], None, 0), (US(50), US(2 * 9_950)));
        assert_eq!(ahead(&[20], None, 0), (US(20), US(0)), "a link that spares all that it has");
        assert_eq!(ahead(&[20], None, 40), (US(40), US(0)), "the access links spare the rest");
        assert_eq!(ahead(&[1000, 1000], None, 0), (US(50), US(2 * 1900)), "the access links give back 50 us");
        assert_eq!(ahead(&[1000], Some(30), 0), (US(30), US(2 * 970)), "a change to a shorter delay");
        assert_eq!(ahead(&[0], None, 0), (US(0), US(0)));
    }

    /// A link of 10 ms there and 20 us back: both directions are shortened by 20 us, and the hosts' access, which has
    /// 15 us in each, by the other 15 us.
    #[test]
    fn the_direction_that_spares_less_decides() {
        let mut link = LinkSetup::plain("", Rate::from_mbps(1.0), US(10_000), Buffer::UNLIMITED);
        link.reverse = Some(DirectionSetup { delay: US(20), ..link.forward.clone() });
        let route = Route { links: vec![0], reverse: false };
        let pair = HostPair { route: &route, rtt: US(10_050), access: None, interfaces: [None; 2] };
        let path = EmulatedPath::new(&[link], 1, [pair]).unwrap();
        assert_eq!((path.ahead(), path.topology.round_trip(&route)), (US(35), US(9_980)));
    }
}
