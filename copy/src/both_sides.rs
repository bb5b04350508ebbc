//! Tests of the sender and the receiver with each other, over pipes in place of a connection.

use crate::event::{Event, Observer};
use crate::files::destination::Destination;
use crate::files::root::Root;
use crate::message::{Options, Summary};
use crate::pipe::{Reader, Writer, channel};
use crate::receiver::Reception;
use crate::sender::Sources;
use crate::session::THREADS;
use crate::thread::Stop;
use crate::{receiver, sender};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

fn pipe() -> (Writer, Reader) {
    let (to, from) = channel();
    (Writer::new(to), Reader::new(from))
}

/// What a side of a copy has observed.
#[derive(Clone, Default)]
struct Observed(Arc<Mutex<Vec<Event>>>);

impl Observed {
    fn observer(&self) -> Observer {
        let events = self.0.clone();
        Arc::new(move |event| events.lock().unwrap().push(event))
    }

    fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    /// Bytes of file contents that went from the sender to the receiver.
    fn received(&self) -> u64 {
        self.events().iter().map(|event| if let Event::Received { bytes } = event { *bytes } else { 0 }).sum()
    }

    fn done(&self) -> usize {
        self.events().iter().filter(|event| matches!(event, Event::Done { .. })).count()
    }

    /// The paths and reasons of what was not copied.
    fn problems(&self) -> Vec<(String, String)> {
        let problem = |event: &Event| match event {
            Event::Problem { path, reason } => Some((path.clone(), reason.clone())),
            _ => None,
        };
        self.events().iter().filter_map(problem).collect()
    }
}

/// Copies the folder `from` into the folder `to`. Returns what the sender and the receiver have observed.
fn copy(from: &Path, to: &Path, options: Options) -> (Observed, Observed) {
    copy_as(from, Path::new(""), to, options)
}

/// Copies the file or folder `from`, under this name, into the folder `to`.
fn copy_as(from: &Path, name: &Path, to: &Path, options: Options) -> (Observed, Observed) {
    let destination = Destination::resolve(&Root::Anywhere, to, vec![name.into()], false).unwrap();
    let sources = Sources { root: Arc::new(Root::Anywhere), paths: vec![from.into()], recursive: options.recursive };
    let ((offers, offered), (answers, answered), (contents, sent)) = (pipe(), pipe(), pipe());
    let (at_sender, at_receiver) = (Observed::default(), Observed::default());
    let sum = Summary { packets: 7, lost: 1, controller: "made up".into() };
    let (told, stop) = (sum.clone(), Stop::default());
    let mut bodies =
        sender::threads(sources, offers, answered, contents, Box::new(|| told), at_sender.observer(), stop.clone());
    let heard = Arc::new(Mutex::new(Summary::default()));
    let reception = Reception { destination, options, counts: true };
    let receiving = receiver::threads(reception, offered, answers, sent, heard.clone(), at_receiver.observer(), stop);
    assert!(bodies.len() <= THREADS && receiving.len() <= THREADS);
    bodies.extend(receiving);
    let threads: Vec<_> = bodies.into_iter().map(std::thread::spawn).collect();
    let ended: io::Result<()> = threads.into_iter().try_for_each(|thread| thread.join().unwrap());
    ended.unwrap();
    assert_eq!(*heard.lock().unwrap(), sum);
    (at_sender, at_receiver)
}

const ALL: Options = Options { recursive: true, preserve: false, sync: true };

fn folders() -> (TempDir, PathBuf, PathBuf) {
    let home = TempDir::new().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    fs::create_dir_all(from.join("folder")).unwrap();
    fs::create_dir(&to).unwrap();
    (home, from, to)
}

/// The only partial file in a folder.
fn partial_name(of: &str) -> String {
    format!(".{of}.thalweg-{}", &blake3::hash(of.as_bytes()).to_hex()[..8])
}

#[test]
fn all_files_arrive_and_both_sides_agree_on_what_was_sent() {
    let (_home, from, to) = folders();
    fs::write(from.join("folder/large"), vec![3; 700_000]).unwrap();
    fs::write(from.join("empty"), "").unwrap();
    let (sender, receiver) = copy(&from, &to, ALL);
    assert!(fs::read(to.join("folder/large")).unwrap() == vec![3; 700_000]);
    assert_eq!(fs::read(to.join("empty")).unwrap(), b"");
    assert_eq!((sender.received(), receiver.received()), (700_000, 700_000));
    assert_eq!((sender.done(), receiver.done()), (2, 2));
}

#[test]
fn unchanged_files_are_not_sent_again() {
    let (_home, from, to) = folders();
    fs::write(from.join("file"), vec![3; 100_000]).unwrap();
    copy(&from, &to, ALL);
    let (sender, receiver) = copy(&from, &to, ALL);
    assert_eq!((receiver.received(), receiver.done(), sender.done()), (0, 1, 1));
}

#[test]
fn a_partial_file_is_resumed_if_it_is_the_beginning_of_the_source() {
    let (_home, from, to) = folders();
    fs::write(from.join("file"), vec![3; 100_000]).unwrap();
    fs::write(to.join(partial_name("file")), vec![3; 60_000]).unwrap();
    let (_, receiver) = copy(&from, &to, ALL);
    assert_eq!(receiver.received(), 40_000);
    assert!(fs::read(to.join("file")).unwrap() == vec![3; 100_000]);
    assert!(!to.join(partial_name("file")).exists());
}

#[test]
fn a_partial_file_of_another_source_is_overwritten() {
    for other in [vec![4; 60_000], vec![3; 200_000]] {
        let (_home, from, to) = folders();
        fs::write(from.join("file"), vec![3; 100_000]).unwrap();
        fs::write(to.join(partial_name("file")), other).unwrap();
        let (_, receiver) = copy(&from, &to, ALL);
        assert_eq!(receiver.received(), 100_000);
        assert!(fs::read(to.join("file")).unwrap() == vec![3; 100_000]);
    }
}

#[test]
fn a_file_that_cannot_be_written_fails_alone_and_at_both_sides() {
    let (_home, from, to) = folders();
    fs::create_dir(to.join("blocked")).unwrap();
    fs::write(from.join("blocked"), vec![3; 700_000]).unwrap();
    fs::write(from.join("fine"), "fine").unwrap();
    let (sender, receiver) = copy(&from, &to, ALL);
    let (at_sender, at_receiver) = (sender.problems(), receiver.problems());
    assert_eq!((at_sender.len(), at_receiver.len()), (1, 1));
    assert_eq!(at_receiver[0].0, "blocked");
    assert_eq!(at_sender[0].1, at_receiver[0].1);
    assert_eq!(fs::read(to.join("fine")).unwrap(), b"fine");
}

#[test]
fn a_source_that_cannot_be_read_is_reported_at_both_sides() {
    let (_home, from, to) = folders();
    symlink("nowhere", from.join("dangling")).unwrap();
    fs::write(from.join("fine"), "fine").unwrap();
    let (sender, receiver) = copy(&from, &to, ALL);
    assert_eq!(receiver.problems(), [("dangling".into(), "there is no such file or folder".into())]);
    assert_eq!(sender.problems()[0].1, receiver.problems()[0].1);
    assert_eq!((sender.done(), receiver.done()), (1, 1));
}

#[test]
fn permissions_of_folders_are_set_after_their_contents_are_written() {
    let (_home, from, to) = folders();
    fs::write(from.join("folder/file"), "file").unwrap();
    let read_only = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(from.join("folder"), read_only(0o555)).unwrap();
    copy(&from, &to, Options { recursive: true, preserve: true, sync: true });
    assert_eq!(fs::read(to.join("folder/file")).unwrap(), b"file");
    assert_eq!(fs::metadata(to.join("folder")).unwrap().permissions().mode() & 0o777, 0o555);
    // So that a user without privileges can remove it.
    [from, to].iter().for_each(|top| fs::set_permissions(top.join("folder"), read_only(0o755)).unwrap());
}

/// Runs `body` on a thread that has no right to read whatever it likes.
fn unprivileged<T: Send>(body: impl FnOnce() -> T + Send) -> T {
    let body = || {
        #[cfg(target_os = "linux")]
        if rustix::process::geteuid().is_root() {
            let nobody = rustix::thread::Uid::from_raw(65534);
            rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        }
        body()
    };
    std::thread::scope(|scope| scope.spawn(body).join()).unwrap()
}

#[test]
fn a_folder_that_cannot_be_flushed_is_reported_at_both_sides_and_the_copy_goes_on() {
    let set_mode = |at: &Path, mode| fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
    // In a folder of this mode, files can be made, but it cannot be opened.
    let (home, from, to) = folders();
    set_mode(home.path(), 0o777);
    fs::write(from.join("file"), "file").unwrap();
    let to = unprivileged(|| {
        let shut = home.path().join("shut");
        fs::create_dir(&shut).unwrap();
        set_mode(&shut, 0o300);
        let (sender, receiver) =
            copy_as(&from.join("file"), Path::new("file"), &shut, Options { recursive: false, ..ALL });
        assert_eq!((sender.done(), receiver.done()), (1, 1));
        let problems = receiver.problems();
        assert!(matches!(&problems[..], [(path, why)] if path == "." && why.contains("on the disk")), "{problems:?}");
        assert_eq!(sender.problems(), problems);
        set_mode(&shut, 0o700);
        to
    });
    assert_eq!(fs::read(home.path().join("shut/file")).unwrap(), b"file");
    // A folder that cannot be made is not flushed, and is called at each side as it is known there.
    fs::write(to.join("named"), "a file").unwrap();
    let (sender, receiver) = copy_as(&from.join("folder"), Path::new("named"), &to, ALL);
    let (at_sender, at_receiver) = (sender.problems(), receiver.problems());
    assert_eq!((at_sender.len(), at_receiver.len()), (1, 1));
    assert_eq!((at_sender[0].0.as_str(), at_receiver[0].0.as_str()), (from.join("folder").to_str().unwrap(), "named"));
}
