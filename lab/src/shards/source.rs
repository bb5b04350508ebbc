//! The Parquet files that are joined, and how they are read.

use crate::results::columnar::io_error;
use bytes::Bytes;
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, RowGroupReader};
use scenario::reason;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// A Parquet file of a shard. It is opened each time that a part of it is read, so that not all files are open
/// together.
pub trait Source {
    /// Opens it.
    fn open(&self) -> io::Result<impl ChunkReader + 'static>;
    /// What errors call it.
    fn name(&self) -> String;
}

impl Source for PathBuf {
    fn open(&self) -> io::Result<impl ChunkReader + 'static> {
        File::open(self)
    }

    fn name(&self) -> String {
        self.display().to_string()
    }
}

/// A Parquet file in memory.
pub struct InMemory {
    pub name: String,
    pub bytes: Bytes,
}

impl Source for InMemory {
    fn open(&self) -> io::Result<impl ChunkReader + 'static> {
        Ok(self.bytes.clone())
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

/// The values of column `i` in a group of rows.
pub fn values<T: DataType>(group: &dyn RowGroupReader, i: usize) -> Result<Vec<Option<T::T>>, ParquetError> {
    let count = group.metadata().num_rows().max(0) as usize;
    let is_required = group.metadata().column(i).column_descr().max_def_level() == 0;
    let column = T::get_column_reader(group.get_column_reader(i)?);
    let mut column = column.ok_or_else(|| ParquetError::General(format!("column {i} has another type")))?;
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    column.read_records(count, Some(&mut levels), None, &mut values)?;
    let mut values = values.into_iter();
    if is_required {
        return Ok(values.map(Some).collect());
    }
    Ok(levels.into_iter().map(|level: i16| (level > 0).then(|| values.next()).flatten()).collect())
}

/// Says that `part` cannot be read, and what to do.
pub fn unreadable(part: &impl Source, error: ParquetError) -> String {
    let why = reason(&io_error(error));
    format!("{}: cannot be read ({why}); remove it, and run its shard again", part.name())
}
