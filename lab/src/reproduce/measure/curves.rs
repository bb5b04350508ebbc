//! Curves, and runs beside them.

use super::definition::{Compute, Measure};
use crate::reproduce::curve::Curve;
use crate::theory;
use control::Phase;
use experiment::{Finished, mean};

pub(super) const ALL: &[Measure] = &[
    Measure::new("curve", "Value", Compute::OfCurve(Curve::at)),
    // The d of c/x^d.
    Measure::new("steepness", "Steepness", Compute::OfCurve(|curve, x| theory::steepness(|x| curve.at(x), x))),
    Measure::new("crossing", "Crossing", Compute::OfCrossing(|crossed| crossed.at)),
    Measure::new("crossing-height", "Value at the crossing", Compute::OfCrossing(|crossed| crossed.height)),
    Measure::new("window-over-curve", "Mean window over the curve's", Compute::OfRunAndCurve(window_over_curve)),
];

/// Mean window of the run's first flow, over a curve's value at its loss event rate.
fn window_over_curve(run: &Finished, curve: &dyn Fn(f64) -> f64) -> f64 {
    let (p, window) = response(run);
    window / curve(p)
}

/// The loss event rate of a run's first flow, and its mean window in packets, while it is active and after the first
/// quarter of that time. The rate is in loss events per packet that arrives outside recovery: a flow that repairs a
/// loss does not grow, and closed forms let it grow on every packet.
pub fn response(run: &Finished) -> (f64, f64) {
    let Some(flow) = run.outcome.flows.first() else { return (f64::NAN, f64::NAN) };
    let active: Vec<usize> = (0..flow.series.phase.len()).filter(|&i| flow.series.phase[i].is_some()).collect();
    let settled = &active[active.len() / 4..];
    let windows: Vec<f64> = settled.iter().map(|&i| flow.series.window[i]).filter(|w| w.is_finite()).collect();
    let all = || active.iter().map(|&i| (flow.series.delivered[i] as f64, flow.series.phase[i]));
    let growing: f64 = all().filter(|(_, phase)| *phase != Some(Phase::Recovery)).map(|(bytes, _)| bytes).sum();
    let packet = run.run.experiment.flows[0].packet.0 as f64;
    (flow.loss_events as f64 * packet / growing, mean(&windows))
}
