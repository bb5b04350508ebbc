//! The memory and the cores that runs may use.

use std::num::NonZero;

/// The memory and the cores that a plan's runs may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Free memory, in bytes.
    pub memory: u64,
    /// The number of runs that are made at the same time.
    pub jobs: NonZero<usize>,
}

impl Machine {
    /// The free memory of this machine, for `jobs` runs at the same time; if not given, for one run per core.
    pub fn this(jobs: Option<NonZero<usize>>) -> Machine {
        let jobs = jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
        let mut system = sysinfo::System::new();
        system.refresh_memory();
        // A container may have less memory than its machine. The limit minus the resident memory is used in place of
        // the system's figure of free memory, which does not count the cache of files as free.
        let container =
            system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory.saturating_sub(limits.rss));
        let memory = match system.available_memory() {
            // The system does not tell. Then no run is refused.
            0 => u64::MAX,
            available => available.min(container),
        };
        Machine { memory, jobs }
    }
}
