//! What all pages have in common: `page.html` with its styles, and `page.js`, which draws the figures that a page
//! carries as data. It uses uPlot, which lies unmodified in `vendor`.

use crate::figure::Page;
use crate::figure::style::STYLES;
use crate::markup::escape;
use serde::Serialize;

/// A page to write. Fields that are not plain text are HTML.
pub struct Document<'a> {
    /// Plain text.
    pub title: &'a str,
    /// Below the title.
    pub about: String,
    /// How wide the page is laid out: `report` or `gallery`.
    pub class: &'a str,
    /// All that stands between the title and the footer.
    pub body: String,
    /// What else the footer says.
    pub footer: &'a str,
    /// The id of an element of the body, and the figures that are drawn there.
    pub figures: Vec<(String, &'a Page)>,
}

impl Document<'_> {
    /// As one file of HTML.
    pub fn html(&self) -> String {
        let figure = |(id, page): &(String, &Page)| {
            format!("<script type=\"application/json\" data-plots=\"{}\">{}</script>\n", escape(id), embed(page))
        };
        let mut scripts: String = self.figures.iter().map(figure).collect();
        if !self.figures.is_empty() {
            scripts += &fill(
                include_str!("scripts.html"),
                &[
                    ("styles", &embed(&STYLES)),
                    ("page_js", include_str!("page.js")),
                    ("uplot_js", include_str!("../vendor/uPlot.iife.min.js")),
                    ("uplot_license", &escape(include_str!("../vendor/LICENSE"))),
                ],
            );
        }
        fill(
            include_str!("page.html"),
            &[
                ("title", &escape(self.title)),
                ("about", &self.about),
                ("class", self.class),
                ("body", &self.body),
                ("footer", self.footer),
                ("scripts", &scripts),
                ("version", env!("CARGO_PKG_VERSION")),
                ("page_css", include_str!("page.css")),
                ("uplot_css", include_str!("../vendor/uPlot.min.css")),
            ],
        )
    }
}

/// Puts texts where the template says `{{name}}`. A text that is put in is not searched for further names.
fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        page += texts.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text);
        page += rest;
    }
    page
}

/// `data` as JSON that can stand in a script element. The characters that are replaced occur only within JSON's
/// strings; without them, nothing in a string ends the element or a line of JavaScript.
fn embed(data: &impl Serialize) -> String {
    serde_json::to_string(data)
        .unwrap_or_default()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_do_not_become_markup() {
        let text = "</script><img src=x onerror='alert(1)'>&\u{2028}\"";
        assert!(!escape(text).contains(['<', '>', '"', '\'']));
        let json = embed(&text);
        assert!(!json.contains(['<', '>', '&', '\u{2028}']));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn names_in_texts_are_not_filled_in() {
        assert_eq!(fill("a {{x}} b {{y}} c", &[("x", "{{y}}"), ("y", "1")]), "a {{y}} b 1 c");
    }
}
