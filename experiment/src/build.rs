//! From the description of a link to the link, whatever it will carry.

use crate::experiment::{Buffer, Errors, Link, Router};
use control::{Port, Rate};
use path::{Impairments, Packet};

impl Link {
    /// One direction of it, empty; everything random in it follows from `seed`. What leaves it late or twice is its driver's to
    /// put onto another way.
    ///
    /// # Errors
    /// If it names a router that does not exist, or parameters that the router does not take.
    pub fn build<P: Packet>(&self, seed: u64) -> Result<path::Link<P>, String> {
        let buffer = match self.buffer {
            Buffer::Packets(packets) => path::Buffer::Packets(packets),
            Buffer::Bytes(bytes) => path::Buffer::Bytes(bytes),
        };
        let mut built = path::Link::new(Some(self.rate), self.delay, buffer).with_queue(&self.queue, buffer, !seed);
        if let Some(trace) = &self.trace {
            built = built.with_trace(trace.clone());
        }
        if !self.changes.is_empty() {
            built = built.with_changes(&self.changes);
        }
        built = built.with_impairments(self.impairments(seed));
        match &self.router {
            Some(router) => Ok(built.with_router(self::router(router, self.rate)?)),
            None => Ok(built),
        }
    }

    /// What it leaves to chance.
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
            impairments = impairments.with_late(reorder.probability, seed);
        }
        if self.duplicate > 0.0 {
            impairments = impairments.with_twice(self.duplicate, seed);
        }
        impairments
    }
}

/// The router that a link of `capacity` has.
fn router(router: &Router, capacity: Rate) -> Result<Box<dyn control::Router>, String> {
    let protocol = control::routers::find(&router.protocol);
    let protocol = protocol.ok_or_else(|| format!("there is no router `{}`", router.protocol))?;
    protocol.build(&router.parameters, &Port { capacity, buffer: router.buffer })
}
