//! Maps of coloured squares.

use super::Curve;
use serde::{Deserialize, Serialize};

/// A value for each pair of a row and a column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Heat {
    /// What the rows are.
    pub row: String,
    /// The names of the rows.
    pub rows: Vec<String>,
    /// What the columns are.
    pub column: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// One curve per row, with a value per column.
    pub values: Vec<Curve>,
    /// The values of the first colour and of the last.
    pub ends: [f64; 2],
    /// Whether colours follow the logarithm of the values.
    pub log: bool,
}

impl Heat {
    /// Where `value` lies between the first colour, 0, and the last, 1.
    pub fn place(&self, value: f64) -> f64 {
        let of = |x: f64| if self.log { libm::log10(x.max(self.ends[0])) } else { x };
        let [from, to] = self.ends.map(of);
        if to > from { ((of(value) - from) / (to - from)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// `value` as written in its square: two significant digits, thousands with a k.
    pub fn number(value: f64) -> String {
        match value {
            _ if value.abs() >= 9950.0 => format!("{:.0}k", value / 1e3),
            _ if value.abs() >= 995.0 => format!("{:.1}k", value / 1e3),
            _ if value.abs() >= 9.95 || value == 0.0 => format!("{value:.0}"),
            _ if value.abs() >= 0.095 => format!("{value:.1}"),
            _ => format!("{value:.2}"),
        }
    }
}
