//! Tables of results.

use super::name;
use crate::markup::escape;
use lab::results::{Columns, DASH};

/// `table` as HTML, the names in its first column as [`name`] has them; an en dash stands where there is no value.
pub fn html(table: &Columns) -> String {
    let (heads, rows) = table.shown();
    let mut html = String::from("<div class=\"wide\">\n<table class=\"results\">\n<thead><tr>");
    for head in heads {
        html += &format!("<th scope=\"col\">{}</th>", escape(head).replace('\n', "<br>"));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += &format!("<tr><th scope=\"row\">{}</th>", name::html(row[0]));
        for &cell in &row[1..] {
            html += &format!("<td>{}</td>", if cell == DASH { "–".to_string() } else { escape(cell) });
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n</div>\n"
}
