//! What the paper says, as marks: the numbers of an artefact's claims, where a figure shows what they are about.

use crate::figure::{Page, Stated, apart};
use control::Duration;
use experiment::{ACQUIRED_SHARE, Finished, spare_capacity};
use lab::reproduce::artefact::{Band, Claim, Quantity, Source};
use lab::reproduce::{Artefact, Scale, ScenarioRuns};

/// A number that the paper gives, and what it gives it of.
pub struct Said<'a> {
    /// What is measured.
    pub quantity: &'a Quantity,
    /// In which run.
    pub run: &'a Finished,
    /// Whether it is said of this run alone, not of several runs together.
    alone: bool,
    /// The least and the largest value, one of which may be infinite; the same for one value.
    pub values: [f64; 2],
    /// Beginning and end of the claim's span in seconds; of the run if it has none.
    pub span: [f64; 2],
}

/// The numbers that the paper gives of the runs `made`.
pub fn said<'a>(artefact: &'a Artefact, scale: Scale, made: &'a [ScenarioRuns]) -> Vec<Said<'a>> {
    let of = |claim: &'a Claim| {
        let values = values(claim)?;
        let (quantity, alone) = match claim.quantity.members.first() {
            None => (&claim.quantity, true),
            Some(first) => (first, false),
        };
        let run = quantity.run(made).ok().filter(|_| quantity.is_of_one_run())?;
        let span = quantity.span.as_ref().and_then(|name| artefact.spans.get(name)).map(|span| span.at(scale));
        let span = span.unwrap_or([0.0, run.run.experiment.duration.as_secs()]);
        Some(Said { quantity, run, alone, values, span })
    };
    let judged = artefact.claims.iter().filter(|claim| claim.scale.is_none_or(|only| only == scale));
    judged.filter_map(of).collect()
}

/// The numbers that the paper gives in `claim`: a value, or else the ends of its own band, of which one may be
/// infinite.
fn values(claim: &Claim) -> Option<[f64; 2]> {
    match (claim.paper, &claim.band) {
        _ if claim.derived || claim.source == Source::Ours => None,
        (Some(value), _) => Some([value, value]),
        (None, Band::Between(least, most)) if matches!(claim.source, Source::Paper | Source::Published) => {
            Some([*least, *most])
        }
        _ => None,
    }
}

impl Said<'_> {
    /// The mark of a line that has the legend entry `entry`, at the place `at`; none of what is only a bound.
    pub fn at(&self, entry: Option<usize>, at: f64) -> Option<Stated> {
        let mark = Stated { entry: entry.filter(|_| self.alone), values: self.values, at, along: [at, at] };
        self.values.iter().all(|value| value.is_finite()).then_some(mark)
    }

    /// The mark of a line that has the legend entry `entry`, over time; none of what is only a bound.
    pub fn over_time(&self, entry: Option<usize>) -> Option<Stated> {
        Some(Stated { along: self.span, ..self.at(entry, self.span[0])? })
    }
}

/// Adds the marks of throughput, and of when it is acquired, to a page of `runs` over time.
pub fn mark_throughput(page: &mut Page, said: &[Said], runs: &[&Finished]) {
    // The first group is that of the flows; what follows is of links and traffic.
    let Some(group) = page.groups.first_mut() else { return };
    let throughput = |axis: &str| axis.starts_with("Throughput (") && !group.panels;
    let Some(figure) = group.figures.iter_mut().find(|figure| throughput(&figure.axis)) else { return };
    let factor = if figure.axis.ends_with("(Gbps)") { 1e-3 } else { 1.0 };
    let mark = |said: &Said| {
        let shown = said.quantity.is_absolute() && runs.iter().any(|run| std::ptr::eq(*run, said.run));
        let line = match runs {
            [_] => figure.lines.get(said.quantity.flow.unwrap_or(1) - 1),
            _ if said.quantity.flow.is_some() => None,
            _ => figure.lines.iter().find(|line| line.name == said.run.run.name()),
        };
        let entry = line.filter(|_| shown)?.entry;
        let mut stated = match said.quantity.measure.name() {
            "throughput" => said.over_time(entry)?,
            "acquire-rtts" | "settle-rtts" => acquired(said, entry)?,
            _ => return None,
        };
        stated.values.iter_mut().for_each(|value| *value *= factor);
        Some(stated)
    };
    figure.stated = apart(said.iter().filter_map(mark).collect());
}

/// A mark where the flow has what it can get, in Mbps, after the round trips that are said.
fn acquired(said: &Said, entry: Option<usize>) -> Option<Stated> {
    let [rtts, most] = said.values;
    if !rtts.is_finite() || rtts != most {
        return None;
    }
    let experiment = &said.run.run.experiment;
    let flow = experiment.flows.get(said.quantity.flow.unwrap_or(1) - 1)?;
    let from = if said.quantity.span.is_some() { said.span[0] } else { flow.start.as_secs() };
    let at = control::Time::ZERO + Duration::from_secs(from + rtts * flow.rtt.as_secs());
    let spare = spare_capacity(experiment, flow);
    let (_, rate) = spare.iter().take_while(|(since, _)| *since <= at).last()?;
    Some(Stated::point(entry, at.as_secs(), ACQUIRED_SHARE * rate.as_mbps()))
}
