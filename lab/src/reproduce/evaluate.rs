//! The value of a quantity.

use super::artefact::{Artefact, Quantity, Scale};
use super::curve::Curve;
use super::measure::{Compute, Crossed, Scope};
use super::scenario_runs::ScenarioRuns;
use experiment::{Finished, quantile};

/// Loss event rates between which crossings of curves are looked for, if no chart of the artefact says so.
const LOSS_EVENT_RATES: [f64; 2] = [1e-9, 1e-1];

impl Quantity {
    /// Its value by the runs `made` of `artefact`; infinite for what never happened.
    ///
    /// # Errors
    /// In a line, which thing that it names does not exist.
    pub fn value(&self, artefact: &Artefact, scale: Scale, made: &[ScenarioRuns]) -> Result<f64, String> {
        let of = |other: &Quantity| other.value(artefact, scale, made);
        let value = if self.members.is_empty() {
            self.own_value(artefact, scale, made)?
        } else {
            let values: Result<Vec<f64>, String> = self.members.iter().map(of).collect();
            quantile(&mut values?, self.quantile.unwrap_or(Scope::default().quantile))
        };
        let above = value - self.base.as_deref().map_or(Ok(0.0), of)?;
        Ok(above / self.divisor.as_deref().map_or(Ok(1.0), of)?)
    }

    /// Its value before it is compared with another.
    fn own_value(&self, artefact: &Artefact, scale: Scale, made: &[ScenarioRuns]) -> Result<f64, String> {
        match self.measure.compute {
            Compute::OfCurve(compute) => {
                Ok(compute(curve(artefact, self.curve.as_ref())?, self.level.unwrap_or(f64::NAN)))
            }
            Compute::OfCrossing(compute) => {
                let curves = [curve(artefact, self.curve.as_ref())?, curve(artefact, self.with.as_ref())?];
                let [from, to] = artefact.charts.first().map_or(LOSS_EVENT_RATES, |chart| chart.range);
                let crossed = Crossed::of(curves[0], curves[1], from..to);
                Ok(crossed.as_ref().map_or(f64::INFINITY, compute))
            }
            Compute::OfRun(_) | Compute::OfRunAndCurve(_) => {
                self.own_of_finished(artefact, scale, None, self.run(made)?)
            }
        }
    }

    /// The run that it names, among those `made`.
    ///
    /// # Errors
    /// In a line, that there is no such run.
    pub fn run<'m>(&self, made: &'m [ScenarioRuns]) -> Result<&'m Finished, String> {
        let scenario = match &self.scenario {
            None => made.first(),
            Some(name) => made.iter().find(|it| it.scenario == *name),
        };
        let scenario =
            scenario.ok_or_else(|| format!("no scenario `{}`", self.scenario.as_deref().unwrap_or_default()))?;
        match &self.run {
            None => scenario.runs.first().ok_or_else(|| format!("scenario `{}` has no runs", scenario.scenario)),
            Some(selector) => selector.find(&scenario.runs, |it| &it.run.identity),
        }
    }

    /// Its value of a given run, whichever run it names, and what it is compared with of the same run; over the given
    /// span in seconds, if there is one, in place of its own.
    ///
    /// # Errors
    /// In a line, which thing that it names does not exist.
    pub fn of_finished(
        &self,
        artefact: &Artefact,
        scale: Scale,
        given: Option<[f64; 2]>,
        run: &Finished,
    ) -> Result<f64, String> {
        let of = |other: &Quantity| other.of_finished(artefact, scale, given, run);
        let above = self.own_of_finished(artefact, scale, given, run)? - self.base.as_deref().map_or(Ok(0.0), of)?;
        Ok(above / self.divisor.as_deref().map_or(Ok(1.0), of)?)
    }

    /// Its value of a given run before it is compared with another.
    fn own_of_finished(
        &self,
        artefact: &Artefact,
        scale: Scale,
        given: Option<[f64; 2]>,
        run: &Finished,
    ) -> Result<f64, String> {
        let span = match &self.span {
            _ if given.is_some() => given,
            None => None,
            Some(name) => Some(artefact.spans.get(name).ok_or_else(|| format!("no span `{name}`"))?.at(scale)),
        };
        let flows = self.flow.map(|flow| [flow, flow]).or(self.flows);
        if let Some([first, last]) =
            flows.filter(|[first, last]| *first == 0 || first > last || *last > run.outcome.flows.len())
        {
            return Err(if first == last { format!("no flow {first}") } else { format!("no flows {first} to {last}") });
        }
        if let Compute::OfRunAndCurve(compute) = self.measure.compute {
            let curve = curve(artefact, self.curve.as_ref())?;
            return Ok(compute(run, &|x| curve.bounded(&artefact.curves, x)));
        }
        let usual = Scope::default();
        let scope = Scope {
            span,
            flows: flows.map(|flows| flows.map(|flow| flow - 1)),
            traffic: self.traffic,
            sizes: self.sizes.unwrap_or(usual.sizes),
            level: self.level.unwrap_or(usual.level),
            window: None,
            quantile: self.quantile.unwrap_or(usual.quantile),
        };
        let over = |&window: &f64| self.measure.of(run, Scope { window: Some(window), ..scope });
        // A window that does not fit gives NaN, which is not the least.
        let least = self.windows.iter().map(over).reduce(f64::min);
        Ok(least.unwrap_or_else(|| self.measure.of(run, scope)))
    }
}

/// The artefact's curve of this name.
fn curve<'a>(artefact: &'a Artefact, name: Option<&String>) -> Result<&'a Curve, String> {
    let found = artefact.curves.iter().find(|it| Some(&it.name) == name);
    found.ok_or_else(|| format!("no curve `{}`", name.map_or("", String::as_str)))
}
