//! Columns in Arrow's layout, which other libraries read without a copy.
//!
//! A [`Table`] is handed over by the Arrow PyCapsule interface
//! (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>): pandas, polars, pyarrow and DuckDB
//! read it, and none of them is needed.

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, RecordBatchIterator, ffi::FFI_ArrowSchema};
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use std::io;

/// The most rows of a batch.
const ROWS: usize = 1 << 16;

/// A table of results.
#[pyclass(frozen, module = "thalweg")]
pub struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// The table in the Parquet file with these bytes.
    pub fn from_parquet(file: Vec<u8>) -> io::Result<Table> {
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file))?.with_batch_size(ROWS).build()?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        let batches = reader.collect::<Result<_, _>>().map_err(io::Error::other)?;
        Ok(Table { schema, batches })
    }
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Table {
        Table { schema: batch.schema(), batches: vec![batch] }
    }
}

#[pymethods]
impl Table {
    /// The table in the Parquet file with the bytes `part`, such as the metrics of a shard.
    #[staticmethod]
    fn _of_part(py: Python, part: Vec<u8>) -> PyResult<Table> {
        Ok(py.detach(|| Table::from_parquet(part))?)
    }

    /// The names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __contains__(&self, column: &str) -> bool {
        self.schema.index_of(column).is_ok()
    }

    /// The values of a column as a list; `None` where there is no value.
    fn __getitem__<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyList>> {
        let index = self.schema.index_of(column).map_err(|_| {
            PyKeyError::new_err(format!("there is no column {column:?}; there are: {}", self.column_names().join(", ")))
        })?;
        let list = PyList::empty(py);
        for batch in &self.batches {
            extend(&list, batch.column(index))?;
        }
        Ok(list)
    }

    fn __repr__(&self) -> String {
        format!("<thalweg.Table: {} rows of {}>", self.__len__(), self.column_names().join(", "))
    }

    /// The types of the columns, as the PyCapsule interface has them.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|e| PyValueError::new_err(e.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// All rows, as the PyCapsule interface has them. A consumer that would like another schema is given this one, as
    /// the interface allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, self.schema.clone())));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// Appends the values of `column` to `list`.
fn extend(list: &Bound<PyList>, column: &dyn Array) -> PyResult<()> {
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().iter().try_for_each(|value| list.append(value)),
        DataType::Int32 => column.as_primitive::<Int32Type>().iter().try_for_each(|value| list.append(value)),
        DataType::Int64 => column.as_primitive::<Int64Type>().iter().try_for_each(|value| list.append(value)),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().iter().try_for_each(|value| list.append(value)),
        DataType::Float64 => column.as_primitive::<Float64Type>().iter().try_for_each(|value| list.append(value)),
        other => Err(PyValueError::new_err(format!("a column of type {other} has no list"))),
    }
}
