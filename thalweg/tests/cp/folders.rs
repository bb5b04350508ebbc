//! Folders and their files: what a copy has of them.

use super::*;
use tempfile::TempDir;

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
