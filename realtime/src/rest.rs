//! How much a real-time thread must sleep although it has work to do.
//!
//! Linux withholds the processor from real-time threads for a share of the time: by default for 50 ms after 950 ms of
//! work (sched(7); since Linux 6.12, only if other threads want it). A thread that sleeps for that share by itself, a
//! little at a time, is never stopped for 50 ms at once.

use control::{Duration, Time};
use std::fs;

/// What is added to the share that the system asks for (as a share of the time), because other threads get less of a
/// rest than it takes: switching to them and back takes time, too. Measured: with a rest of 6.5 % in all the system
/// still took its 50 ms; with 15 % never.
const MARGIN: f64 = 0.10;
/// How long one rest is. Packets that become due meanwhile are late by up to as much.
const PIECE: Duration = Duration::from_micros(50);
/// The most rest in advance that counts, in seconds. It is less than the system's period, because it is not known when
/// that begins.
const SAVED: f64 = 0.01;

/// How much a thread has rested, and how much it must.
#[derive(Debug)]
pub struct Rest {
    /// The share of the time that the thread must rest, 0 to 1.
    share: f64,
    /// The rest that is due, in seconds; negative if the thread has rested in advance.
    due: f64,
    /// The time up to which work and rest are counted.
    counted: Time,
}

impl Rest {
    /// For a thread that has not rested yet. A `realtime` thread must rest for the share of the time that the system
    /// asks for, any other not at all.
    pub fn new(realtime: bool) -> Rest {
        let asked = realtime.then(|| system_share("/proc/sys/kernel")).flatten();
        Rest { share: asked.map_or(0.0, |share| share + MARGIN), due: 0.0, counted: Time::ZERO }
    }

    /// The thread has worked until now. Returns how long it must rest, if it must.
    pub fn due(&mut self, now: Time) -> Option<Duration> {
        self.due += self.share * now.since(self.counted).as_secs();
        self.counted = now;
        (self.due >= PIECE.as_secs()).then_some(PIECE)
    }

    /// The thread has rested from the last call of [`Rest::due`] until now.
    pub fn rested(&mut self, now: Time) {
        self.due = (self.due - (1.0 - self.share) * now.since(self.counted).as_secs()).max(-SAVED);
        self.counted = now;
    }
}

/// The share of the time that the system withholds from real-time threads, as its files in `folder` say; none if it
/// withholds nothing.
fn system_share(folder: &str) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).ok()?.trim().parse::<f64>().ok();
    let (runtime, period) = (read("sched_rt_runtime_us")?, read("sched_rt_period_us")?);
    (runtime >= 0.0 && runtime < period).then(|| 1.0 - runtime / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest() -> Rest {
        Rest { share: 0.05, due: 0.0, counted: Time::ZERO }
    }

    #[test]
    fn a_thread_that_always_works_rests_its_share_a_little_at_a_time() {
        let (mut rest, mut now, mut rested, mut between) = (rest(), Time::ZERO, Duration::ZERO, Duration::ZERO);
        while now < Time::ZERO + Duration::from_millis(1000) {
            now += Duration::from_micros(7);
            between += Duration::from_micros(7);
            if let Some(piece) = rest.due(now) {
                now += piece;
                rested += piece;
                rest.rested(now);
                assert!(between <= Duration::from_micros(1100), "{between}");
                between = Duration::ZERO;
            }
        }
        assert!((rested.as_secs() - 0.05).abs() < 0.001, "{rested}");
    }

    #[test]
    fn a_thread_that_rests_anyway_need_not_rest_more() {
        let (mut rest, mut now) = (rest(), Time::ZERO);
        for _ in 0..1000 {
            now += Duration::from_micros(900);
            assert_eq!(rest.due(now), None);
            now += Duration::from_micros(100);
            rest.rested(now);
        }
        now += Duration::from_millis(100);
        assert_eq!(rest.due(now), None, "rest in advance counts");
        now += Duration::from_millis(200);
        assert_eq!(rest.due(now), Some(PIECE));
    }

    #[test]
    fn the_share_is_what_the_systems_files_say() {
        let folder = std::env::temp_dir().join(format!("thalweg-rest-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let share = |runtime: &str| {
            fs::write(folder.join("sched_rt_runtime_us"), runtime).unwrap();
            fs::write(folder.join("sched_rt_period_us"), "1000000\n").unwrap();
            system_share(folder.to_str().unwrap())
        };
        assert!((share("950000\n").unwrap() - 0.05).abs() < 1e-9);
        assert_eq!([share("-1\n"), share("1000000\n"), share("")], [None; 3]);
        assert_eq!(system_share("/nowhere"), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
