//! Joins the time series of runs that are in several Parquet files, run by run. Of each file, one group of rows is in
//! memory at a time.

use super::source::{Source, unreadable, values};
use crate::results::Series;
use crate::results::rows::{Column, Out};
use parquet::basic::Type;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use std::ops::Range;

/// Writes the rows of `runs` to `out`, in groups of `rows_per_group`. Each run is the number of the part that its rows
/// are in, and its name. The runs of a part are in its order.
///
/// # Errors
/// A line that says which part cannot be read, and what to do, or that `out` cannot be written.
pub fn join<'p, S: Source>(
    series: &Series,
    out: Out,
    parts: &'p [S],
    runs: impl Iterator<Item = (usize, ByteArray)>,
    rows_per_group: usize,
) -> Result<(), String> {
    let unwritable = |e: ParquetError| format!("the {} cannot be joined ({e})", series.name);
    let mut table = series.begin(out, rows_per_group).map_err(unwritable)?;
    let mut cursors: Vec<Cursor<'p, S>> = parts.iter().map(Cursor::of).collect();
    for (part, run) in runs {
        let cursor = &mut cursors[part];
        while let Some(rows) = cursor.next_of(series, &run).map_err(|e| unreadable(cursor.part, e))? {
            table.add(&cursor.group, rows).map_err(unwritable)?;
        }
    }
    for cursor in &mut cursors {
        if cursor.is_before_a_row(series).map_err(|e| unreadable(cursor.part, e))? {
            return Err(unreadable(cursor.part, ParquetError::General("it has rows of other runs".into())));
        }
    }
    table.end().map_err(unwritable)
}

/// A place in a part.
struct Cursor<'p, S> {
    part: &'p S,
    /// How many groups were read.
    groups: usize,
    /// How many groups there are; none if the part was not opened.
    of_groups: Option<usize>,
    /// The columns of the last of them. The first one has the names of the runs. Without columns if none was read, or
    /// all rows of the part were taken.
    group: Vec<Column>,
    /// How many of its rows were taken.
    taken: usize,
}

impl<'p, S: Source> Cursor<'p, S> {
    fn of(part: &'p S) -> Cursor<'p, S> {
        Cursor { part, groups: 0, of_groups: None, group: Vec::new(), taken: 0 }
    }

    /// Takes the next rows of the group, if they are of `run`.
    fn next_of(&mut self, series: &Series, run: &ByteArray) -> Result<Option<Range<usize>>, ParquetError> {
        if !self.is_before_a_row(series)? {
            return Ok(None);
        }
        let Some(Column::Texts(names)) = self.group.first() else { return Ok(None) };
        let begin = self.taken;
        self.taken += names[begin..].iter().take_while(|name| name.as_ref() == Some(run)).count();
        Ok((begin < self.taken).then_some(begin..self.taken))
    }

    /// Whether there is a row that was not taken. Reads the next group if all rows of the last one were taken.
    fn is_before_a_row(&mut self, series: &Series) -> Result<bool, ParquetError> {
        while self.taken == self.group.first().map_or(0, Column::len) {
            (self.group, self.taken) = (Vec::new(), 0);
            if self.of_groups.is_some_and(|of| self.groups >= of) {
                return Ok(false);
            }
            let file = SerializedFileReader::new(self.part.open()?)?;
            let schema = file.metadata().file_metadata().schema_descr();
            if *schema.root_schema() != series.schema()? {
                return Err(ParquetError::General("its columns are not those of this version".into()));
            }
            self.of_groups = Some(file.num_row_groups());
            if file.num_row_groups() == 0 {
                return Ok(false);
            }
            let group = file.get_row_group(self.groups)?;
            self.group = (0..schema.num_columns()).map(|i| column(&*group, i)).collect::<Result<_, _>>()?;
            self.groups += 1;
        }
        Ok(true)
    }
}

/// Column `i` of a group.
fn column(group: &dyn RowGroupReader, i: usize) -> Result<Column, ParquetError> {
    let column = match group.metadata().column(i).column_type() {
        Type::BYTE_ARRAY => Column::Texts(values::<ByteArrayType>(group, i)?),
        Type::INT32 => Column::Integers(values::<Int32Type>(group, i)?),
        Type::INT64 => Column::Counts(values::<Int64Type>(group, i)?),
        // A column of another type has no values of this one, which its reader says.
        _ => Column::Numbers(values::<DoubleType>(group, i)?),
    };
    if column.len() as i64 != group.metadata().num_rows() {
        return Err(ParquetError::General(format!("column {i} lacks rows")));
    }
    Ok(column)
}

#[cfg(test)]
mod tests {
    use super::super::draft::Draft;
    use super::super::source::InMemory;
    use super::*;
    use crate::results::SERIES;
    use crate::results::columnar::ROWS_PER_GROUP;
    use crate::runner;
    use experiment::Finished;
    use scenario::{Machine, Plan};
    use std::num::NonZero;

    const JOBS: NonZero<usize> = NonZero::<usize>::MIN;

    /// Seven runs of two flows and ten samples, of which the third has no flows, and so no rows in `flows`.
    fn runs() -> (Plan, Vec<Finished>) {
        let planned = |more: &str| {
            let path = "path = { rate = \"5 Mbps\", rtt = \"20 ms\", buffer = \"1 bdp\" }";
            let machine = Machine { memory: u64::MAX, jobs: JOBS };
            let text = format!("duration = \"1 s\"\nsample = \"100 ms\"\n{path}\n{more}");
            scenario::read("test", &text, &[], &machine).unwrap()
        };
        let mut plan =
            planned("flow = [{ controller = \"rapid\" }, { controller = \"reno\" }]\nsweep.seed = [1, 2, 3, 4, 5, 6]");
        let none = "traffic = [{ kind = \"flows\", controller = \"reno\", per-second = 30, size = \"20 kB\" }]";
        plan.runs.insert(2, planned(none).runs.remove(0));
        let runs = runner::run(&plan, JOBS, &(), &|_| true).unwrap();
        (plan, runs)
    }

    /// The runs of shard `number` of `of`, whose groups have so few rows that they begin and end within runs.
    fn part(which: usize, plan: &Plan, runs: &[Finished], number: usize, of: usize) -> InMemory {
        let mine: Vec<&Finished> = runs.iter().skip(number).step_by(of).collect();
        let plan = Plan { runs: mine.iter().map(|run| run.run.clone()).collect(), ..plan.clone() };
        let draft = Draft::in_file(tempfile::tempfile().unwrap());
        // Runs are complete in any order.
        mine.iter().rev().for_each(|run| draft.add(run).unwrap());
        let mut bytes = Vec::new();
        draft.write(which, &plan, &mut bytes, 7).unwrap();
        InMemory { name: format!("{number}"), bytes: bytes.into() }
    }

    #[test]
    fn the_parts_of_any_number_of_shards_are_the_whole() {
        let (plan, runs) = runs();
        for (which, series) in SERIES.iter().enumerate() {
            let mut whole = Vec::new();
            series.write(&mut whole, &runs).unwrap();
            for of in [1, 2, 3, 7, 9] {
                let parts: Vec<InMemory> = (0..of).map(|number| part(which, &plan, &runs, number, of)).collect();
                let names = plan.runs.iter().enumerate().map(|(i, run)| (i % of, run.name().as_str().into()));
                let mut joined = Vec::new();
                join(series, &mut joined, &parts, names, ROWS_PER_GROUP).unwrap();
                assert!(joined == whole, "{} of {of} shards", series.name);
            }
        }
    }

    #[test]
    fn a_part_with_other_runs_is_named() {
        let (plan, runs) = runs();
        let parts = [part(0, &plan, &runs, 0, 1)];
        let names = plan.runs[..3].iter().map(|run| (0, run.name().as_str().into()));
        let flows = join(&SERIES[0], &mut Vec::new(), &parts, names, ROWS_PER_GROUP).unwrap_err();
        assert!(
            flows.starts_with("0: cannot be read (") && flows.contains("it has rows of other runs); remove"),
            "{flows}"
        );
        let links = join(&SERIES[1], &mut Vec::new(), &parts, std::iter::empty(), ROWS_PER_GROUP);
        assert!(links.unwrap_err().contains("its columns are not those of this version"));
    }
}
