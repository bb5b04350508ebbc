//! Parquet files that are written some rows at a time. Their groups have a fixed number of rows, so that a file does
//! not depend on the portions in which its rows came, and no more than a group is in memory.

use super::columnar::{begin, optional};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;
use std::io::Write;
use std::ops::Range;

/// Where a file is written.
pub type Out<'a> = &'a mut (dyn Write + Send);

/// The values of a column in some rows.
pub enum Column {
    Texts(Vec<Option<ByteArray>>),
    Integers(Vec<Option<i32>>),
    Counts(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
}

impl Column {
    /// The same value in each of `rows` rows.
    pub fn text(text: ByteArray, rows: usize) -> Column {
        Column::Texts(vec![Some(text); rows])
    }

    /// A value for each row.
    pub fn numbers(values: impl Iterator<Item = f64>) -> Column {
        Column::Numbers(values.map(Some).collect())
    }

    /// A value for each row.
    pub fn counts(values: impl Iterator<Item = i64>) -> Column {
        Column::Counts(values.map(Some).collect())
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Column::Texts(values) => values.len(),
            Column::Integers(values) => values.len(),
            Column::Counts(values) => values.len(),
            Column::Numbers(values) => values.len(),
        }
    }

    /// A column of this type, without rows.
    fn emptied(&self) -> Column {
        match self {
            Column::Texts(_) => Column::Texts(Vec::new()),
            Column::Integers(_) => Column::Integers(Vec::new()),
            Column::Counts(_) => Column::Counts(Vec::new()),
            Column::Numbers(_) => Column::Numbers(Vec::new()),
        }
    }

    /// Appends these rows of `other`, which is of the same type.
    fn extend(&mut self, other: &Column, rows: Range<usize>) {
        match (self, other) {
            (Column::Texts(to), Column::Texts(from)) => to.extend_from_slice(&from[rows]),
            (Column::Integers(to), Column::Integers(from)) => to.extend_from_slice(&from[rows]),
            (Column::Counts(to), Column::Counts(from)) => to.extend_from_slice(&from[rows]),
            (Column::Numbers(to), Column::Numbers(from)) => to.extend_from_slice(&from[rows]),
            _ => unreachable!("columns of the same table have the same type"),
        }
    }
}

/// A file that is being written.
pub struct Table<'a> {
    file: SerializedFileWriter<Out<'a>>,
    /// The rows of the group that is not yet complete; no columns before the first row.
    group: Vec<Column>,
    /// How many rows the group has.
    rows: usize,
    rows_per_group: usize,
}

impl<'a> Table<'a> {
    /// Begins a file with this schema, in Parquet's notation.
    pub fn begin(out: Out<'a>, schema: &str, rows_per_group: usize) -> Result<Table<'a>, ParquetError> {
        Ok(Table { file: begin(out, schema)?, group: Vec::new(), rows: 0, rows_per_group })
    }

    /// Appends these `rows` of `columns`, which are those of the schema.
    pub fn add(&mut self, columns: &[Column], mut rows: Range<usize>) -> Result<(), ParquetError> {
        while !rows.is_empty() {
            if self.group.is_empty() {
                self.group = columns.iter().map(Column::emptied).collect();
            }
            let end = rows.end.min(rows.start + self.rows_per_group - self.rows);
            for (to, from) in self.group.iter_mut().zip(columns) {
                to.extend(from, rows.start..end);
            }
            self.rows += end - rows.start;
            rows.start = end;
            if self.rows == self.rows_per_group {
                self.end_group()?;
            }
        }
        Ok(())
    }

    /// Ends the file.
    pub fn end(mut self) -> Result<(), ParquetError> {
        self.end_group()?;
        self.file.close().map(drop)
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        if self.rows > 0 {
            let mut group = self.file.next_row_group()?;
            for column in std::mem::take(&mut self.group) {
                // Columns in which each row must have a value ignore what says which rows have one.
                match column {
                    Column::Texts(values) => optional::<ByteArrayType>(&mut group, values.into_iter())?,
                    Column::Integers(values) => optional::<Int32Type>(&mut group, values.into_iter())?,
                    Column::Counts(values) => optional::<Int64Type>(&mut group, values.into_iter())?,
                    Column::Numbers(values) => optional::<DoubleType>(&mut group, values.into_iter())?,
                }
            }
            group.close()?;
            self.rows = 0;
        }
        Ok(())
    }
}
