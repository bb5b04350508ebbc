//! From the description of one direction of a link to the [`Link`], whatever it will carry.

use super::direction::{DirectionSetup, Errors, RouterSetup};
use crate::{Impairments, Link, Packet};
use control::{Port, Rate, Router};

impl DirectionSetup {
    /// The direction, empty. Everything random in it follows from `seed`. The caller puts packets that are to be
    /// reordered or duplicated onto detours, as [`Topology`](crate::Topology) lists them.
    ///
    /// # Errors
    /// If the description names a router protocol or a queue discipline that does not exist, or parameters that it does
    /// not take.
    pub fn build<P: Packet>(&self, seed: u64) -> Result<Link<P>, String> {
        let mut built = Link::new(Some(self.rate), self.delay, self.buffer);
        if !self.queue.is_drop_tail() {
            built = built.with_queue(self.queue.build(self.capacity(), self.buffer, !seed)?);
        }
        if let Some(trace) = &self.trace {
            built = built.with_trace(trace.clone());
        }
        if !self.changes.is_empty() {
            built = built.with_changes(&self.changes);
        }
        if let Some(period) = self.aggregate {
            built = built.with_aggregation(period);
        }
        if let Some(shaper) = self.shaper {
            built = built.with_shaper(shaper);
        }
        if let Some(jitter) = &self.jitter {
            built = built.with_jitter(jitter, seed);
        }
        built = built.with_impairments(self.impairments(seed));
        match &self.router {
            Some(router) => Ok(built.with_router(router.build(self.capacity())?)),
            None => Ok(built),
        }
    }

    fn impairments(&self, seed: u64) -> Impairments {
        let mut impairments = match self.errors {
            Errors::Uniform(p) if p > 0.0 => Impairments::new().with_errors(p, seed),
            Errors::Uniform(_) => Impairments::new(),
            Errors::Bursts(parameters) => Impairments::new().with_bursts(parameters, seed),
        };
        if self.corrupt > 0.0 {
            impairments = impairments.with_corruption(self.corrupt, seed);
        }
        if let Some(reorder) = self.reorder {
            impairments = impairments.with_reordering(reorder.probability, seed);
        }
        if self.duplicate > 0.0 {
            impairments = impairments.with_duplication(self.duplicate, seed);
        }
        impairments
    }
}

impl RouterSetup {
    /// The router of one direction of a link of `capacity`.
    fn build(&self, capacity: Rate) -> Result<Box<dyn Router>, String> {
        let protocol = control::routers::find(&self.protocol);
        let protocol = protocol.ok_or_else(|| format!("there is no router `{}`", self.protocol))?;
        protocol.build(&self.parameters, &Port { capacity, buffer: self.buffer })
    }
}
