//! From a scenario to the links that real packets cross: the ways of its flows.

use crate::Error;
use control::Bytes;
use emulate::Path;
use experiment::{Experiment, Flow};
use path::LinkDirection;

/// The ways of the first flows of an experiment.
#[derive(Clone)]
pub struct Ways {
    /// The experiment that they are from.
    pub experiment: Experiment,
    /// How many flows, at least one.
    count: usize,
}

impl Ways {
    /// The way of the first flow.
    pub fn first(experiment: &Experiment) -> Result<Ways, Error> {
        match experiment.flows.is_empty() {
            true => Err(Error::Unsupported(
                "flow: is missing; packets take the first flow's route, so write [[flow]] with a controller".into(),
            )),
            false => Ok(Ways { experiment: experiment.clone(), count: 1 }),
        }
    }

    /// The ways of all flows, of which there are some.
    pub fn all(experiment: Experiment) -> Ways {
        Ways { count: experiment.flows.len(), experiment }
    }

    /// The first flow.
    pub fn flow(&self) -> &Flow {
        &self.experiment.flows[0]
    }

    /// Size of its full packets.
    pub fn packet(&self) -> Bytes {
        self.flow().packet
    }

    /// The links, empty, and a route per flow.
    pub fn path(&self) -> Result<Path, Error> {
        let Experiment { links, flows, seed, .. } = &self.experiment;
        Path::new(links, *seed, flows[..self.count].iter().map(Flow::hosts)).map_err(Error::Path)
    }

    /// The directions of links that the first flow's packets cross, forward and back in this order.
    pub fn both_ways(&self) -> Vec<LinkDirection> {
        let route = &self.flow().route;
        [false, true].into_iter().flat_map(|back| route.directions(back)).collect()
    }
}
