//! What servers and the command line refuse.

use super::*;
use tempfile::TempDir;

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

#[test]
fn only_a_folder_is_served() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "text").unwrap();
    let output = Command::new(cargo_bin!("thalweg")).args(["serve", text(&file)]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).ends_with("there is a file where a folder is needed; name the folder that it is in\n"),
        "{}",
        said(&output)
    );
}
