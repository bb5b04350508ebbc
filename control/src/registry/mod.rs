//! All controllers and all router protocols by name: the one place from which scenario files, the command line and the
//! docs take their lists.
//!
//! To add a controller, write its file and add it to the list in `controllers.rs`, beside the others of its [`Family`].
//! To add a router protocol, add it to the list in `routers.rs`. A program that uses this crate can [`add`] controllers
//! of its own while it runs.

mod controller;
mod controllers;
mod family;
mod overrides;
pub mod routers;

pub use controller::{Controller, Factory, Parties};
pub use controllers::{add, all, find};
pub use family::Family;
pub use overrides::ParameterError;
