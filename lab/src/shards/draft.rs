//! The time series of a shard's runs until all of them are complete. Runs are complete in any order and may be
//! thousands: so the series of each are appended to a temporary file at once, as a Parquet file of their own.

use super::series;
use super::source::Source;
use crate::results::rows::Out;
use crate::results::{SERIES, Series};
use bytes::Bytes;
use experiment::Finished;
use parquet::file::reader::ChunkReader;
use scenario::{Plan, reason};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// Time series that wait in a temporary file.
pub struct Draft(Mutex<Waiting>);

struct Waiting {
    file: File,
    /// How long the file is.
    bytes: u64,
    /// Where each run's series begin, and how long each of [`SERIES`] is.
    places: HashMap<String, (u64, [usize; SERIES.len()])>,
}

impl Draft {
    /// No series, to be kept in the empty `file`.
    pub fn in_file(file: File) -> Draft {
        Draft(Mutex::new(Waiting { file, bytes: 0, places: HashMap::new() }))
    }

    /// Keeps the series of a run.
    ///
    /// # Errors
    /// A line that says that the file cannot be written.
    pub fn add(&self, run: &Finished) -> Result<(), String> {
        let mut parquet = Vec::new();
        let mut lengths = [0; SERIES.len()];
        let mut keep = || {
            for (series, length) in SERIES.iter().zip(&mut lengths) {
                let before = parquet.len();
                series.write(&mut parquet, std::slice::from_ref(run))?;
                *length = parquet.len() - before;
            }
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.file.write_all(&parquet)?;
            let begin = waiting.bytes;
            waiting.bytes += parquet.len() as u64;
            waiting.places.insert(run.run.name(), (begin, lengths));
            io::Result::Ok(())
        };
        keep().map_err(|e| format!("the time series cannot be written into a temporary file ({})", reason(&e)))
    }

    /// Writes the table `which` of [`SERIES`] with the runs of `plan`, in its order and in groups of `rows_per_group`.
    ///
    /// # Errors
    /// A line that says why not.
    pub fn write(&self, which: usize, plan: &Plan, out: Out, rows_per_group: usize) -> Result<(), String> {
        let series: &Series = &SERIES[which];
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let names: Vec<String> = plan.runs.iter().map(experiment::Run::name).collect();
        let place = |name: &String| {
            let (begin, lengths) = waiting.places.get(name)?;
            let before: usize = lengths[..which].iter().sum();
            Some(Place { file: &waiting.file, begin: begin + before as u64, length: lengths[which] })
        };
        let places: Option<Vec<Place>> = names.iter().map(place).collect();
        let places = places.ok_or("the time series of a run are not there")?;
        let runs = names.iter().map(|name| name.as_str().into()).enumerate();
        series::join(series, out, &places, runs, rows_per_group)
    }
}

/// A part of the temporary file.
struct Place<'a> {
    file: &'a File,
    begin: u64,
    length: usize,
}

impl Source for Place<'_> {
    fn open(&self) -> io::Result<impl ChunkReader + 'static> {
        let mut file = self.file;
        let mut bytes = vec![0; self.length];
        file.seek(SeekFrom::Start(self.begin))?;
        file.read_exact(&mut bytes)?;
        Ok(Bytes::from(bytes))
    }

    fn name(&self) -> String {
        "the temporary file of the time series".into()
    }
}
