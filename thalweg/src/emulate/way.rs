//! From a scenario to the links that real packets cross: the ways of its flows.

use crate::failure::Failure;
use control::{Bytes, Duration};
use emulate::{Direction, Hop, Path};
use experiment::Run;
use experiment::{Experiment, Flow};
use path::{Buffer, Link};
use scenario::Plan;

/// The ways of the first flows of a run.
pub struct Ways {
    /// The run that they are from.
    pub run: Run,
    /// How many flows, at least one.
    count: usize,
}

impl Ways {
    /// The way of the first flow in `plan`, of the scenario called `file`.
    pub fn first(file: &str, plan: &Plan) -> Result<Ways, Failure> {
        let wrong = |why: &str| Err(Failure::Wrong(vec![format!("{file}: {why}")]));
        let Some(run) = plan.runs.first() else { return wrong("makes no run; write [path]") };
        if !run.identity.settings.is_empty() {
            return wrong("sweep: there is one path to emulate; remove it, and --set the value that you want");
        }
        if run.experiment.flows.is_empty() {
            return wrong("flow: is missing; packets take the first flow's route, so write [[flow]] with a controller");
        }
        Ok(Ways { run: run.clone(), count: 1 })
    }

    /// The ways of all flows of `run`, which has some.
    pub fn all(run: Run) -> Ways {
        Ways { count: run.experiment.flows.len(), run }
    }

    /// The first flow.
    pub fn flow(&self) -> &Flow {
        &self.run.experiment.flows[0]
    }

    /// Size of its full packets.
    pub fn packet(&self) -> Bytes {
        self.flow().packet
    }

    /// The links, empty, and a route per flow.
    pub fn path(&self) -> Result<Path, Failure> {
        let Experiment { links, flows, .. } = &self.run.experiment;
        let mut hops = Vec::new();
        for (i, link) in links.iter().enumerate() {
            for back in [false, true] {
                let built = link.build(self.run.experiment.seed_of(i, back)).map_err(Failure::Failed)?;
                let late = link.reorder.map(|reorder| reorder.delay);
                hops.push(Hop { link: built, late, twice: link.duplicate > 0.0 });
            }
        }
        let mut routes = Vec::new();
        for flow in &flows[..self.count] {
            // As in the simulator: the sender's access link is before its way out, and either way has half of the delay beyond the
            // links'.
            let crossed: Duration = flow.route.links.iter().map(|&link| links[link].delay.scale(2.0)).sum();
            let beyond = flow.rtt - crossed;
            let half = Duration(beyond.0 / 2);
            let mut route = [vec![], vec![]];
            let ends = [(Direction::Forward, flow.access, half), (Direction::Reverse, None, beyond - half)];
            for (direction, access, delay) in ends {
                let way = &mut route[direction as usize];
                way.push(hops.len());
                hops.push(Hop::plain(Link::new(access, delay, Buffer::Unlimited)));
                way.extend(crossed_by(flow, direction));
            }
            routes.push(route);
        }
        Ok(Path { hops, routes })
    }

    /// Each hop of [`Ways::path`] that the first flow crosses and that is a link of the scenario, and what results call it.
    pub fn both_ways(&self) -> Vec<(usize, String)> {
        let named = |direction, note: &'static str| {
            let name = move |hop: usize| (hop, self.run.experiment.links[hop / 2].name.clone() + note);
            crossed_by(self.flow(), direction).into_iter().map(name)
        };
        named(Direction::Forward, "").chain(named(Direction::Reverse, " (reverse)")).collect()
    }

    /// The directions of the links as the simulator lists them: those that data crosses, or forward if none does.
    pub fn data_ways(&self) -> Vec<(usize, String)> {
        let Experiment { links, flows, .. } = &self.run.experiment;
        let mut used = vec![[false; 2]; links.len()];
        flows
            .iter()
            .flat_map(|flow| crossed_by(flow, Direction::Forward))
            .for_each(|hop| used[hop / 2][hop % 2] = true);
        let first = |link: usize| usize::from(used[link] == [false, true]);
        let firsts = (0..links.len()).map(|link| 2 * link + first(link));
        let seconds = (0..links.len()).filter(|&link| used[link] == [true; 2]).map(|link| 2 * link + 1);
        let name = |hop: usize| (hop, links[hop / 2].name.clone() + if hop % 2 == 1 { " (reverse)" } else { "" });
        firsts.chain(seconds).map(name).collect()
    }
}

/// The hops of links that packets of a flow cross in a direction, in order.
fn crossed_by(flow: &Flow, direction: Direction) -> Vec<usize> {
    let back = flow.route.reverse != (direction == Direction::Reverse);
    let mut hops: Vec<_> = flow.route.links.iter().map(|&link| 2 * link + usize::from(back)).collect();
    if back {
        hops.reverse();
    }
    hops
}
