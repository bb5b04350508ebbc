//! How much of the processors' time is used: by the calling thread, and by all programs of the host.

use control::Duration;
use nix::time::{ClockId, clock_gettime};
use realtime::from_std;
use std::fs;

/// The use so far.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The processor time of the thread.
    thread: Duration,
    /// The processors' time in use, and all of it, in the kernel's ticks; none if the kernel does not tell.
    host: Option<(u64, u64)>,
}

impl Load {
    /// The use until now.
    pub fn now() -> Load {
        let thread = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
        let thread = thread.map_or(Duration::ZERO, |time| from_std(time.into()));
        Load { thread, host: fs::read_to_string("/proc/stat").ok().and_then(|text| host(&text)) }
    }

    /// The processor time of the thread since `before`, which it asked for, too; and the share of the host's processor
    /// time, 0 to 1, that was in use since then.
    pub fn since(&self, before: &Load) -> (Duration, Option<f64>) {
        let share = self.host.zip(before.host).and_then(|((used, all), (used_before, all_before))| {
            let all = all.saturating_sub(all_before);
            (all > 0).then(|| used.saturating_sub(used_before) as f64 / all as f64)
        });
        (self.thread - before.thread, share)
    }
}

/// From the first line of /proc/stat: the time in use, and all (proc_stat(5)).
fn host(stat: &str) -> Option<(u64, u64)> {
    let numbers = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
    // user, nice, system, idle, iowait, irq, softirq, steal; the rest is part of user and nice.
    let times: Vec<u64> = numbers.take(8).map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let all = times.iter().sum::<u64>();
    Some((all - times.get(3)? - times.get(4)?, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_waiting_processors_are_not_in_use() {
        let text = "cpu  10 1 20 100 50 2 3 4 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        assert_eq!(host(text), Some((40, 190)));
        assert_eq!([host(""), host("cpu  1 2 3\n"), host("cpu  a b c d e\n")], [None; 3]);
        let load = |used, all| Load { thread: Duration::from_millis(used), host: Some((used, all)) };
        let (thread, share) = load(40, 190).since(&load(10, 130));
        assert_eq!((thread, share), (Duration::from_millis(30), Some(0.5)));
        assert_eq!(load(40, 190).since(&load(40, 190)).1, None, "no time has passed");
    }
}
