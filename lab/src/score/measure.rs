//! The measures of a score: what each is, and how a path is judged by them together.

use super::observe::Observed;
use crate::draw::Path;
use control::Duration;

/// The measures of one controller on one path. docs/score.md defines them.
#[derive(Clone, Debug, PartialEq)]
pub struct Measures([Option<f64>; Measure::ALL.len()]);

/// One measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The mark, 0 to 1.
    Mark,
    /// What was delivered over what the path can carry.
    Used,
    /// Jain's index among the judged flows.
    Jain,
    /// The 95th percentile of the queueing delay, in milliseconds.
    DelayMs,
    /// The same, in round-trip times of the path.
    DelayRtts,
    /// The same, over CUBIC's on the same path.
    DelayCubic,
    /// The share of packets that the queue dropped.
    Loss,
    /// The share of the judged flows' packets that they sent again, over the whole run.
    Resent,
    /// The judged flows' part of their fair share beside competitors.
    Share,
    /// Harm to CUBIC flows.
    HarmCubic,
    /// Harm to BBR flows.
    HarmBbr,
    /// Harm to Reno flows.
    HarmReno,
    /// Completion of transfers, over that beside CUBIC.
    Slowdown,
}

impl Measure {
    /// All measures, in the order of results.
    pub const ALL: [Measure; 13] = [
        Measure::Mark,
        Measure::Used,
        Measure::Jain,
        Measure::DelayMs,
        Measure::DelayRtts,
        Measure::DelayCubic,
        Measure::Loss,
        Measure::Resent,
        Measure::Share,
        Measure::HarmCubic,
        Measure::HarmBbr,
        Measure::HarmReno,
        Measure::Slowdown,
    ];

    /// Its name in JSON and Parquet.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Mark => "mark",
            Measure::Used => "used",
            Measure::Jain => "jain",
            Measure::DelayMs => "p95_delay_ms",
            Measure::DelayRtts => "p95_delay_rtts",
            Measure::DelayCubic => "p95_delay_over_cubic",
            Measure::Loss => "loss",
            Measure::Resent => "resent",
            Measure::Share => "share",
            Measure::HarmCubic => "harm_cubic",
            Measure::HarmBbr => "harm_bbr",
            Measure::HarmReno => "harm_reno",
            Measure::Slowdown => "slowdown",
        }
    }

    /// Whether more is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Measure::Mark | Measure::Used | Measure::Jain | Measure::Share)
    }
}

/// A delay of the queue that hurts nobody on a path of a short round-trip time, in seconds.
const TOLERABLE: f64 = 0.01;

impl Measures {
    /// The measures on `path` of a run in which `own` was observed; `cubic` was observed with CUBIC in its place.
    pub fn of(path: &Path, own: &Observed, cubic: Option<&Observed>) -> Measures {
        let rtt = path.base.rtt.as_secs();
        // A queue that holds a packet or none is as good as an empty one; ratios of such delays say nothing.
        let packet = path.base.rate.time_for(path.base.packet).as_secs();
        let harm = |wanted: &str| {
            let of = |seen: &Observed| seen.competitors.iter().find(|(name, _)| *name == wanted).map(|it| it.1);
            let (with, beside_cubic) = (of(own)?, of(cubic?)?);
            (beside_cubic > 0.0).then(|| (beside_cubic - with) / beside_cubic)
        };
        let mut all = Measures([None; Measure::ALL.len()]);
        let mut set = |measure: Measure, value: Option<f64>| all.0[measure as usize] = value;
        set(Measure::Used, Some(own.used));
        set(Measure::Jain, own.jain);
        set(Measure::DelayMs, Some(own.delay * 1e3));
        set(Measure::DelayRtts, Some(own.delay / rtt));
        set(Measure::DelayCubic, cubic.map(|cubic| (own.delay + packet) / (cubic.delay + packet)));
        set(Measure::Loss, Some(own.loss));
        set(Measure::Resent, Some(own.resent));
        set(Measure::Share, own.share);
        set(Measure::HarmCubic, harm("cubic"));
        set(Measure::HarmBbr, harm("bbr"));
        set(Measure::HarmReno, harm("reno"));
        set(Measure::Slowdown, own.stretch.zip(cubic.and_then(|it| it.stretch)).map(|(own, cubic)| own / cubic));
        let mark = all.factors(path.base.rtt).iter().map(|factor| factor.1).product();
        all.0[Measure::Mark as usize] = Some(mark);
        all
    }

    /// The value of `measure`; none if the path has none.
    pub fn get(&self, measure: Measure) -> Option<f64> {
        self.0[measure as usize]
    }

    /// What the mark is the product of: a number from 0 to 1 for each measure that the path has.
    fn factors(&self, rtt: Duration) -> Vec<(Measure, f64)> {
        let queue = rtt.as_secs() + TOLERABLE;
        let factor = |measure: Measure| {
            let x = self.get(measure)?;
            let factor = match measure {
                Measure::Used | Measure::Jain | Measure::Share => x,
                Measure::DelayMs => queue / (queue + x / 1e3),
                Measure::Loss | Measure::HarmCubic | Measure::HarmBbr | Measure::HarmReno => 1.0 - x,
                Measure::Slowdown => 1.0 / x,
                Measure::Mark | Measure::DelayRtts | Measure::DelayCubic | Measure::Resent => return None,
            };
            Some((measure, factor.clamp(0.0, 1.0)))
        };
        Measure::ALL.into_iter().filter_map(factor).collect()
    }

    /// The measure that lowers the mark most.
    pub fn weakest(&self, rtt: Duration) -> Measure {
        let least = self.factors(rtt).into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
        least.map_or(Measure::Used, |(measure, _)| measure)
    }
}
