//! The pages of `thalweg reproduce`: one per paper, with each artefact's claims beside its figures.

use super::figures::{Across, Band, Entry, Group, Line, Page, entries, figure};
use super::grid::Curve;
use super::heat::maps;
use super::{Drawn, embed, escape, fill, panels};
use experiment::Finished;
use lab::reproduce::ScenarioRuns;
use lab::reproduce::artefact::{Artefact, Figure, Scale};
use lab::reproduce::judge::{Judged, Verdict, number};
use lab::reproduce::measure::{Measure, Scope};
use lab::reproduce::paper::{Paper, papers};
use lab::reproduce::record::{self, Record, verdicts};
use serde_json::Value;

/// What the page draws of an artefact, as JSON: one per figure.
pub fn figures(artefact: &Artefact, scale: Scale, made: &[ScenarioRuns]) -> Vec<String> {
    let several = artefact.figures.iter().any(|figure| figure.scenario != artefact.figures[0].scenario);
    let draw = |wanted: &Figure| {
        let beside = || made.iter().filter(|it| wanted.beside.contains(&it.scenario)).flat_map(|it| &it.runs);
        let first = made.iter().find(|it| it.scenario == wanted.scenario)?;
        let span = wanted.span.as_ref().and_then(|name| artefact.spans.get(name)).map(|span| span.at(scale));
        let mut page = if let Some(keys) = &wanted.map {
            Page::of(maps(keys, wanted, span, &first.runs))
        } else if !wanted.panels.is_empty() {
            Page::of(panels::panels(artefact, scale, wanted, made))
        } else if let Some(key) = &wanted.across {
            Page::of(across(wanted, key, span, &first.runs))
        } else if !wanted.windows.is_empty() {
            Page::of(over_windows(wanted, span, &first.runs))
        } else if wanted.phases {
            Page::over(first.runs.first().map(panels::phases)?)
        } else {
            let runs = first.runs.iter().chain(beside());
            let mut page = match (wanted.beside.is_empty(), wanted.flows) {
                (true, None) => Page::new(&first.runs),
                (_, flows) => Page::new(&runs.map(|run| only(run, flows)).collect::<Vec<_>>()),
            };
            page.keep(&wanted.axes);
            page
        };
        if let (true, true, Some(group)) = (several, wanted.beside.is_empty(), page.groups.first_mut()) {
            group.title = Some(wanted.scenario.clone());
        }
        Some(embed(&page))
    };
    artefact.figures.iter().filter_map(draw).collect()
}

/// A run with only the flows from one to another, from 1, and no other traffic; with all if none are named.
fn only(run: &Finished, flows: Option<[usize; 2]>) -> Finished {
    let mut run = run.clone();
    if let Some([first, last]) = flows {
        let kept = |i: usize| (first..=last).contains(&(i + 1));
        let mut i = 0..;
        run.run.experiment.flows.retain(|_| i.next().is_some_and(kept));
        let mut i = 0..;
        run.outcome.flows.retain(|_| i.next().is_some_and(kept));
        run.run.experiment.workloads.clear();
        run.outcome.workloads.clear();
    }
    run
}

/// A value of a sweep as a number: a rate in Mbps, a time in milliseconds, of a list how long it is.
pub(super) fn position(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(x) => return x.as_f64(),
        Value::String(text) => text,
        Value::Array(all) => return Some(all.len() as f64),
        _ => return None,
    };
    text.parse::<control::Rate>()
        .map(|rate| rate.as_mbps())
        .or_else(|_| text.parse::<control::Duration>().map(|time| time.as_millis()))
        .ok()
}

/// A line per controller over the values of a key that the runs' scenario sweeps.
fn across(wanted: &Figure, key: &str, span: Option<[f64; 2]>, runs: &[Finished]) -> Group {
    let at = |run: &Finished| position(run.run.identity.settings.get(key)?);
    let mut places: Vec<f64> = runs.iter().filter_map(at).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let mut names: Vec<String> = Vec::new();
    for run in runs {
        if !names.contains(&run.run.controller) {
            names.push(run.run.controller.clone());
        }
    }
    let unit = runs.iter().find_map(|run| run.run.identity.settings.get(key)?.as_str().map(str::to_string));
    let unit = unit.map_or("", |text| if text.parse::<control::Rate>().is_ok() { " (Mbps)" } else { " (ms)" });
    let flows = wanted.flow.and_then(|flow| flow.checked_sub(1)).map(|flow| [flow, flow]);
    let label = wanted.label.clone().unwrap_or_else(|| format!("{key}{unit}"));
    let line = |(entry, name): (usize, &String), what: Measure| {
        let value = |place: &f64| {
            let run = runs.iter().find(|run| run.run.controller == *name && at(run) == Some(*place));
            run.map_or(f64::NAN, |run| what.of(run, Scope { span, flows, ..Scope::default() }))
        };
        let values = Curve(places.iter().map(value).map(|x| if x.is_finite() { x } else { f64::NAN }).collect());
        Line { entry: Some(entry), name: name.clone(), values }
    };
    let figures = wanted.measures.iter().map(|&what| {
        let mut lines: Vec<Line> = names.iter().enumerate().map(|it| line(it, what)).collect();
        let positive = lines.iter().flat_map(|line| &line.values.0).copied().filter(|x| *x > 0.0);
        let (low, high) = positive.fold((f64::INFINITY, 0.0), |(low, high), x| (low.min(x), f64::max(high, x)));
        let log = what.ranges_widely() && high > 100.0 * low;
        let values = lines.iter_mut().flat_map(|line| &mut line.values.0);
        values.filter(|x| log && **x <= 0.0).for_each(|x| *x = f64::NAN); // nothing is as low as a logarithmic axis
        let across = Across { axis: label.clone(), values: Curve(places.clone()) };
        super::figures::Figure { across: Some(across), log, ..figure(what.axis().into(), lines) }
    });
    Group { title: None, figures: figures.collect(), legend: entries(names.clone()), panels: true }
}

/// For each run, the median of what is measured over windows of several lengths, and a band around it: a panel per run.
fn over_windows(wanted: &Figure, span: Option<[f64; 2]>, runs: &[Finished]) -> Group {
    let curve = |run: &Finished, what: Measure, quantile: f64| {
        let value = |&window: &f64| what.of(run, Scope { span, quantile, window: Some(window), ..Scope::default() });
        Curve(wanted.windows.iter().map(value).collect())
    };
    let panel = |run: &Finished, what: Measure| {
        let median = Line { entry: Some(0), name: "median".into(), values: curve(run, what, 0.5) };
        let band = Band { entry: 1, low: curve(run, what, 0.1), high: curve(run, what, 0.9) };
        let across = Across { axis: "Timescale (s)".into(), values: Curve(wanted.windows.clone()) };
        super::figures::Figure {
            title: Some(run.run.name()),
            band: Some(band),
            top: (what.name() == "jain").then_some(1.05),
            across: Some(across),
            ..figure(what.axis().into(), vec![median])
        }
    };
    let entry = |name: &str, band| Entry { name: name.into(), style: Some(0), band, points: false };
    let figures = wanted.measures.iter().flat_map(|&what| runs.iter().map(move |run| (run, what)));
    Group {
        title: None,
        legend: vec![entry("median", false), entry("10th to 90th percentile", true)],
        panels: true,
        figures: figures.map(|(run, what)| panel(run, what)).collect(),
    }
}

/// The page of a paper. Needs no network; SVG and PDF of its figures lie beside it.
pub fn page(paper: &Paper<Drawn>, scale: Scale) -> String {
    let mut body = String::from("<p class=\"about\"><a href=\"index.html\">All papers</a></p>\n<nav>\n");
    for Drawn { record, .. } in paper.records {
        let (short, id) = (short(record), escape(&record.id));
        body += &format!("<a href=\"#{short}\"><b>{id}</b> {}{}</a>\n", escape(&record.title), tally(&record.claims));
    }
    body += "</nav>\n";
    let mut data = String::new();
    for drawn in paper.records {
        let record = &drawn.record;
        let short = short(record);
        body += &format!(
            "<section class=\"artefact\" id=\"{short}\">\n<h2>{} <small>{}</small></h2>\n<p class=\"said\">{}</p>\n<div class=\"beside\">\n\
             <div class=\"wide\">\n{}</div>\n<div>\n",
            escape(&record.title),
            escape(&record.id),
            escape(&record.about),
            claims(&record.claims)
        );
        for (i, figure) in drawn.figures.iter().enumerate() {
            let file = super::paper::name(drawn, i);
            body += &format!(
                "<div id=\"{short}-{i}\"></div>\n<p class=\"files\">For papers: <a href=\"figures/{file}.svg\">SVG</a>, \
                 <a href=\"figures/{file}.pdf\">PDF</a></p>\n"
            );
            data += &format!("<script type=\"application/json\" data-plots=\"{short}-{i}\">{figure}</script>\n");
        }
        body += "</div>\n</div>\n</section>\n";
    }
    let all = record::claims(paper.records);
    fill(
        include_str!("gallery.html"),
        &[
            ("title", &escape(paper.name)),
            ("about", &format!("{}<br>{scale} scale: {}", escape(paper.about), verdicts(&all))),
            ("body", &body),
            ("data", &data),
            ("version", env!("CARGO_PKG_VERSION")),
            ("page_css", include_str!("page.css")),
            ("page_js", include_str!("page.js")),
            ("uplot_css", include_str!("vendor/uPlot.min.css")),
            ("uplot_js", include_str!("vendor/uPlot.iife.min.js")),
            ("uplot_license", &escape(include_str!("vendor/LICENSE"))),
        ],
    )
}

/// The page that names them all.
pub fn index(scale: Scale, records: &[Drawn]) -> String {
    let mut body = String::from("<nav class=\"papers\">\n");
    for paper in papers(records) {
        let all = record::claims(paper.records);
        let (folder, name) = (escape(paper.folder), escape(paper.name));
        body += &format!(
            "<h2><a href=\"{folder}.html\">{name}</a>{}</h2>\n<p class=\"about\">{}</p>\n",
            tally(&all),
            escape(paper.about)
        );
        for Drawn { record, .. } in paper.records {
            let (short, id, title) = (short(record), escape(&record.id), escape(&record.title));
            body += &format!("<a href=\"{folder}.html#{short}\"><b>{id}</b> {title}{}</a>\n", tally(&record.claims));
        }
    }
    body += "</nav>\n";
    let all = record::claims(records);
    let about = format!("{} claims in {} artefacts, {scale} scale: {}", all.len(), records.len(), verdicts(&all));
    fill(
        include_str!("gallery.html"),
        &[
            ("title", "The papers, reproduced"),
            ("about", &about),
            ("body", &body),
            ("version", env!("CARGO_PKG_VERSION")),
            ("page_css", include_str!("page.css")),
        ],
    )
}

/// An artefact's place on its page.
fn short(record: &Record) -> String {
    escape(&record.id.replace('/', "-"))
}

/// How many claims pass, and how many miss.
fn tally(claims: &[Judged]) -> String {
    let count = |verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
    let badge = |class: &str, n: usize| match n {
        0 => String::new(),
        n => format!(" <span class=\"{class}\">{n}</span>"),
    };
    let (pass, miss) = (badge("pass", count(Verdict::Pass)), badge("miss", count(Verdict::Miss)));
    format!("{pass}{miss}{}", badge("not-run", count(Verdict::NotRun)))
}

fn claims(claims: &[Judged]) -> String {
    let mut html = String::from(
        "<table class=\"setup claims\">\n<thead><tr><td></td><td>claim</td><td>paper</td><td>wanted</td><td>measured</td></tr></thead>\n",
    );
    for (claim, because) in claims.iter().zip(record::reasons(claims)) {
        let verdict = match claim.verdict {
            Verdict::Pass => "<span class=\"pass\">PASS</span>",
            Verdict::Miss => "<span class=\"miss\">MISS</span>",
            Verdict::NotRun => "<span class=\"not-run\">not run</span>",
        };
        let because = because.map_or(String::new(), |why| format!("<br><em>{}</em>", escape(why)));
        html += &format!(
            "<tr><td>{verdict}</td><td>{}{because}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escape(&claim.says),
            claim.paper.map_or(String::new(), number),
            escape(&claim.wanted()),
            escape(&claim.measured)
        );
    }
    html + "</table>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swept_values_have_their_places() {
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
