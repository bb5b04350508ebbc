//! A score as files: `score.json`, and `paths.parquet` with a row for each path and controller.

use super::{Measure, Row, Score, Task};
use crate::files;
use crate::results::columnar::{begin_as, io_error, number, optional, required, text};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Writes both files into the existing `folder`.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, score: &Score, task: &Task, rows: &[Row]) -> io::Result<()> {
    let mut json = serde_json::to_vec_pretty(score)?;
    json.push(b'\n');
    files::write(&folder.join("score.json"), |out| out.write_all(&json))?;
    let mut bytes = Vec::new();
    paths(&mut bytes, task, rows).map_err(io_error)?;
    files::write(&folder.join("paths.parquet"), |out| out.write_all(&bytes))
}

fn paths(out: impl Write + Send, task: &Task, rows: &[Row]) -> Result<(), ParquetError> {
    let column = |name: &str, physical, converted, repetition| {
        let built = Type::primitive_type_builder(name, physical);
        built.with_converted_type(converted).with_repetition(repetition).build().map(Arc::new)
    };
    let integer = |name| column(name, Physical::INT64, ConvertedType::UINT_64, Repetition::REQUIRED);
    let words = |name| column(name, Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::REQUIRED);
    let mut fields = vec![integer("seed")?, integer("path")?, words("title")?, words("controller")?];
    for measure in Measure::ALL {
        fields.push(column(measure.name(), Physical::DOUBLE, ConvertedType::NONE, Repetition::OPTIONAL)?);
    }
    fields.push(integer("failures")?);
    let schema = Type::group_type_builder("paths").with_fields(fields).build()?;
    let mut file = begin_as(out, Arc::new(schema))?;
    let mut group = file.next_row_group()?;
    let drawn = || rows.iter().map(|row| &task.paths[row.path]);
    let texts = |all: &mut dyn Iterator<Item = String>| -> Vec<ByteArray> { all.map(|it| text(&it)).collect() };
    required::<Int64Type>(&mut group, drawn().map(|path| path.id.seed as i64).collect())?;
    required::<Int64Type>(&mut group, drawn().map(|path| path.id.number as i64).collect())?;
    required::<ByteArrayType>(&mut group, texts(&mut drawn().map(|path| path.title())))?;
    required::<ByteArrayType>(&mut group, texts(&mut rows.iter().map(|row| row.controller.clone())))?;
    for measure in Measure::ALL {
        let values = rows.iter().map(|row| row.measures.as_ref()?.get(measure).and_then(number));
        optional::<DoubleType>(&mut group, values)?;
    }
    required::<Int64Type>(&mut group, rows.iter().map(|row| row.failures.len() as i64).collect())?;
    group.close()?;
    file.close().map(drop)
}
