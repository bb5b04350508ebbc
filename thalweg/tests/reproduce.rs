//! `thalweg reproduce` as a user meets it.

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Runs `thalweg reproduce` in `home`; returns its exit code, standard output and standard error.
fn reproduce(home: &Path, args: &[&str]) -> (i32, String, String) {
    let output = cargo_bin_cmd!("thalweg").current_dir(home).arg("reproduce").args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Starts `thalweg reproduce` in `home`.
fn begun(home: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("thalweg"));
    command.current_dir(home).arg("reproduce").args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

const RECORDS: &str = "results/reproduce/cache/records/quick";

/// The records in `home`, with the times at which they were written.
fn records(home: &Path) -> Vec<(String, SystemTime)> {
    let Ok(entries) = fs::read_dir(home.join(RECORDS)) else { return vec![] };
    let files = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|it| it == "json"));
    files.map(|it| (it.file_name().into_string().unwrap(), it.metadata().unwrap().modified().unwrap())).collect()
}

fn claims(home: &Path) -> Vec<u8> {
    fs::read(home.join("results/reproduce/quick/claims.json")).unwrap()
}

#[test]
fn the_catalogue_is_listed_with_times_and_verdicts() {
    let home = tempfile::tempdir().unwrap();
    let line = |out: &str| out.lines().find(|line| line.starts_with("rapid/table3 ")).unwrap().to_string();
    let (code, out, _) = reproduce(home.path(), &[]);
    assert_eq!(code, 0);
    assert!(line(&out).contains(" s ") && line(&out).contains("not run"), "{out}");
    let (_, out, _) = reproduce(home.path(), &["--scale", "full"]);
    assert!(out.contains(" min "), "{out}");

    assert_eq!(reproduce(home.path(), &["rapid/table3"]).0, 0, "all its claims pass or say why not");
    let (_, out, _) = reproduce(home.path(), &[]);
    assert!(line(&out).contains("PASS") && !line(&out).contains("earlier"), "{out}");

    // As if other code had made the record.
    let [(record, _)] = &records(home.path())[..] else { panic!("one record") };
    fs::rename(home.path().join(RECORDS).join(record), home.path().join(RECORDS).join("0.json")).unwrap();
    let (_, out, _) = reproduce(home.path(), &[]);
    assert!(line(&out).contains("MISS (earlier)"), "{out}");
    let (_, out, _) = reproduce(home.path(), &["--scale", "full"]);
    assert!(line(&out).contains("not run"), "{out}");
}

#[test]
fn an_artefact_leaves_verdicts_pages_and_figures() {
    let home = tempfile::tempdir().unwrap();
    let page = home.path().join("reproduced.md");
    let (code, out, _) =
        reproduce(home.path(), &["rcp-ac/fig1-gamma", "--markdown", page.to_str().unwrap(), "--quiet"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("rcp-ac/fig1-gamma: ") && out.contains("PASS"), "{out}");
    let folder = home.path().join("results/reproduce/quick");
    for file in ["index.html", "rcp-ac.html", "claims.md", "figures/rcp-ac-fig1-gamma.svg"] {
        assert!(folder.join(file).is_file(), "{file} is missing");
    }
    assert_eq!(folder.join("figures/rcp-ac-fig1-gamma.pdf").is_file(), report::pdf::AVAILABLE);
    let page = fs::read_to_string(page).unwrap();
    for part in ["Made on 20", "| RCP-AC | 1 |", "### rcp-ac/fig1-gamma"] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
    assert!(!fs::read_to_string(folder.join("claims.md")).unwrap().contains("Made on"), "the same bytes on any day");
}

/// A killed call has kept the records that it had finished: the next call does the rest, and says the same as one that
/// nobody disturbed.
#[cfg(unix)]
#[test]
fn what_was_finished_before_a_kill_is_not_run_again() {
    let (killed, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut process = begun(killed.path(), &["rapid/table3", "rrr/fig4*"]);
    let begin = Instant::now();
    while records(killed.path()).is_empty() && begin.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(2));
    }
    process.kill().unwrap(); // SIGKILL
    process.wait().unwrap();
    let before = records(killed.path());
    assert!(!before.is_empty(), "there is no record");
    assert!(!killed.path().join("results/reproduce/quick/claims.json").exists(), "it had not come to its end");

    let (code, out, err) = reproduce(killed.path(), &["rapid/table3", "rrr/fig4*"]);
    assert_eq!(code, 0, "{err}");
    let after = records(killed.path());
    assert!(before.iter().all(|one| after.contains(one)), "{before:?}, then {after:?}");
    let first = out.split(':').next().unwrap();
    assert!(!err.contains(&format!(": {first}\n")) && err.contains(": rrr/fig4"), "{first} was run again: {err}");

    let (code, undisturbed, _) = reproduce(whole.path(), &["rapid/table3", "rrr/fig4*"]);
    assert_eq!((code, &undisturbed), (0, &out));
    assert!(claims(killed.path()) == claims(whole.path()), "the same seed, but not the same claims.json");
    let claims: Value = serde_json::from_slice(&claims(whole.path())).unwrap();
    let ids: Vec<_> = claims["artefacts"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["rapid/table3", "rrr/fig4"]);
}

/// The files of the cache of runs in `home`, with the times at which they were written.
fn runs(home: &Path) -> Vec<(std::path::PathBuf, SystemTime)> {
    let folder = home.join("results/reproduce/cache/runs").join(lab::code::SIMULATION);
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let runs = files.filter(|it| !it.file_name().to_string_lossy().starts_with('.'));
    runs.filter_map(|it| Some((it.path(), it.metadata().ok()?.modified().ok()?))).collect()
}

/// Of an artefact that was not complete, the complete runs are not made again.
#[cfg(unix)]
#[test]
fn runs_that_were_complete_before_a_kill_are_not_made_again() {
    let (killed, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let args = ["rcp-ac/fig1-gamma", "--jobs", "1", "--quiet"];
    let mut process = begun(killed.path(), &args);
    let begin = Instant::now();
    while runs(killed.path()).len() < 2 && begin.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(2));
    }
    process.kill().unwrap(); // SIGKILL
    process.wait().unwrap();
    let before = runs(killed.path());
    assert!(before.len() >= 2, "the cache is empty");

    // Runs that are found are read and not written, so that they keep their times.
    assert_eq!(reproduce(killed.path(), &args).0, 0);
    let after = runs(killed.path());
    assert!(before.iter().all(|run| after.contains(run)), "a run of the cache was made again");
    assert_eq!(reproduce(whole.path(), &args).0, 0);
    assert_eq!(after.len(), runs(whole.path()).len());
    assert!(claims(killed.path()) == claims(whole.path()), "the same seed, but not the same claims.json");
}

/// A record that is missing, as after a change of a claim or of a figure, is made again from the cache of runs.
#[test]
fn a_record_is_made_again_without_a_simulation() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(reproduce(home.path(), &["rcp-ac/fig1-gamma", "--quiet"]).0, 0);
    let (claims_before, runs_before) = (claims(home.path()), runs(home.path()));
    assert!(!runs_before.is_empty());
    for (record, _) in records(home.path()) {
        fs::remove_file(home.path().join(RECORDS).join(record)).unwrap();
    }
    assert_eq!(reproduce(home.path(), &["rcp-ac/fig1-gamma", "--quiet"]).0, 0);
    assert!(claims(home.path()) == claims_before && runs(home.path()) == runs_before);
}

/// A place that cannot be written is refused before anything is run, and nothing is left there.
#[test]
fn places_that_cannot_be_written_are_refused_at_once() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    fs::create_dir(home.path().join("folder")).unwrap();
    for args in
        [["--out", "file"], ["--markdown", "no/page.md"], ["--markdown", "folder"], ["--markdown", "file/page.md"]]
    {
        let (code, out, err) = reproduce(home.path(), &[&["rapid/table4"], &args[..]].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.contains(&args.join(" ")) && err.contains("name another") && err.lines().count() == 1, "{err}");
    }
}

/// A page of documentation is made from the records that there are, and says of how many artefacts they are.
#[test]
fn a_page_of_part_of_the_catalogue_says_so() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(reproduce(home.path(), &["rapid/table4", "--quiet"]).0, 0);
    assert_eq!(reproduce(home.path(), &["--markdown", "page.md"]).0, 0);
    let page = fs::read_to_string(home.path().join("page.md")).unwrap();
    let catalogue = reproduce(home.path(), &[]).1.lines().count();
    assert!(
        page.contains(&format!(" in 1 of {catalogue} artefacts, ")) && !page.contains("--all --scale quick` says"),
        "{page}"
    );
}

/// A reader that closes standard output (`| head`) does not stop the runs.
#[cfg(unix)]
#[test]
fn verdicts_that_nobody_reads_are_in_the_pages_all_the_same() {
    let home = tempfile::tempdir().unwrap();
    let mut process = begun(home.path(), &["rapid/table3", "rapid/table4", "--quiet"]);
    drop(process.stdout.take());
    assert!(process.wait().unwrap().success());
    let claims: Value = serde_json::from_slice(&claims(home.path())).unwrap();
    assert_eq!(claims["artefacts"].as_array().unwrap().len(), 2);
    assert!(claims["artefacts"][0]["claims"][0]["values"][0].is_f64(), "numbers, for programs");
}

#[test]
fn an_unknown_id_is_answered_with_the_nearest() {
    let home = tempfile::tempdir().unwrap();
    for (id, said) in [
        ("rapid/tabel2", "there is no `rapid/tabel2` in the catalogue; did you mean `rapid/table2`?"),
        ("nothing/*", "`thalweg reproduce` lists it"),
        ("rapid/", "all artefacts of a paper are `rapid/*`"),
    ] {
        let (code, out, err) = reproduce(home.path(), &[id]);
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains(said) && err.lines().count() == 1, "{err}");
    }
}
