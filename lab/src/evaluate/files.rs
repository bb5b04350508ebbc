//! An evaluation as files: `NAME.json`, and `NAME.parquet` with a row for each value.

use super::judge::Evaluation;
use crate::files;
use crate::results::columnar::{begin_as, io_error, number, optional, required, text};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Writes both files into the existing `folder`, with the name of the subject.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, evaluation: &Evaluation) -> io::Result<()> {
    let mut json = serde_json::to_vec_pretty(evaluation)?;
    json.push(b'\n');
    files::write(&folder.join(format!("{}.json", evaluation.subject)), |out| out.write_all(&json))?;
    let mut bytes = Vec::new();
    cases(&mut bytes, evaluation)?;
    files::write(&folder.join(format!("{}.parquet", evaluation.subject)), |out| out.write_all(&bytes))
}

/// A value of a row in a case.
struct Value<'e> {
    texts: [&'e str; 4],
    case: String,
    controller: &'e str,
    sample: usize,
    value: f64,
}

/// Writes the values of all runs as Parquet, one per row of the report, case, controller and seed.
///
/// # Errors
/// If `out` cannot be written.
pub fn cases(out: impl Write + Send, evaluation: &Evaluation) -> io::Result<()> {
    write_cases(out, evaluation).map_err(io_error)
}

fn write_cases(out: impl Write + Send, evaluation: &Evaluation) -> Result<(), ParquetError> {
    let column = |name: &str, physical, converted, repetition| {
        let built = Type::primitive_type_builder(name, physical);
        built.with_converted_type(converted).with_repetition(repetition).build().map(Arc::new)
    };
    let words = |name| column(name, Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::REQUIRED);
    let names = ["criterion", "block", "row", "measure", "case", "role"];
    let mut fields = names.into_iter().map(words).collect::<Result<Vec<_>, _>>()?;
    fields.push(column("sample", Physical::INT64, ConvertedType::UINT_64, Repetition::REQUIRED)?);
    fields.push(column("value", Physical::DOUBLE, ConvertedType::NONE, Repetition::OPTIONAL)?);
    let schema = Type::group_type_builder("cases").with_fields(fields).build()?;
    let mut values = Vec::new();
    for row in &evaluation.rows {
        for case in &row.cases {
            for (controller, all) in [("subject", &case.subject), ("baseline", &case.baseline)] {
                values.extend(all.iter().enumerate().map(|(sample, &value)| Value {
                    texts: [&row.criterion, &row.block, &row.says, &row.measure],
                    case: case.name(),
                    controller,
                    sample,
                    value,
                }));
            }
        }
    }
    let mut file = begin_as(out, Arc::new(schema))?;
    let mut group = file.next_row_group()?;
    let texts = |of: &dyn Fn(&Value) -> ByteArray| -> Vec<ByteArray> { values.iter().map(of).collect() };
    for i in 0..4 {
        required::<ByteArrayType>(&mut group, texts(&|it| text(it.texts[i])))?;
    }
    required::<ByteArrayType>(&mut group, texts(&|it| text(&it.case)))?;
    required::<ByteArrayType>(&mut group, texts(&|it| text(it.controller)))?;
    required::<Int64Type>(&mut group, values.iter().map(|it| it.sample as i64).collect())?;
    optional::<DoubleType>(&mut group, values.iter().map(|it| number(it.value)))?;
    group.close()?;
    file.close().map(drop)
}
