//! `thalweg run --real --pcapng`, read by a program of other people: tshark, which is Wireshark without windows.

#![cfg(target_os = "linux")]

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Flows that are stamped and flows that are not, two in a run, over a queue that drops packets.
const SCENARIO: &str = "\
duration = \"2 s\"
path = { rate = \"10 Mbps\", rtt = \"20 ms\", buffer = \"1 bdp\" }
compare.controllers = [\"cubic\", \"thalweg\"]
[[flow]]
[[flow]]
start = \"500 ms\"
";

/// Whether there is a tshark. In CI there must be.
fn tshark() -> bool {
    if Command::new("tshark").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok() {
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "tshark is not installed");
    // `eprintln` would be captured by the test harness.
    drop(writeln!(std::io::stderr(), "skipped: captures are not read (tshark is not installed)"));
    false
}

/// A row for each packet of a capture, as tshark reads it without further keys.
fn rows(file: &Path) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.env_remove("SSLKEYLOGFILE").arg("-r").arg(file).args(["-o", "ip.check_checksum:TRUE", "-T", "fields"]);
    for field in ["frame.time_epoch", "ip.checksum.status", "quic.frame_type", "frame.comment", "frame.interface_name"]
    {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split('\t').map(String::from).collect()).collect()
}

/// Number of rows in which `field` has an entry of those in `any`.
fn count(rows: &[Vec<String>], field: usize, any: &[&str]) -> usize {
    rows.iter().filter(|row| row[field].split(',').any(|entry| any.contains(&entry))).count()
}

#[test]
fn tshark_reads_and_decrypts_every_packet_on_both_sides_of_the_path() {
    if !tshark() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("path.toml"), SCENARIO).unwrap();
    let mut command = Command::new(cargo_bin!("thalweg"));
    command.current_dir(home.path()).args(["run", "path.toml", "--real", "--beside", "quinn-cubic", "--quiet"]);
    let output = command.args(["--pcapng", "captures/both", "--format", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = summary["runs"].as_array().unwrap();
    let folder = home.path().join("captures/both");
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    let mut expected = Vec::new();
    for (name, stamped) in [("cubic", false), ("quinn-cubic", false), ("thalweg", true)] {
        let run = runs.iter().find(|run| run["name"] == format!("{name} (real)")).unwrap();
        let packets = |what: &str, direction: usize| run["emulator"][what][direction].as_u64().unwrap() as usize;
        let arrived = |direction| packets("arrived_packets", direction);
        let delivered = |direction| packets("delivered_packets", direction);
        let sides = [("receivers", delivered(0) + arrived(1)), ("senders", arrived(0) + delivered(1))];
        for (side, packets) in sides {
            let file = format!("{name}(real)-{side}.pcapng");
            let rows = rows(&folder.join(&file));
            assert_eq!(rows.len(), packets, "{file}: those that the emulator counted");
            assert_eq!(count(&rows, 1, &["1"]), packets, "{file}: right checksums of IP");
            assert_eq!(count(&rows, 4, &[side]), packets, "{file}");
            // What is not decrypted has no frames.
            let encrypted: Vec<_> = rows.iter().filter(|row| row[2].is_empty()).take(5).collect();
            assert!(encrypted.is_empty(), "{file}: {encrypted:?}");
            let (acks, streams) = (count(&rows, 2, &["2", "3"]), count(&rows, 2, &["8", "10", "12", "14"]));
            assert!(acks > 100 && streams > 500, "{file}: {acks}, {streams} of {packets}");
            let early = rows.windows(2).filter(|pair| pair[1][0] < pair[0][0]).count();
            assert!(early < 10, "{file}: {early} packets are out of order");
            let comments = rows.iter().filter(|row| row[3].starts_with("thalweg header of 48 bytes")).count();
            assert_eq!(comments > 500, stamped, "{file}: {comments}");
            expected.push(file);
        }
    }
    assert_eq!(files, expected.iter().map(OsStr::new).collect::<Vec<_>>());
}

#[test]
fn captures_are_of_real_runs_and_need_a_folder() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("path.toml"), SCENARIO).unwrap();
    fs::write(home.path().join("file"), "").unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(cargo_bin!("thalweg"));
        let output =
            command.current_dir(home.path()).args(["run", "path.toml", "--quiet"]).args(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["--pcapng", "captures"]);
    assert!(code == Some(2) && said.contains("--real"), "{said}");
    let (code, said) = run(&["--real", "--pcapng", "file"]);
    assert!(code == Some(2) && said.contains("--pcapng file: cannot be written"), "{said}");
}
