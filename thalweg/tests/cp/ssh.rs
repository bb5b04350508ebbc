//! Copies over ssh.

use super::*;
use std::path::PathBuf;
use tempfile::TempDir;

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
