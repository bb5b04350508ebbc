//! What a scenario comes to.

use experiment::Run;
use serde_json::Value;

/// Everything that one scenario asks for, or a [shard](crate::Shard) of it.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The scenario's title.
    pub title: String,
    /// Its seed.
    pub seed: u64,
    /// Its values, with those of `--set`. Plans with the same values have the same runs, as long as the files that
    /// the scenario names do not change.
    pub values: Value,
    /// What it sweeps, in its order.
    pub sweep: Vec<Swept>,
    /// How many runs it asks for, with those of other shards.
    pub total: usize,
    /// One run per controller compared and per point of the sweep.
    pub runs: Vec<Run>,
}

/// A key of `[sweep]`.
#[derive(Clone, Debug)]
pub struct Swept {
    /// The key, as in the settings of a run's identity.
    pub key: String,
    /// All values that it takes, also those in runs of other shards.
    pub values: Vec<Value>,
}
