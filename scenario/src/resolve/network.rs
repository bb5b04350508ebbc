//! The links of a scenario, and routes over them, before the flows that cross them are known.

use super::draft_link::DraftLink;
use crate::checks;
use crate::files::trace::TraceFiles;
use crate::key_path::KeyPath;
use crate::keys::{Direction, Path, Scenario};
use crate::problems::Problems;
use crate::values::time_range::TimeRange;
use crate::wording;
use control::{Duration, Rate};
use path::{LinkDirection, Route};

/// The links of a scenario: that of `[path]` first, if there is one, then each `[[link]]`.
pub(super) struct Network<'s> {
    /// `[path]`.
    path: Option<&'s Path>,
    /// The links, in the order in which the experiment has them.
    pub links: Vec<DraftLink<'s>>,
}

impl<'s> Network<'s> {
    /// Checks the links. None if there is no link.
    pub fn new(scenario: &'s Scenario, traces: &TraceFiles, problems: &mut Problems) -> Option<Network<'s>> {
        let mut links: Vec<DraftLink> = Vec::new();
        if let Some(path) = &scenario.path {
            let at = KeyPath::of("path");
            problems.unless(path.rtt > Duration::ZERO, at.key("rtt"), "is zero; write one like \"100 ms\"");
            if let Some(access) = path.access {
                checks::access(access, at.key("access"), problems);
            }
            links.push(DraftLink::of_path(path, at, traces, problems));
        }
        for (i, link) in scenario.link.iter().enumerate() {
            let (at, name) = (KeyPath::of("link").index(i), &link.name);
            let taken = links.iter().any(|other| other.name == name);
            let message = format!("there is another link called `{name}`; give this one a name of its own");
            problems.unless(!taken, at.key("name"), message);
            checks::name(name, at.key("name"), "write one like \"first\"", problems);
            links.push(DraftLink::of_link(link, at, traces, problems));
        }
        if links.is_empty() {
            problems.add(
                KeyPath::of("path"),
                "is missing, and there is no [[link]]; write [path] with its rate, rtt and buffer",
            );
            return None;
        }
        Some(Network { path: scenario.path.as_ref(), links })
    }

    /// The route over the links called `names`, or over the bottleneck if no names are given. None if there is no such
    /// route; the problem is that of the key `route` below `at`.
    pub fn route(
        &self,
        names: Option<&[String]>,
        direction: Direction,
        at: &KeyPath,
        problems: &mut Problems,
    ) -> Option<Route> {
        let at = at.key("route");
        let reverse = direction == Direction::Reverse;
        let known: Vec<&str> = self.links.iter().map(|link| link.name).collect();
        let Some(names) = names else {
            problems.unless(self.path.is_some(), at, format!("is missing; write one like route = [\"{}\"]", known[0]));
            return self.path.map(|_| Route { links: vec![0], reverse });
        };
        problems.unless(!names.is_empty(), at.clone(), format!("has no link; write one like [\"{}\"]", known[0]));
        let mut links = Vec::new();
        for (i, name) in names.iter().enumerate() {
            match known.iter().position(|k| k == name) {
                None => problems.add(at.index(i), wording::unknown("link", name, &known)),
                Some(link) if links.contains(&link) => {
                    problems.add(at.index(i), format!("`{name}` is crossed twice; remove one of the two"));
                }
                Some(link) => links.push(link),
            }
        }
        (links.len() == names.len() && !links.is_empty()).then_some(Route { links, reverse })
    }

    /// The round-trip delay of `links`, as far as the scenario gives their delays.
    pub fn round_trip(&self, links: &[usize]) -> Duration {
        links.iter().flat_map(|link| self.links[*link].delays()).flatten().sum()
    }

    /// The rate of the narrowest link of `route`, in the direction in which the route is crossed.
    pub fn narrowest(&self, route: &Route) -> Rate {
        let rate = |to: LinkDirection| self.links[to.link].direction(to.reverse).capacity();
        let rates = route.directions(false).into_iter().map(rate);
        rates.reduce(|least, rate| if rate < least { rate } else { least }).unwrap_or(Rate::ZERO)
    }

    /// The RTT of flows over `links` that do not give one.
    pub fn default_rtt(&self, links: &[usize]) -> Duration {
        match self.path {
            Some(path) if links.contains(&0) => path.rtt,
            _ => self.round_trip(links),
        }
    }

    /// The rate of the access links of flows that do not give one; none for no limit.
    pub fn default_access(&self) -> Option<Rate> {
        self.path?.access
    }

    /// The RTTs of flows over `route` whose table is `at`: those `given`, or else the route's. Adds a problem if an RTT
    /// is shorter than the delays of the links, there and back.
    pub fn flow_rtt(
        &self,
        given: Option<TimeRange>,
        route: &Route,
        at: &KeyPath,
        problems: &mut Problems,
    ) -> TimeRange {
        let rtt = given.unwrap_or_else(|| TimeRange::fixed(self.default_rtt(&route.links)));
        let links = self.round_trip(&route.links);
        if rtt.low < links {
            let message =
                format!("{} is less than its links' delays, there and back; write at least \"{links}\"", rtt.low);
            problems.add(at.key("rtt"), message);
        } else {
            problems.unless(rtt.low > Duration::ZERO, at.key("rtt"), "is zero; write one like \"100 ms\"");
        }
        rtt
    }

    /// The RTT of `[path]`; zero if there is none.
    pub fn path_rtt(&self) -> Duration {
        self.path.map_or(Duration::ZERO, |path| path.rtt)
    }
}
