//! How much a thread must sleep although something is due.
//!
//! Linux does not let real-time threads have a processor for themselves: after 0.95 s of a second (unless told otherwise), others have
//! the rest of it (sched(7); since Linux 6.12, if there are any). That would be 50 ms at once. So who must rest does it a little at a time.

use control::{Duration, Time};
use std::fs;

/// So much more than the system says: of a rest, others get what switching to them and back leaves. Measured: at 6.5 % in all, the
/// system still took its 50 ms; at 15 % never.
const MARGIN: f64 = 0.10;
/// How long at a time: packets that become due meanwhile are late by as much.
const PIECE: Duration = Duration::from_micros(50);
/// Rest in advance counts up to here: less than the system's period, whose beginning nobody knows.
const SAVED: f64 = 0.01;

/// How much rest there has been, and how much there must be.
#[derive(Debug)]
pub struct Rest {
    /// The share of the time, 0 if none is asked for.
    share: f64,
    /// What is due of it, in seconds; less than zero if there was more.
    due: f64,
    /// Counted up to here.
    counted: Time,
}

impl Rest {
    /// None so far; `realtime` threads need as much as the system says, others none.
    pub fn new(realtime: bool) -> Rest {
        let asked = realtime.then(|| system_share("/proc/sys/kernel")).flatten();
        Rest { share: asked.map_or(0.0, |share| share + MARGIN), due: 0.0, counted: Time::ZERO }
    }

    /// The thread has been busy until now. How long it is to rest, if it must.
    pub fn due(&mut self, now: Time) -> Option<Duration> {
        self.due += self.share * now.since(self.counted).as_secs();
        self.counted = now;
        (self.due >= PIECE.as_secs()).then_some(PIECE)
    }

    /// It has rested, from when it was [asked](Rest::due) until now.
    pub fn rested(&mut self, now: Time) {
        self.due = (self.due - (1.0 - self.share) * now.since(self.counted).as_secs()).max(-SAVED);
        self.counted = now;
    }
}

/// The share of the time that the system withholds from real-time threads, by its files in `folder`.
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
    fn who_is_always_busy_rests_its_share_a_little_at_a_time() {
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
    fn who_rests_anyway_need_not() {
        let (mut rest, mut now) = (rest(), Time::ZERO);
        for _ in 0..1000 {
            now += Duration::from_micros(900);
            assert_eq!(rest.due(now), None);
            now += Duration::from_micros(100);
            rest.rested(now);
        }
        now += Duration::from_millis(100);
        assert_eq!(rest.due(now), None, "for some time");
        now += Duration::from_millis(200);
        assert_eq!(rest.due(now), Some(PIECE));
    }

    #[test]
    fn what_the_system_says_counts() {
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
