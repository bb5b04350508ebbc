//! When the contents and the name of a copied file are on the disk.

use super::*;
use tempfile::TempDir;

/// When the calls of `thalweg cp` that flush or rename began and ended, in order: `begin CALL` and `end CALL`, with the
/// paths of open files.
#[cfg(target_os = "linux")]
fn flushes_and_renames(home: &Path, args: &[&str]) -> Vec<String> {
    let trace = home.join("trace");
    let calls = "trace=fsync,fdatasync,rename,renameat,renameat2";
    let mut strace = Command::new("strace");
    strace.args(["-f", "-y", "-q", "-e", calls, "-o", text(&trace)]).arg(cargo_bin!("thalweg")).arg("cp").args(args);
    succeeds(&strace.output().unwrap());
    let (mut unfinished, mut events) = (std::collections::HashMap::new(), Vec::new());
    for line in fs::read_to_string(&trace).unwrap().lines() {
        let (thread, call) = line.split_once(' ').unwrap();
        let call = call.trim();
        if let Some(begun) = call.strip_suffix(" <unfinished ...>") {
            events.push(format!("begin {begun}"));
            unfinished.insert(thread.to_string(), begun.to_string());
        } else if call.contains(" resumed>") {
            events.push(format!("end {}", unfinished.remove(thread).unwrap()));
        } else if !call.starts_with(['+', '-']) {
            // It is neither the end of a thread nor a signal.
            events.extend([format!("begin {call}"), format!("end {call}")]);
        }
    }
    events
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_is_on_the_disk_before_it_has_its_name_and_the_name_before_the_copy_ends() {
    if Command::new("strace").arg("-V").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "strace is not installed");
        println!("skipped: it takes strace");
        return;
    }
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    fs::create_dir_all(from.join("folder")).unwrap();
    fs::create_dir(&to).unwrap();
    for name in ["a", "b", "folder/c"] {
        fs::write(from.join(name), noise(300_000, 7)).unwrap();
    }
    let served = Served::new(&from, &["--keep"]);
    let source = format!("{}.", served.string);
    let copy = ["-r", &source, text(&to)];
    let events = flushes_and_renames(home.path(), &copy);
    let last = |what: &str, of: &str| {
        let found = events.iter().rposition(|event| event.starts_with(what) && event.contains(of));
        found.unwrap_or_else(|| panic!("no `{what}` of {of} in {events:#?}"))
    };
    for (name, folder) in [("a", "/to>"), ("b", "/to>"), ("c", "/to/folder>")] {
        let partial = format!(".{name}.thalweg-");
        let (flushed, named) = (last("end fsync(", &partial), last("begin rename", &partial));
        assert!(flushed < named, "{name} in {events:#?}");
        assert!(last("end rename", &partial) < last("begin fsync(", folder), "the folder of {name} in {events:#?}");
    }
    // Files that are there already are flushed, too, since it is not known who wrote them.
    let again = flushes_and_renames(home.path(), &copy);
    assert_eq!(again.iter().filter(|event| event.starts_with("end fsync(")).count(), 5, "{again:#?}");
    // Without flushing, none is.
    fs::write(from.join("a"), noise(300_000, 9)).unwrap();
    let none = flushes_and_renames(home.path(), &[&copy[..], &["--no-sync"]].concat());
    assert!(none.iter().any(|event| event.starts_with("end rename")), "{none:#?}");
    assert!(none.iter().all(|event| !event.contains("sync(")), "{none:#?}");
}
