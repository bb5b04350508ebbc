//! Pages of HTML, each one file that needs no network.

mod claims;
pub mod evaluation;
pub mod gallery;
mod harm;
pub mod logs;
mod name;
pub mod report;
mod setup;
mod table;
mod template;
mod verdict;
