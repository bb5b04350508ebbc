//! Joins the shards of a plan.

use super::join;
use super::name::Name;
use super::refusal::Refusal;
use super::series;
use super::source::{Source, unreadable};
use super::store::Store;
use crate::results::SERIES;
use crate::results::columnar::ROWS_PER_GROUP;
use parquet::data_type::{ByteArray, ByteArrayType};
use std::collections::HashSet;
use std::path::Path;

/// What the joined metrics are called. Their file is this name with `.parquet` behind it.
const SUMMARY: &str = "summary";

/// The joined files.
#[derive(Debug)]
pub struct Merged {
    /// What each has, such as `summary`, and where it is.
    pub files: Vec<(&'static str, String)>,
    /// That some shards have time series and others have none, so that those are not joined: a line that names the
    /// latter, and says what to do.
    pub lacking: Option<String>,
}

/// Joins the shards in `place`, a folder or `s3://BUCKET/PREFIX`, to files there, in the order of the plan's runs:
/// `summary.parquet`, and, if the shards have time series, `flows.parquet` and `links.parquet`. They are the same files
/// for any number of shards.
///
/// # Errors
/// If shards are missing, there are none or those of several plans, or a file cannot be read or written.
pub fn merge(place: &Path) -> Result<Merged, Refusal> {
    let store = Store::open(place)?;
    let wrong = |why: String| Refusal::Wrong(format!("{}: {why}", place.display()));
    let mut all = Name::all_in(&store)?;
    all.sort_by_key(|name| name.shard.number());
    let Some(first) = all.first() else {
        return Err(wrong("holds no shards; name the folder of thalweg run --shard".into()));
    };
    if let Some(other) = all.iter().find(|other| !other.is_beside(first)) {
        return Err(wrong(format!("{first} and {other} are not of the same plan; remove those of one")));
    }
    let of = first.shard.of();
    let numbers = |series| all.iter().filter(move |name| name.series == series).map(|name| name.shard.number());
    if let Some(missing) = missing(numbers(None), of) {
        return Err(Refusal::Failed(format!(
            "{}: these of {of} shards are missing: {missing}; run them with --shard, and merge again",
            place.display()
        )));
    }
    let with_series = SERIES.map(|series| numbers(Some(series.name)).collect::<HashSet<usize>>());
    let has_series = |number: &usize| with_series.iter().all(|numbers| numbers.contains(number));
    let without = missing(numbers(None).filter(has_series), of);
    let metrics: Vec<Name> = all.iter().filter(|name| name.series.is_none()).cloned().collect();
    let files = match &store {
        Store::Folder(folder) => {
            join_all(&store, &metrics, without.is_none(), |name| Ok(folder.join(name.to_string())))?
        }
        #[cfg(feature = "object-store")]
        Store::Bucket(bucket) => join_all(&store, &metrics, without.is_none(), |name| {
            let bytes = bucket.read(&name.to_string())?.unwrap_or_default().into();
            Ok(super::source::InMemory { name: bucket.path(&name.to_string()), bytes })
        })?,
    };
    let lacking = without.filter(|_| all.len() > metrics.len()).map(|without| {
        format!(
            "{}: time series are not joined, because these of {of} shards have none: {without}; run them with --shard \
             and --series, and merge again",
            place.display()
        )
    });
    Ok(Merged { files, lacking })
}

/// Joins the shards with these files of metrics, which `open` opens, and their time series if they have them.
fn join_all<S: Source>(
    store: &Store,
    shards: &[Name],
    have_series: bool,
    open: impl Fn(&Name) -> Result<S, Refusal>,
) -> Result<Vec<(&'static str, String)>, Refusal> {
    let file = |name: &str| format!("{name}.parquet");
    let metrics = shards.iter().map(&open).collect::<Result<Vec<S>, _>>()?;
    let joined = join::join(&metrics).map_err(Refusal::Failed)?;
    let mut files = vec![(SUMMARY, store.path(&file(SUMMARY)))];
    if have_series {
        let runs = runs(&metrics).map_err(Refusal::Failed)?;
        drop(metrics);
        for series in &SERIES {
            let parts = shards.iter().map(|name| open(&name.with(series.name))).collect::<Result<Vec<S>, _>>()?;
            store.fill(&file(series.name), |out| {
                series::join(series, out, &parts, runs.iter().cloned(), ROWS_PER_GROUP).map_err(Refusal::Failed)
            })?;
            files.push((series.name, store.path(&file(series.name))));
        }
    }
    store.write(&file(SUMMARY), joined)?;
    Ok(files)
}

/// The runs in the plan's order: which shard has each, counted from 0, and its name.
fn runs(metrics: &[impl Source]) -> Result<Vec<(usize, ByteArray)>, String> {
    let mut names = Vec::new();
    for shard in metrics {
        names.push(join::column::<ByteArrayType>(shard, 0).map_err(|e| unreadable(shard, e))?.into_iter());
    }
    let longest = names.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let round = |_| names.iter_mut().enumerate().filter_map(|(i, names)| Some((i, names.next()??))).collect::<Vec<_>>();
    Ok((0..longest).flat_map(round).collect())
}

/// Which of the numbers from 1 to `of` are not among those `there`, which are sorted; none if all are there. Ranges are
/// written as Slurm takes them: `2,5-7`.
fn missing(there: impl Iterator<Item = usize>, of: usize) -> Option<String> {
    let mut next = 1;
    let mut ranges = Vec::new();
    for number in there.chain([of.saturating_add(1)]) {
        match number.saturating_sub(next) {
            0 => {}
            1 => ranges.push(next.to_string()),
            _ => ranges.push(format!("{next}-{}", number - 1)),
        }
        next = number.saturating_add(1);
    }
    (!ranges.is_empty()).then(|| ranges.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_shards_are_named_in_ranges() {
        let of_ten = |there: &[usize]| missing(there.iter().copied(), 10);
        assert_eq!(of_ten(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), None);
        assert_eq!(of_ten(&[1, 3, 4, 8, 9]).unwrap(), "2,5-7,10");
        assert_eq!(of_ten(&[10]).unwrap(), "1-9");
        assert_eq!(missing([1].into_iter(), usize::MAX).unwrap(), format!("2-{}", usize::MAX - 1));
    }
}
