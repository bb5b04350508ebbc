//! Copies that were interrupted, and files that have changed since.

use super::*;
use tempfile::TempDir;

/// The size of the file whose copy the tests interrupt, in bytes.
const LARGE: usize = 60_000_000;

/// Waits until a partial file in `folder` has at least `size` bytes.
fn wait_for_partial(folder: &Path, size: u64) {
    let begin = Instant::now();
    let grown = || {
        let mut entries = fs::read_dir(folder).unwrap().filter_map(Result::ok);
        entries.any(|entry| {
            entry.file_name().to_string_lossy().contains(".thalweg-")
                && entry.metadata().is_ok_and(|there| there.len() >= size)
        })
    };
    while !grown() {
        assert!(begin.elapsed() < TIMEOUT, "no partial file grows to this size");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Checks that at least `least` bytes were not sent again, that the copy is complete, and that no other file is left
/// beside it.
#[track_caller]
fn assert_resumed(said: &str, from: &Path, to: &Path, least: f64) {
    let before = said.split(" MB of it there before").next().filter(|_| said.contains("there before"));
    let before: f64 = before.and_then(|text| text.rsplit(' ').next()).and_then(|mb| mb.parse().ok()).unwrap_or(0.0);
    assert!(before * 1e6 >= least, "{said}");
    assert!(fs::read(from).unwrap() == fs::read(to).unwrap());
    assert_eq!(fs::read_dir(to.parent().unwrap()).unwrap().count(), 1, "another file is left");
}

#[test]
fn a_copy_whose_receiver_was_killed_is_resumed() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    [&from, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(from.join("large"), noise(LARGE, 1)).unwrap();
    let served = Served::new(&from, &[]);
    let source = format!("{}large", served.string);
    let mut child = command(&[&source, text(&to)]).spawn().unwrap();
    wait_for_partial(&to, LARGE as u64 / 4);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!to.join("large").exists());
    let said = succeeds(&cp(&[&source, text(&to)]));
    assert_resumed(&said, &from.join("large"), &to.join("large"), LARGE as f64 / 4.0);
}

#[test]
fn a_copy_whose_sender_was_killed_is_resumed() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    [&from, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let file = from.join("large");
    fs::write(&file, noise(LARGE, 2)).unwrap();
    let served = Served::new(&to, &["--writable"]);
    let mut child = command(&[text(&file), &served.string]).spawn().unwrap();
    wait_for_partial(&to, LARGE as u64 / 4);
    child.kill().unwrap();
    child.wait().unwrap();
    let said = succeeds(&cp(&[text(&file), &served.string]));
    assert_resumed(&said, &file, &to.join("large"), LARGE as f64 / 4.0);
}

#[test]
fn ctrl_c_is_exit_code_130_and_the_same_command_resumes_the_copy() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    [&from, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(from.join("large"), noise(LARGE, 9)).unwrap();
    let served = Served::new(&from, &["--keep"]);
    let source = format!("{}large", served.string);
    let mut child = command(&[&source, text(&to)]).spawn().unwrap();
    wait_for_partial(&to, LARGE as u64 / 4);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let said = succeeds(&cp(&[&source, text(&to)]));
    assert_resumed(&said, &from.join("large"), &to.join("large"), LARGE as f64 / 4.0);
}

#[test]
fn a_client_continues_with_a_restarted_server() {
    let home = TempDir::new().unwrap();
    let (from, to, key) = (home.path().join("from"), home.path().join("to"), home.path().join("key"));
    [&from, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    let file = from.join("large");
    fs::write(&file, noise(LARGE, 3)).unwrap();
    let mut served = Served::new(&to, &["--writable", "--key-file", text(&key)]);
    assert_eq!(fs::metadata(&key).unwrap().mode() & 0o777, 0o600);
    let child = command(&["--timeout", "3s", text(&file), &served.string]).spawn().unwrap();
    wait_for_partial(&to, LARGE as u64 / 4);
    let address = served.address().to_string();
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let again = Served::at(&address, &to, &["--writable", "--key-file", text(&key)]);
    assert_eq!(again.string, served.string);
    let said = succeeds(&child.wait_with_output().unwrap());
    assert!(said.contains("trying again"), "{said}");
    assert_resumed(&said, &file, &to.join("large"), 0.0);
}

#[test]
fn a_restarted_server_ends_connections_from_before_the_restart() {
    let home = TempDir::new().unwrap();
    let (from, to, key) = (home.path().join("from"), home.path().join("to"), home.path().join("key"));
    [&from, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(from.join("large"), noise(LARGE, 4)).unwrap();
    let args = ["--key-file", text(&key)];
    let mut served = Served::new(&from, &args);
    // The client's idle timeout would end the connection long after the test.
    let source = format!("{}large", served.string);
    let mut child = command(&["--timeout", "10min", &source, text(&to)]).spawn().unwrap();
    wait_for_partial(&to, LARGE as u64 / 4);
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let begin = Instant::now();
    let _again = Served::at(served.address(), &from, &args);
    while child.try_wait().unwrap().is_none() && begin.elapsed() < TIMEOUT {
        thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    let said = succeeds(&child.wait_with_output().unwrap());
    assert_resumed(&said, &from.join("large"), &to.join("large"), 0.0);
}

#[test]
fn a_file_that_has_changed_since_the_last_copy_is_sent_again() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    [&from, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(from.join("file"), noise(100_000, 7)).unwrap();
    let served = Served::new(&from, &["--keep"]);
    succeeds(&cp(&["-r", &served.contents(), text(&to)]));
    // The new contents have the same length.
    fs::write(from.join("file"), noise(100_000, 5)).unwrap();
    let said = succeeds(&cp(&["-r", &served.contents(), text(&to)]));
    assert!(!said.contains("there before"), "{said}");
    assert_same(&from, &to, false);
}
