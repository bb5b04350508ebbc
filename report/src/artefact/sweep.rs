//! Figures over the values of a key that a scenario sweeps.

use super::stated::Said;
use crate::figure::{Across, Curve, Entry, Figure, Group, Line, Vertical, apart};
use crate::order::{distinct, rising};
use control::{Duration, Rate};
use experiment::Finished;
use lab::reproduce::artefact::Figure as Wanted;
use lab::reproduce::measure::{Measure, Scope};
use serde_json::Value;

/// An axis whose values reach over more than this factor is logarithmic, if the measure is one that ranges widely.
const WIDE: f64 = 100.0;

/// A panel per measure, each with a line per controller over the values of `key`, and what is `said` of it.
pub fn group(wanted: &Wanted, key: &str, span: Option<[f64; 2]>, runs: &[&Finished], said: &[Said]) -> Group {
    let at = |run: &&Finished| position(run.run.identity.settings.get(key)?);
    let places = rising(runs.iter().filter_map(at));
    let names = distinct(runs.iter().map(|run| &run.run.controller));
    let unit = runs.iter().find_map(|run| run.run.identity.settings.get(key)?.as_str());
    let unit = unit.map_or("", |text| if text.parse::<Rate>().is_ok() { " (Mbps)" } else { " (ms)" });
    let label = wanted.label.clone().unwrap_or_else(|| format!("{key}{unit}"));
    let flows = wanted.flow.and_then(|flow| flow.checked_sub(1)).map(|flow| [flow, flow]);
    let line = |(entry, name): (usize, &&String), what: Measure| {
        let value = |place: &f64| {
            let run = runs.iter().find(|run| run.run.controller == **name && at(run) == Some(*place));
            run.map_or(f64::NAN, |run| what.of(run, Scope { span, flows, ..Scope::default() }))
        };
        let values = Curve(places.iter().map(value).map(|x| if x.is_finite() { x } else { f64::NAN }).collect());
        Line { entry: Some(entry), name: name.to_string(), values }
    };
    let figure = |&what: &Measure| {
        let mut lines: Vec<Line> = names.iter().enumerate().map(|it| line(it, what)).collect();
        let positive = lines.iter().flat_map(|line| &line.values.0).copied().filter(|x| *x > 0.0);
        let (low, high) = positive.fold((f64::INFINITY, 0.0), |(low, high), x| (low.min(x), f64::max(high, x)));
        let mut vertical = Vertical::FromZero;
        if what.ranges_widely() && high > WIDE * low {
            vertical = Vertical::Logarithmic;
            // A logarithmic axis has no place for these.
            let values = lines.iter_mut().flat_map(|line| &mut line.values.0);
            values.filter(|x| **x <= 0.0).for_each(|x| *x = f64::NAN);
        }
        let stated = |it: &Said| {
            let run = runs.iter().find(|run| std::ptr::eq(**run, it.run))?;
            let shown = it.quantity.is_absolute()
                && it.quantity.measure == what
                && (it.quantity.flow, it.quantity.flows) == (wanted.flow, None)
                && it.quantity.span == wanted.span;
            let entry = names.iter().position(|name| **name == run.run.controller);
            it.at(entry, at(run)?).filter(|_| shown)
        };
        let stated = apart(said.iter().filter_map(stated).collect());
        let across = Across::logarithmic(label.clone(), places.clone());
        Figure { across: Some(across), vertical, stated, ..Figure::new(what.axis().into(), lines) }
    };
    let figures = wanted.measures.iter().map(figure).collect();
    Group { title: None, figures, legend: Entry::each(names.iter().map(ToString::to_string)), panels: true }
}

/// The place of a swept value on an axis: of a rate its Mbps, of a time its milliseconds, of a list its length.
pub fn position(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(x) => return x.as_f64(),
        Value::String(text) => text,
        Value::Array(all) => return Some(all.len() as f64),
        _ => return None,
    };
    let rate = text.parse::<Rate>().map(|rate| rate.as_mbps());
    rate.or_else(|_| text.parse::<Duration>().map(|time| time.as_millis())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swept_values_have_places_on_an_axis() {
        for (value, place) in [
            (Value::from("2 Gbps"), 2000.0),
            (Value::from(0.05), 0.05),
            (Value::from("3 ms"), 3.0),
            (Value::from(vec![1, 2]), 2.0),
        ] {
            assert_eq!(position(&value), Some(place), "{value}");
        }
        assert_eq!(position(&Value::from("droptail")), None);
    }
}
