//! A plan whose runs are divided gives the results of the plan as a whole.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use scenario::{Machine, Plan, Shard};
use std::fs::{self, File};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use thalweg_lab::runner;
use thalweg_lab::shards::{Part, Refusal, merge, metrics};

/// 2 x 3 x 2 runs. Of two shards, each has one controller. The packet error is a whole number in some runs.
const SCENARIO: &str = r#"
    duration = "1 s"
    path = { rate = "5 Mbps", rtt = "20 ms", buffer = "1 bdp" }
    compare.controllers = ["reno", "rapid"]
    [sweep]
    seed = [1, 2, 3]
    "path.packet-error" = [0, 0.01]
"#;

fn plan(home: &Path, shard: Shard) -> Plan {
    let file = home.join("sweep.toml");
    fs::write(&file, SCENARIO).unwrap();
    scenario::load_shard(&file, &[], &Machine::this(None), shard).unwrap()
}

/// Makes the runs of a shard, and writes their metrics and time series into `folder`.
fn make(home: &Path, folder: &Path, number: usize, of: usize) {
    let shard = Shard::new(number, of).unwrap();
    let plan = plan(home, shard);
    let jobs = NonZero::new(2).unwrap();
    let part = Part::prepare(folder, &plan, shard, true).unwrap();
    let kept = part.begin().unwrap();
    let runs = runner::map(&plan, jobs, &(), &|_| true, &|finished| kept.add(&finished)).unwrap();
    part.write(&plan, &kept, metrics(&plan, runs).unwrap()).unwrap();
}

fn rows(file: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(file).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn field<'a>(row: &'a Row, column: &str) -> &'a Field {
    row.get_column_iter().find(|(name, _)| *name == column).unwrap().1
}

#[test]
fn the_shards_in_any_order_are_the_whole() {
    let home = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for order in [&[1][..], &[2, 1], &[3, 1, 2], &[7, 5, 1, 2, 3, 4, 6], &(1..=20).collect::<Vec<_>>()] {
        let folder = home.path().join(format!("of-{}", order.len()));
        for &number in order {
            make(home.path(), &folder, number, order.len());
        }
        let merged = merge(&folder).unwrap();
        assert_eq!((merged.files.len(), merged.lacking), (3, None));
        let file = folder.join("summary.parquet");
        files.push(merged.files.iter().map(|(_, path)| fs::read(path).unwrap()).collect::<Vec<_>>());

        let plan = plan(home.path(), Shard::ALL);
        let rows = rows(&file);
        assert_eq!(rows.len(), plan.runs.len());
        for (row, run) in rows.iter().zip(&plan.runs) {
            assert_eq!(field(row, "run"), &Field::Str(run.name()));
            assert_eq!(field(row, "controller"), &Field::Str(run.controller.clone()));
            assert_eq!(field(row, "seed"), &Field::ULong(run.experiment.seed));
            let error = run.identity.settings["path.packet-error"].as_f64().unwrap();
            assert_eq!(field(row, "path.packet-error"), &Field::Double(error));
            assert!(matches!(field(row, "throughput_mbps"), Field::Double(mbps) if (0.1..5.0).contains(mbps)));
        }
        let names: Vec<&String> = rows[0].get_column_iter().map(|(name, _)| name).collect();
        assert_eq!(names.iter().filter(|name| **name == "seed").count(), 1, "{names:?}");
        assert!(!names.iter().any(|name| *name == "wall_s"), "the same bytes whenever they are made");
    }
    assert!(files.iter().all(|file| *file == files[0]), "the same bytes for any number of shards");
}

/// The documentation lists the columns.
#[test]
fn the_documentation_has_the_columns() {
    let home = tempfile::tempdir().unwrap();
    make(home.path(), home.path(), 1, 1);
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results.md")).unwrap();
    let (_, section) = docs.split_once("\n## summary.parquet\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let summary = PathBuf::from(&merge(home.path()).unwrap().files[0].1);
    for (name, _) in rows(&summary)[0].get_column_iter() {
        assert!(name == "path.packet-error" || section.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn a_part_that_was_damaged_is_named() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("shards");
    for number in [1, 2] {
        make(home.path(), &folder, number, 2);
    }
    let shard = Shard::new(2, 2).unwrap();
    let metrics = Part::prepare(&folder, &plan(home.path(), shard), shard, false).unwrap().path();
    for path in [metrics.clone(), metrics.replace(".parquet", ".flows.parquet")] {
        let bytes = fs::read(&path).unwrap();
        for length in [0, 10, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..length]).unwrap();
            match merge(&folder) {
                Err(Refusal::Failed(line)) => {
                    assert!(line.starts_with(&path) && line.contains("remove it"), "{line}");
                    assert_eq!(line.lines().count(), 1, "{line}");
                }
                other => panic!("{other:?}"),
            }
        }
        fs::write(&path, &bytes).unwrap();
    }
    // A folder that had a result keeps it.
    assert!(!folder.join("summary.parquet").exists());
}
