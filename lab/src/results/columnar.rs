//! Parquet files, written column by column.

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::TypePtr;
use std::io::{self, Write};
use std::sync::Arc;

/// How many rows are in memory at a time: those of a group.
pub const ROWS_PER_GROUP: usize = 1 << 18;

/// Begins a file with this schema, in Parquet's notation.
pub fn begin<W: Write + Send>(out: W, schema: &str) -> Result<SerializedFileWriter<W>, ParquetError> {
    begin_as(out, Arc::new(parse_message_type(schema)?))
}

/// Begins a file with this schema.
pub fn begin_as<W: Write + Send>(out: W, schema: TypePtr) -> Result<SerializedFileWriter<W>, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("thalweg ", env!("CARGO_PKG_VERSION")).to_string());
    SerializedFileWriter::new(out, schema, Arc::new(properties.build()))
}

/// Writes the group's next column, in which every row has a value.
pub fn required<T: DataType>(
    group: &mut SerializedRowGroupWriter<impl Write + Send>,
    values: Vec<T::T>,
) -> Result<(), ParquetError> {
    column::<T>(group, &values, None)
}

/// Writes the group's next column, in which rows may lack a value.
pub fn optional<T: DataType>(
    group: &mut SerializedRowGroupWriter<impl Write + Send>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let mut present = Vec::new();
    let levels: Vec<i16> = values
        .map(|value| {
            let level = value.is_some().into();
            present.extend(value);
            level
        })
        .collect();
    column::<T>(group, &present, Some(&levels))
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<impl Write + Send>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let column = group.next_column()?;
    let mut column = column.ok_or_else(|| ParquetError::General("more columns than the schema has".to_string()))?;
    column.typed::<T>().write_batch(values, levels, None)?;
    column.close()
}

/// A text, as Parquet has it.
pub fn text(text: &str) -> ByteArray {
    text.into()
}

/// `x`, or none if it is not a finite number.
pub fn number(x: f64) -> Option<f64> {
    x.is_finite().then_some(x)
}

/// The error of the file that was written, or else the error in its contents.
pub fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
