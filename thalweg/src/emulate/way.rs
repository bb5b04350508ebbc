//! From a scenario to the links that real packets cross: those of its first flow.

use crate::failure::Failure;
use control::{Bytes, Duration};
use emulate::{Direction, Handle, Hop, Path};
use lab::{Plan, Run};
use path::{Buffer, Link};
use sim::{Experiment, Flow};

/// The way of a scenario's first flow.
pub struct Way {
    /// The run that it is from.
    pub run: Run,
    /// Its links, in the order in which forward packets cross them.
    links: Vec<usize>,
    /// What the RTT exceeds the links' by.
    beyond: Duration,
}

impl Way {
    /// The way in `plan`, of the scenario called `file`.
    pub fn new(file: &str, plan: &Plan) -> Result<Way, Failure> {
        let wrong = |why: &str| Err(Failure::Wrong(vec![format!("{file}: {why}")]));
        let Some(run) = plan.runs.first() else { return wrong("makes no run; write [path]") };
        if !run.settings.is_empty() {
            return wrong("sweep: there is one path to emulate; remove it, and --set the value that you want");
        }
        let Some(Flow { route, rtt, .. }) = run.experiment.flows.first() else {
            return wrong("flow: is missing; packets take the first flow's route, so write [[flow]] with a controller");
        };
        let links = route.links.clone();
        let crossed: Duration = links.iter().map(|&link| run.experiment.links[link].delay.scale(2.0)).sum();
        Ok(Way { run: run.clone(), beyond: *rtt - crossed, links })
    }

    /// The first flow.
    pub fn flow(&self) -> &Flow {
        &self.run.experiment.flows[0]
    }

    /// Size of its full packets.
    pub fn packet(&self) -> Bytes {
        self.flow().packet
    }

    /// The hops of both directions, empty.
    pub fn path(&self) -> Result<Path, Failure> {
        let build = |direction| self.hops_of(direction).map_err(Failure::Failed);
        Ok(Path::of([build(Direction::Forward)?, build(Direction::Reverse)?]))
    }

    fn hops_of(&self, direction: Direction) -> Result<Vec<Hop>, String> {
        // As in the simulator: the sender's access link is before its way out, and either way has half of the remaining delay.
        let half = Duration(self.beyond.0 / 2);
        let (access, delay) = match direction {
            Direction::Forward => (self.flow().access, half),
            Direction::Reverse => (None, self.beyond - half),
        };
        let access: Link<Handle> = Link::new(access, delay, Buffer::Unlimited);
        let mut hops = vec![Hop::plain(access)];
        for (link, back) in self.crossed(direction) {
            let sim::Link { reorder, duplicate, .. } = &self.run.experiment.links[link];
            hops.push(Hop {
                link: self.run.experiment.links[link].build(self.run.experiment.seed_of(link, back))?,
                late: reorder.map(|reorder| reorder.delay),
                twice: *duplicate > 0.0,
            });
        }
        Ok(hops)
    }

    /// The links that packets of `direction` cross, in order, and whether from their far end.
    fn crossed(&self, direction: Direction) -> Vec<(usize, bool)> {
        let back = self.flow().route.reverse != (direction == Direction::Reverse);
        let mut links: Vec<_> = self.links.iter().map(|&link| (link, back)).collect();
        if back {
            links.reverse();
        }
        links
    }

    /// Each hop of [`Way::path`] that is a link of the scenario: its place among all, and what results call it.
    pub fn named(&self) -> Vec<(usize, String)> {
        let Experiment { links, .. } = &self.run.experiment;
        let mut named = Vec::new();
        let mut first = 1;
        for (direction, note) in [(Direction::Forward, ""), (Direction::Reverse, " (reverse)")] {
            let crossed = self.crossed(direction);
            named
                .extend(crossed.iter().enumerate().map(|(i, &(link, _))| (first + i, links[link].name.clone() + note)));
            first += crossed.len() + 1;
        }
        named
    }
}
