//! Joins the metrics of shards: the first row of each, then the second of each, and so on. One column is in memory at a
//! time, beside the joined file.

use super::source::{Source, unreadable, values};
use crate::results::columnar::{begin_as, optional};
use parquet::basic::Type;
use parquet::data_type::{ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::SchemaDescPtr;
use std::io::Write;

/// The rows of `parts`, the shards of a plan in their order, in the order of the plan's runs, as a Parquet file.
///
/// # Errors
/// A line that says which part cannot be read, and what to do.
pub fn join(parts: &[impl Source]) -> Result<Vec<u8>, String> {
    let unwritable = |e: ParquetError| format!("the shards cannot be joined ({e})");
    let mut joined = Vec::new();
    let mut first: Option<SchemaDescPtr> = None;
    let mut rows = 0;
    for part in parts {
        let (schema, count) = describe(part).map_err(|e| unreadable(part, e))?;
        let first = first.get_or_insert_with(|| schema.clone());
        if first.root_schema() != schema.root_schema() {
            return Err(unreadable(part, ParquetError::General("its columns are not those of the others".into())));
        }
        rows += count;
    }
    let Some(schema) = first else { return Ok(joined) };
    let mut file = begin_as(&mut joined, schema.root_schema_ptr()).map_err(unwritable)?;
    if rows > 0 {
        let mut group = file.next_row_group().map_err(unwritable)?;
        for (i, column) in schema.columns().iter().enumerate() {
            match column.physical_type() {
                Type::BYTE_ARRAY => copy::<ByteArrayType>(parts, i, &mut group)?,
                Type::INT64 => copy::<Int64Type>(parts, i, &mut group)?,
                // A column of another type has no values of this one, which its reader says.
                _ => copy::<DoubleType>(parts, i, &mut group)?,
            }
        }
        group.close().map_err(unwritable)?;
    }
    file.close().map_err(unwritable)?;
    Ok(joined)
}

/// Copies column `i` of all parts to the group's next column.
fn copy<T: DataType>(
    parts: &[impl Source],
    i: usize,
    group: &mut SerializedRowGroupWriter<impl Write + Send>,
) -> Result<(), String> {
    let mut columns = Vec::new();
    for part in parts {
        columns.push(column::<T>(part, i).map_err(|e| unreadable(part, e))?.into_iter());
    }
    let longest = columns.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let mut values = Vec::new();
    for _ in 0..longest {
        values.extend(columns.iter_mut().filter_map(Iterator::next));
    }
    optional::<T>(group, values.into_iter()).map_err(|e| format!("the shards cannot be joined ({e})"))
}

/// The values of column `i` of a part.
pub fn column<T: DataType>(part: &impl Source, i: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
    let reader = SerializedFileReader::new(part.open()?)?;
    let mut rows = Vec::new();
    for group in 0..reader.num_row_groups() {
        rows.extend(values::<T>(&*reader.get_row_group(group)?, i)?);
    }
    Ok(rows)
}

/// The schema of a part, and how many rows it has.
fn describe(part: &impl Source) -> Result<(SchemaDescPtr, i64), ParquetError> {
    let reader = SerializedFileReader::new(part.open()?)?;
    let metadata = reader.metadata().file_metadata();
    Ok((metadata.schema_descr_ptr(), metadata.num_rows()))
}
