//! Tables of results as HTML.

use super::escape;
use lab::results::{Columns, DASH};

/// `table` as HTML; an en dash stands where there is no value.
pub fn html(table: &Columns) -> String {
    let (heads, rows) = table.shown();
    let mut html = String::from("<table class=\"figures\">\n<thead><tr>");
    for head in heads {
        html += &format!("<th scope=\"col\">{}</th>", escape(head).replace('\n', "<br>"));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += &format!("<tr><th scope=\"row\">{}</th>", escape(row[0]));
        for &cell in &row[1..] {
            html += &format!("<td>{}</td>", if cell == DASH { "–".to_string() } else { escape(cell) });
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n"
}
