//! What a router protocol provides: parameters from which the router of one link is built.

use crate::roles::Router;
use crate::units::{Bytes, Rate};
use alloc::{boxed::Box, string::String};

/// The parameters of a router protocol: a plain struct whose `Default` is the paper's choice. It builds the routers.
pub trait Routing: Send + Sync + 'static {
    /// Whether the parameters are valid. If not, the error names the parameter and says what to write instead.
    fn check(&self) -> Result<(), String>;

    /// The router of one direction of a link.
    fn router(&self, port: &Port) -> Box<dyn Router>;
}

/// The link in front of which a router's queue is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Port {
    /// The link's capacity.
    pub capacity: Rate,
    /// The size of the queue's buffer.
    pub buffer: Bytes,
}
