//! `thalweg cp` and `thalweg serve` as processes that talk over the loopback interface.

#![cfg(unix)]

use assert_cmd::cargo::cargo_bin;
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

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

#[test]
fn a_folder_is_copied_with_contents_permissions_and_times() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    tree(&from);
    fs::create_dir(&to).unwrap();
    let mut served = Served::new(&from, &[]);
    succeeds(&cp(&["-rp", &served.contents(), text(&to)]));
    assert_same(&from, &to, true);
    assert!(
        fs::metadata(to.join("sparse")).unwrap().blocks() * 512 < 5_000_000,
        "the copy of a sparse file is not sparse"
    );
    assert_eq!(served.end().0, Some(0), "the server does not end after one copy");

    // In the other direction, to a folder that does not exist yet.
    let mut served = Served::new(&to, &["--writable"]);
    succeeds(&cp(&["-rpv", text(&from), &format!("{}new", served.string)]));
    assert_same(&from, &to.join("new"), true);
    assert_eq!(served.end().0, Some(0));
}

#[test]
fn a_thousand_small_files_are_copied_and_not_sent_again() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    fs::create_dir(&from).unwrap();
    (0..1000).for_each(|i| fs::write(from.join(i.to_string()), noise(i, i as u64)).unwrap());
    let served = Served::new(&from, &["--keep"]);
    let said = succeeds(&cp(&["-r", &served.contents(), text(&to)]));
    assert!(said.contains("1000 files"), "{said}");
    assert_same(&from, &to, false);
    // The second copy has nothing to send.
    let said = succeeds(&cp(&["-r", &served.contents(), text(&to)]));
    assert!(said.contains("of it there before") && said.contains(": 0.0 Mbps"), "{said}");
}

#[test]
fn a_file_that_cannot_be_copied_is_named_and_the_others_are_copied() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    fs::create_dir_all(from.join("folder")).unwrap();
    fs::create_dir_all(to.join("blocked")).unwrap();
    for good in ["a", "z", "folder/b", "blocked"] {
        fs::write(from.join(good), good).unwrap();
    }
    symlink("nowhere", from.join("dangling")).unwrap();
    symlink("..", from.join("folder/loop")).unwrap();
    assert!(Command::new("mkfifo").arg(from.join("pipe")).status().unwrap().success());
    let served = Served::new(&from, &["--keep"]);
    let output = cp(&["-r", &served.contents(), text(&to)]);
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for (name, why) in
        [("dangling", "no such file"), ("folder/loop", "it is in"), ("pipe", "neither"), ("blocked", "folder")]
    {
        assert!(
            said.lines().any(|line| line.starts_with(&format!("{name}: ")) && line.contains(why)),
            "{name}: {said}"
        );
    }
    assert!(said.contains("4 files or folders were not copied"), "{said}");
    for good in ["a", "z", "folder/b"] {
        assert_eq!(fs::read_to_string(to.join(good)).unwrap(), good);
    }
    // Without -r, a folder cannot be copied.
    let output = cp(&[&format!("{}folder", served.string), &format!("{}a", served.string), text(&to)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(crate::said(&output).contains("-r copies folders"));
}

#[test]
fn the_copy_of_a_served_folder_has_its_name_and_its_contents_are_asked_for_with_a_dot() {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("photos"), home.path().join("to"));
    [&from, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(from.join(".bashrc"), "echo evil").unwrap();
    fs::write(from.join("a"), "new").unwrap();
    fs::write(to.join("a"), "old").unwrap();
    let served = Served::new(&from, &["--keep"]);
    let said = succeeds(&cp(&["-r", &served.string, text(&to)]));
    assert_eq!(fs::read_dir(&to).unwrap().count(), 2, "{said}");
    assert_same(&from, &to.join("photos"), false);
    assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "old");
    assert!(!said.contains("of these names"), "{said}");
    // To a name that does not exist yet.
    succeeds(&cp(&["-r", &served.string, text(&to.join("b"))]));
    assert_same(&from, &to.join("b"), false);
    // The contents, over a file that is there.
    let said = succeeds(&cp(&["-r", &served.contents(), text(&to)]));
    assert_eq!(fs::read_to_string(to.join("a")).unwrap(), "new");
    assert!(said.lines().next().is_some_and(|line| line.starts_with("1 file of these names exists")), "{said}");
    let said = succeeds(&cp(&["-rq", &served.contents(), text(&to)]));
    assert!(said.is_empty(), "{said}");
    // A source without a name for its copy.
    let output = cp(&["-r", &format!("{}x/..", served.string), text(&to)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(self::said(&output).contains("/. at its end"), "{}", self::said(&output));
}

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

#[test]
fn a_server_reads_and_writes_nothing_outside_of_its_folder() {
    let home = TempDir::new().unwrap();
    let (inside, to) = (home.path().join("inside"), home.path().join("to"));
    [&inside, &to].iter().for_each(|folder| fs::create_dir(folder).unwrap());
    fs::write(home.path().join("secret"), "secret").unwrap();
    fs::create_dir(home.path().join("outside")).unwrap();
    symlink("../secret", inside.join("out")).unwrap();
    symlink(home.path().join("secret"), inside.join("absolute")).unwrap();
    symlink("../outside", inside.join("folder")).unwrap();
    fs::write(inside.join("fine"), "fine").unwrap();
    let served = Served::new(&inside, &["--keep", "--writable"]);
    let secret = format!("{}/secret", text(home.path()));
    for path in ["../secret", "out", "absolute", "x/../../secret", "folder/../secret", &secret, "..", "folder"] {
        let output = cp(&["-r", &format!("{}{path}", served.string), text(&to)]);
        assert_eq!(output.status.code(), Some(1), "{path}: {}", said(&output));
        assert_eq!(fs::read_dir(&to).unwrap().count(), 0, "{path}");
    }
    // Everything but the links to the outside is copied.
    let output = cp(&["-r", &served.contents(), text(&to)]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(said(&output).matches("leads out of the folder").count(), 3, "{}", said(&output));
    assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
    let file = inside.join("fine");
    for path in ["../new", "folder/new", "folder", "..", "../outside/", "/tmp", "x/../../new"] {
        let output = cp(&[text(&file), &format!("{}{path}", served.string)]);
        assert_eq!(output.status.code(), Some(1), "{path}: {}", said(&output));
    }
    // A link in the place of a file is replaced; its target is not written to.
    fs::write(to.join("out"), "out").unwrap();
    succeeds(&cp(&[text(&to.join("out")), &served.string]));
    assert!(!fs::symlink_metadata(inside.join("out")).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(home.path().join("secret")).unwrap(), "secret");
    assert_eq!(fs::read_dir(home.path().join("outside")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 4);
}

#[test]
fn a_read_only_server_refuses_files_and_names_the_option() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("a"), "a").unwrap();
    let served = Served::new(home.path(), &[]);
    let output = cp(&[text(&home.path().join("a")), &format!("{}b", served.string)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("--writable"), "{}", said(&output));
    assert!(!home.path().join("b").exists());
}

#[test]
fn a_wrong_secret_and_a_wrong_server_are_detected() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("a"), "a").unwrap();
    let (served, other) = (Served::new(home.path(), &[]), Served::new(home.path(), &[]));
    let to = home.path().join("b");
    let (key, address) = served.string.trim_start_matches("thalweg://").split_once('@').unwrap();
    let (fingerprint, secret) = key.split_once('-').unwrap();
    let flipped = |text: &str| text.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect::<String>();
    let with = |key: String, address: &str| cp(&[&format!("thalweg://{key}@{address}a"), text(&to)]);
    let wrong_secret = with(format!("{fingerprint}-{}", flipped(secret)), address);
    assert!(said(&wrong_secret).contains("the key is not this server's"), "{}", said(&wrong_secret));
    let wrong_server = with(key.into(), &format!("{}/", other.address()));
    assert!(said(&wrong_server).contains("the certificate is not the one"), "{}", said(&wrong_server));
    for output in [wrong_secret, wrong_server] {
        assert_eq!(output.status.code(), Some(1));
        assert!(!to.exists());
    }
    // The server still serves a client with the right key.
    succeeds(&command(&[&format!("thalweg://{address}a"), text(&to)]).env("THALWEG_KEY", key).output().unwrap());
    assert_eq!(fs::read_to_string(&to).unwrap(), "a");
}

/// A program in `home` that stands in for ssh: it runs the command here.
fn ssh(home: &Path) -> PathBuf {
    let ssh = home.join("ssh");
    fs::write(&ssh, "#!/bin/sh\n[ \"$1\" = -G ] && exit 1\necho Welcome\nshift\nexec sh -c \"$*\"\n").unwrap();
    fs::set_permissions(&ssh, Permissions::from_mode(0o755)).unwrap();
    ssh
}

/// Packets that this host has received with ECT(0).
#[cfg(target_os = "linux")]
fn ect0_received() -> u64 {
    let text = fs::read_to_string("/proc/net/netstat").unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("IpExt: "));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let at = names.split(' ').position(|name| name == "InECT0Pkts").unwrap();
    values.split(' ').nth(at).unwrap().parse().unwrap()
}

/// The server's packets, too, which learns over ssh that they are to be ECN-capable.
#[cfg(target_os = "linux")]
#[test]
fn packets_of_copies_are_capable_of_ecn_if_asked_for() {
    let home = TempDir::new().unwrap();
    let (from, to, ssh) = (home.path().join("from"), home.path().join("to"), ssh(home.path()));
    fs::write(&from, noise(3_000_000, 3)).unwrap();
    for (source, destination) in [
        (text(&from).to_string(), format!("localhost:{}", text(&to))),
        (format!("localhost:{}", text(&from)), text(&to).to_string()),
    ] {
        let before = ect0_received();
        let options = ["--ssh", text(&ssh), "--remote-program", text(cargo_bin!("thalweg")), "--controller", "cubic"];
        succeeds(&cp(&[&options[..], &["--ecn", &source, &destination]].concat()));
        assert_same(&from, &to, false);
        let packets = ect0_received() - before;
        assert!(packets > 1500, "{packets} packets of 1500 bytes at most carry 3 MB");
        fs::remove_file(&to).unwrap();
    }
}

#[test]
fn files_are_copied_over_ssh_in_both_directions() {
    let home = TempDir::new().unwrap();
    let (from, to, ssh) = (home.path().join("from"), home.path().join("to"), ssh(home.path()));
    tree(&from);
    fs::create_dir(&to).unwrap();
    let thalweg = cargo_bin!("thalweg");
    let with = |args: &[&str]| {
        let options = ["--ssh", text(&ssh), "--remote-program", text(thalweg)];
        cp(&[&options, args].concat())
    };
    succeeds(&with(&["-rp", &format!("localhost:{}", text(&from)), text(&to)]));
    assert_same(&from, &to.join("from"), true);
    succeeds(&with(&["-rp", text(&from), &format!("me@127.0.0.1:{}/again", text(&to))]));
    assert_same(&from, &to.join("again"), true);
    let output = with(&[&format!("localhost:{}/no", text(&from)), text(&to)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("there is no such file"), "{}", said(&output));
    let output = cp(&["--ssh", text(&ssh), "--remote-program", "no-such-program", "localhost:x", text(&to)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("--remote-program"), "{}", said(&output));
}

#[test]
fn a_wrong_command_line_is_exit_code_2_and_one_line() {
    let key = format!("{}-{}", "0".repeat(64), "0".repeat(32));
    let url = format!("thalweg://{key}@127.0.0.1:9/x");
    for (args, why) in [
        (&["a"][..], "SOURCE"),
        (&["a", "b"], "neither source nor destination"),
        (&["h:a", "h:b"], "both remote"),
        (&["h:a", "g:b", "."], "different hosts"),
        (&["thalweg://h:1/x", "."], "the key is missing"),
        (&["thalweg://x@h:1/x", "."], "damaged"),
        (&["--controller", "rabid", "a", "h:b"], "no controller `rabid`"),
        (&["--ecn", "a", "h:b"], "--ecn: thalweg-hybrid does not react to marks (ECN); choose one like cubic"),
        (&["--controller", "dctcp", "a", "h:b"], "--controller: dctcp is for paths whose queues are known"),
        (&["--controller", "prague", "a", "h:b"], "--controller: prague is for paths whose queues are known"),
        (&["--controller", "cubic", &url, "."], "serve --controller"),
        (&["--ports", "9-1", "a", "h:b"], "range"),
        (&["--timeout", "0s", "a", "h:b"], "--timeout"),
    ] {
        let output = cp(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(why) && said(&output).lines().count() == 1, "{args:?}: {}", said(&output));
    }
}

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
