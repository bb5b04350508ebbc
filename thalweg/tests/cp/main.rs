//! `thalweg cp` and `thalweg serve` as processes that talk over the loopback interface.

#![cfg(unix)]

mod disk;
mod folders;
mod interrupted;
mod refused;
mod ssh;

use assert_cmd::cargo::cargo_bin;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How long a test waits for a process or a file before it fails.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running `thalweg serve` and the connection string that it has printed.
struct Served {
    child: Child,
    string: String,
}

impl Served {
    fn new(folder: &Path, args: &[&str]) -> Served {
        Served::at("127.0.0.1:0", folder, args)
    }

    fn at(address: &str, folder: &Path, args: &[&str]) -> Served {
        let mut child = Command::new(cargo_bin!("thalweg"))
            .arg("serve")
            .arg(folder)
            .args(["--listen", address])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut string = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut string).unwrap();
        Served { child, string: string.trim().to_string() }
    }

    fn address(&self) -> &str {
        self.string.rsplit('@').next().unwrap().trim_end_matches('/')
    }

    /// The source that means the contents of the served folder.
    fn contents(&self) -> String {
        format!("{}.", self.string)
    }

    /// Waits until the server ends by itself. Returns its exit code and its standard error.
    fn end(&mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < TIMEOUT, "the server does not end");
            thread::sleep(Duration::from_millis(10));
        }
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("thalweg"));
    command.arg("cp").args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("THALWEG_KEY").env_remove("THALWEG_SSH");
    command
}

fn cp(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

/// The standard error of a command.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that a command has succeeded. Returns its standard error.
#[track_caller]
fn succeeds(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    said(output)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Pseudorandom bytes.
fn noise(size: usize, seed: u64) -> Vec<u8> {
    let mut x = seed | 1;
    let next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x.to_le_bytes()
    };
    std::iter::repeat_with(next).take(size.div_ceil(8)).flatten().take(size).collect()
}

const NOT_UTF8: &[u8] = b"n\xffm\xfe";

/// A folder with a large, an empty, a sparse and a read-only file, links, an empty folder, and a name that is not
/// UTF-8.
fn tree(at: &Path) {
    fs::create_dir_all(at.join("deep/er/est")).unwrap();
    fs::create_dir(at.join("hollow")).unwrap();
    fs::write(at.join("empty"), "").unwrap();
    fs::write(at.join("deep/er/est/large"), noise(3_000_001, 7)).unwrap();
    fs::write(at.join(OsStr::from_bytes(NOT_UTF8)), "bytes").unwrap();
    fs::write(at.join("run"), "#!/bin/sh").unwrap();
    fs::set_permissions(at.join("run"), Permissions::from_mode(0o751)).unwrap();
    fs::write(at.join("shut"), "secret").unwrap();
    fs::set_permissions(at.join("shut"), Permissions::from_mode(0o400)).unwrap();
    let sparse = File::create(at.join("sparse")).unwrap();
    sparse.set_len(50_000_000).unwrap();
    sparse.write_all_at(b"island", 20_000_000).unwrap();
    symlink("run", at.join("link")).unwrap();
    symlink("er", at.join("deep/link")).unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 123_456_789);
    for path in ["run", "shut", "hollow", "deep/er"] {
        File::open(at.join(path)).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
    }
}

/// Checks that two folders have the same contents, links followed, and with `preserve` the same permissions and times.
#[track_caller]
fn assert_same(one: &Path, other: &Path, preserve: bool) {
    let (found, there) = (fs::metadata(one).unwrap(), fs::metadata(other).unwrap());
    assert_eq!(found.is_dir(), there.is_dir(), "{one:?}");
    if preserve {
        assert_eq!(found.mode() & 0o777, there.mode() & 0o777, "{one:?}");
        assert_eq!((found.mtime(), found.mtime_nsec()), (there.mtime(), there.mtime_nsec()), "{one:?}");
    }
    if found.is_dir() {
        let names = |of: &Path| {
            let mut names: Vec<_> = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(one), names(other), "{one:?}");
        names(one).iter().for_each(|name| assert_same(&one.join(name), &other.join(name), preserve));
    } else {
        assert!(fs::read(one).unwrap() == fs::read(other).unwrap(), "{one:?}");
    }
}
