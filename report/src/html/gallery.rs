//! The pages of `thalweg reproduce`: an index, and for each paper a page with every artefact's claims beside its
//! figures.

use super::claims;
use super::template::Document;
use crate::artefact::Drawn;
use crate::markup::{escape, with_code};
use lab::reproduce::Scale;
use lab::reproduce::paper::{Paper, papers};
use lab::reproduce::record::tally_of_records;
use lab::reproduce::tally::{Apart, Tally, tally};

/// What the footer of every page says of the claims.
const FOOTER: &str = "The same claims for programs: <a href=\"claims.json\">claims.json</a>. The numbers beside a title \
     tell how many claims of the paper pass, miss, or are not run at this scale; behind <i>ours</i>, how many of those \
     that we make beside it.";
/// What the footer of a page with figures says beside that.
const ZOOM: &str = " Drag across a figure to zoom in, double-click to see all again.";

/// The page of a paper. It links each figure's file in the folder `figures` beside it: an SVG, and a PDF if `pdf`,
/// which whoever writes the page must write, too.
pub fn page(paper: &Paper<Drawn>, scale: Scale, pdf: bool) -> String {
    let mut body = String::from("<p class=\"about\"><a href=\"index.html\">All papers</a></p>\n<nav>\n");
    for drawn in paper.records {
        body += &link("", drawn);
    }
    body += "</nav>\n<noscript><p>The figures need JavaScript; the tables do not.</p></noscript>\n";
    let mut figures = Vec::new();
    for drawn in paper.records {
        let (record, short) = (&drawn.record, drawn.short_name());
        body += &format!(
            "<section class=\"artefact\" id=\"{}\">\n<h2>{} <small>{}</small></h2>\n<p class=\"said\">{}</p>\n\
             <div class=\"beside\">\n<div class=\"wide\">\n{}</div>\n<div>\n",
            escape(&short),
            escape(&record.title),
            escape(&record.id),
            with_code(&record.about),
            claims::tables(&record.claims)
        );
        for (i, figure) in drawn.figures.iter().enumerate() {
            let (place, file) = (format!("{short}-{i}"), escape(&drawn.file_name(i)));
            let pdf = if pdf { format!(", <a href=\"figures/{file}.pdf\">PDF</a>") } else { String::new() };
            body += &format!(
                "<div id=\"{}\"></div>\n<p class=\"files\">For papers: <a href=\"figures/{file}.svg\">SVG</a>{pdf}</p>\n",
                escape(&place)
            );
            figures.push((place, figure));
        }
        body += "</div>\n</div>\n</section>\n";
    }
    let document = Document {
        title: paper.name,
        about: format!("{}<br>{}", escape(paper.about), scaled(scale, &tally_of_records(paper.records))),
        class: "gallery",
        body,
        footer: &(FOOTER.to_string() + ZOOM),
        figures,
    };
    document.html()
}

/// The page that links the pages of all papers.
pub fn index(scale: Scale, records: &[Drawn]) -> String {
    let mut body = String::from("<nav class=\"papers\">\n");
    for paper in papers(records) {
        let badges = claims::badges(&tally_of_records(paper.records));
        let (folder, name) = (escape(paper.folder), escape(paper.name));
        body += &format!(
            "<h2><a href=\"{folder}.html\">{name}</a>{badges}</h2>\n<p class=\"about\">{}</p>\n",
            escape(paper.about)
        );
        for drawn in paper.records {
            body += &link(&format!("{}.html", paper.folder), drawn);
        }
    }
    body += "</nav>\n";
    let total = tally_of_records(records);
    let document = Document {
        title: "The papers, reproduced",
        about: format!("{} artefacts. {}", records.len(), scaled(scale, &total)),
        class: "gallery",
        body,
        footer: FOOTER,
        figures: vec![],
    };
    document.html()
}

/// How many claims have which verdict at `scale`, those of the papers and ours.
fn scaled(scale: Scale, total: &Apart<Tally>) -> String {
    format!("Verdicts at {scale} scale. {}", total.sentences())
}

/// A link to an artefact on the page `file`.
fn link(file: &str, drawn: &Drawn) -> String {
    let record = &drawn.record;
    format!(
        "<a href=\"{}#{}\"><b>{}</b> <span class=\"title\">{}{}</span></a>\n",
        escape(file),
        escape(&drawn.short_name()),
        escape(&record.id),
        escape(&record.title),
        claims::badges(&tally(&record.claims))
    )
}
