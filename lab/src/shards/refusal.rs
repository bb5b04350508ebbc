//! Why shards are not written or joined.

/// Why a shard or the whole is not written: a line that says so, and what to do.
#[derive(Debug)]
pub enum Refusal {
    /// The folder or the object store is not one for this.
    Wrong(String),
    /// Shards are missing, or a file cannot be read or written.
    Failed(String),
}
