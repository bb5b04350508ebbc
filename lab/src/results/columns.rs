//! A table of texts, for the terminal and for the report.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle};

/// The widest table for the terminal, in characters. In wider ones, names wrap.
const WIDTH: u16 = 100;
/// The cell of a value that does not exist or of an event that never happened.
pub const DASH: &str = "-";

/// Headings and rows. A heading has one or more lines, the last of which is the unit. The first column is text, aligned
/// to the left; the others are numbers, aligned to the right. A column in which every cell is [`DASH`] is not shown.
pub struct Columns {
    heads: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// A table without rows.
    pub fn new(heads: &[&'static str]) -> Columns {
        Columns { heads: heads.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, which has a cell for each heading.
    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    /// Whether the column is shown.
    fn says_something(&self, column: usize) -> bool {
        column == 0 || self.rows.iter().any(|row| row[column] != DASH)
    }

    /// The table for the terminal; every line ends in a newline.
    pub fn to_text(&self) -> String {
        self.to_text_within(WIDTH)
    }

    /// The same, up to `width` characters wide.
    pub(crate) fn to_text_within(&self, width: u16) -> String {
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
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

    /// The headings and the rows of the columns that are shown, for other forms of the table.
    pub fn shown(&self) -> (Vec<&str>, Vec<Vec<&str>>) {
        let shown: Vec<usize> = (0..self.heads.len()).filter(|&i| self.says_something(i)).collect();
        let rows = self.rows.iter().map(|row| shown.iter().map(|&i| row[i].as_str()).collect()).collect();
        (shown.iter().map(|&i| self.heads[i]).collect(), rows)
    }
}

/// The cell of `x` with this number of decimals; [`DASH`] if it is not finite.
pub(super) fn number(x: f64, decimals: usize) -> String {
    if x.is_finite() { format!("{x:.decimals$}") } else { DASH.into() }
}

/// The cell of `x`; [`DASH`] if there is none or it is not finite.
pub(crate) fn maybe(x: Option<f64>, decimals: usize) -> String {
    number(x.unwrap_or(f64::NAN), decimals)
}
