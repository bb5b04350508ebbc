//! The memory and the cores that runs may use.

use std::num::NonZero;

/// What a machine offers to a plan's runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Memory that is free to use, in bytes.
    pub memory: u64,
    /// How many runs are made at the same time.
    pub jobs: NonZero<usize>,
}

impl Machine {
    /// This machine, making `jobs` runs at the same time: as many as it has cores if not given.
    pub fn this(jobs: Option<NonZero<usize>>) -> Machine {
        let jobs = jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        // A container may have less than the machine it runs on. What it holds of files in memory is as good as free, so
        // that the system's own figure of free memory is no help.
        let container =
            system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory.saturating_sub(limits.rss));
        let memory = match system.available_memory() {
            // Unknown here: nothing to refuse by.
            0 => u64::MAX,
            available => available.min(container),
        };
        Machine { memory, jobs }
    }
}
