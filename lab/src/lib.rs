//! Makes the runs of a plan, summarises their results, and judges them by what papers claim.
//!
//! In this crate, [runner] makes the runs of a [plan](scenario::Plan) on all cores, and [cache] keeps them, so that
//! none is made twice by the same [code]; [results] writes summaries, tables and Parquet files; [shards] joins the
//! results of machines that divide a plan's runs; [draw] draws random paths, and [score] scores controllers on them;
//! [evaluate] compares a controller with a baseline by the criteria of RFC 9743, and [process] lets a
//! program in any language be that controller; [qlog] writes logs of flows; [estimators] measures the errors of
//! bandwidth estimators; [reproduce] has the catalogue of the papers' tables and
//! figures and judges what they claim; [theory] and [processor_sharing] have the papers' formulas, with which claims
//! and tests compare the simulator. Elsewhere are simulating (`sim`), reading scenarios (`scenario`), drawing
//! (`report`), and terminals, signals and the folder for results (the command line).
//!
//! The same plan gives the same bytes in every file, on any number of cores. CONTRIBUTING.md says how to add a measure,
//! a metric, a time series and an artefact.

pub mod cache;
pub mod code;
pub mod connections;
pub mod draw;
pub mod estimators;
pub mod evaluate;
pub mod files;
pub mod names;
pub mod process;
pub mod processor_sharing;
pub mod qlog;
pub mod reproduce;
pub mod results;
pub mod runner;
pub mod score;
pub mod shards;
pub mod theory;
