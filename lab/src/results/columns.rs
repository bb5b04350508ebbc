//! A table in the making, for the terminal and for the report.

use crate::report::escape;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle};

/// Wider tables than this have names that wrap.
const WIDTH: u16 = 100;
/// What does not exist or never happened.
const DASH: &str = "-";

/// Headings, of one or more lines with the unit last, and rows. The first column is text, on the left; the others are numbers,
/// on the right. Columns that say nothing are not shown.
pub(crate) struct Columns {
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub(super) fn new(heads: &[&'static str]) -> Columns {
        Columns { heads: heads.to_vec(), rows: Vec::new() }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    fn says_something(&self, column: usize) -> bool {
        column == 0 || self.rows.iter().any(|row| row[column] != DASH)
    }

    /// For the terminal; every line ends in a newline.
    pub(super) fn to_text(&self) -> String {
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
        let height = self.heads.iter().map(|head| head.lines().count()).max().unwrap_or(0);
        table.set_header(self.heads.iter().map(|head| "\n".repeat(height - head.lines().count()) + head));
        table.add_rows(&self.rows);
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            if !self.says_something(i) {
                column.set_constraint(ColumnConstraint::Hidden);
            } else if i > 0 {
                column.set_cell_alignment(CellAlignment::Right);
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table.lines().map(|line| line.trim_end().to_string() + "\n").collect()
    }

    /// For the report.
    pub(crate) fn to_html(&self) -> String {
        let shown: Vec<usize> = (0..self.heads.len()).filter(|&i| self.says_something(i)).collect();
        let mut html = String::from("<table class=\"figures\">\n<thead><tr>");
        for head in shown.iter().map(|&i| escape(self.heads[i])) {
            html += &format!("<th scope=\"col\">{}</th>", head.replace('\n', "<br>"));
        }
        html += "</tr></thead>\n<tbody>\n";
        for row in &self.rows {
            html += &format!("<tr><th scope=\"row\">{}</th>", escape(&row[0]));
            for &i in &shown[1..] {
                html += &format!("<td>{}</td>", if row[i] == DASH { "–".to_string() } else { escape(&row[i]) });
            }
            html += "</tr>\n";
        }
        html + "</tbody>\n</table>\n"
    }
}

/// `x` for a cell.
pub(super) fn number(x: f64, decimals: usize) -> String {
    if x.is_finite() { format!("{x:.decimals$}") } else { DASH.into() }
}

/// `x` for a cell, if there is one.
pub(super) fn maybe(x: Option<f64>, decimals: usize) -> String {
    number(x.unwrap_or(f64::NAN), decimals)
}
