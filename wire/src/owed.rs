//! When a packet may leave whatever the controller's window, because an acknowledgment is owed.
//!
//! quinn puts acknowledgments into packets that wait behind what the window holds back, and the other end's window may wait for them, as this
//! one's for those of the other end. So while more has come than what was sent since can have acknowledged, a packet leaves
//! [`FIRST`] after the last one, or an eighth of a round trip. After each such packet in a row it takes twice as long, up to a round trip: then it is one
//! packet more than the window.

use control::Duration;

/// The least time.
pub(crate) const FIRST: Duration = Duration::from_millis(5);
/// What is no larger is taken for an acknowledgment or a report, for which none is owed, bytes.
const UNOWED: usize = 100;

/// Whether acknowledging a datagram of so many bytes is owed.
pub(crate) fn is_owed_for(size: usize) -> bool {
    size > UNOWED
}

/// What has been answered of what came.
#[derive(Debug, Default)]
pub(crate) struct Owed {
    /// Datagrams that had come when the latest of those that have left was built.
    answered: u64,
    /// One packet may leave now.
    passing: bool,
    /// How many left so since the window was open last.
    passed: u32,
}

impl Owed {
    /// Whether of so many datagrams that came there are some that nothing sent since can have acknowledged.
    pub(crate) fn is_for(&self, heard: u64) -> bool {
        heard > self.answered
    }

    /// How long after the last packet one may pass.
    pub(crate) fn interval(&self, rtt: Option<Duration>) -> Duration {
        let eighths = 1 << self.passed.min(3);
        rtt.map_or(FIRST, |rtt| FIRST.max(Duration(rtt.0 / 8 * eighths)))
    }

    /// Whether one packet may leave now.
    pub(crate) fn is_passing(&self) -> bool {
        self.passing
    }

    /// One packet may leave, or not.
    pub(crate) fn pass(&mut self, may: bool) {
        self.passing = may;
        self.passed += u32::from(may);
    }

    /// The window is open.
    pub(crate) fn on_open(&mut self) {
        self.passed = 0;
    }

    /// A packet has left that was built when so many datagrams had come.
    pub(crate) fn on_sent(&mut self, heard: u64) {
        self.passing = false;
        self.answered = self.answered.max(heard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_longer_each_time_until_the_window_opens() {
        let (mut owed, rtt) = (Owed::default(), Duration::from_millis(80));
        let mut intervals = vec![owed.interval(Some(rtt))];
        for _ in 0..5 {
            owed.pass(true);
            intervals.push(owed.interval(Some(rtt)));
        }
        assert_eq!(intervals, [10, 20, 40, 80, 80, 80].map(Duration::from_millis));
        owed.on_open();
        assert_eq!(owed.interval(Some(rtt)), Duration::from_millis(10));
        assert_eq!([owed.interval(None), owed.interval(Some(Duration::from_millis(8)))], [FIRST; 2]);
    }

    #[test]
    fn what_leaves_answers_what_had_come_when_it_was_built() {
        let mut owed = Owed::default();
        assert!(!owed.is_for(0) && owed.is_for(1));
        owed.on_sent(1);
        assert!(!owed.is_for(1) && owed.is_for(2));
        owed.on_sent(0);
        assert!(!owed.is_for(1), "one that was built before");
    }
}
