//! The links and routes that an emulator lets packets cross.

use crate::Handle;
use path::{HostPair, LinkSetup, Topology};

/// Links, empty, and routes over them.
pub struct EmulatedPath {
    /// The links. Each route begins with an access link of its own.
    pub(crate) topology: Topology<Handle>,
    /// Of each route, the positions in the topology at which packets begin forward and back.
    pub(crate) routes: Vec<[u32; 2]>,
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
        let mut topology = Topology::new(links, seed)?.with_access_links();
        let routes = hosts.into_iter().map(|pair| topology.connect(&pair)).collect();
        Ok(EmulatedPath { topology, routes })
    }

    /// Number of link directions that are observed: those of the described links, in the order of
    /// [`LinkDirection::index`](path::LinkDirection::index).
    pub(crate) fn observed(&self) -> usize {
        self.topology.described()
    }
}
