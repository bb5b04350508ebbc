//! `thalweg emulate`, with datagrams and with the kernel's own TCP.

#![cfg(target_os = "linux")]

mod common;

use assert_cmd::cargo::cargo_bin;
use common::namespaces;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A path with a round trip of 20 ms, and with a rate that no test reaches.
const SCENARIO: &str = "path = { rate = \"200 Mbps\", rtt = \"20 ms\", buffer = \"1 MB\" }\npacket = \"1500 B\"\n";
/// The longest that a test waits for an event.
const TIMEOUT: Duration = Duration::from_secs(20);

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("path.toml"), SCENARIO).unwrap();
    home
}

fn emulate(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(cargo_bin!("thalweg"));
    command.current_dir(folder).arg("emulate").args(args).stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    command
}

/// Waits until `child` ends, and returns its exit code and standard output.
fn end(mut child: Child) -> (Option<i32>, String) {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("thalweg did not end");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (child.wait().unwrap().code(), out)
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// The first line of `of`.
fn first_line(of: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(of).read_line(&mut line).unwrap();
    line
}

#[test]
fn datagrams_cross_until_ctrl_c_and_results_are_those_of_a_run() {
    let home = home();
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    let to = server.local_addr().unwrap().to_string();
    let args = ["path.toml", "--listen", "127.0.0.1:0", "--to", &to, "--format", "json", "--out", "results"];
    let mut child = emulate(home.path(), &args).spawn().unwrap();
    let said = first_line(child.stderr.take().unwrap());
    let address = said.strip_prefix("listening on ").and_then(|rest| rest.split(';').next()).unwrap().to_string();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut buffer = [0; 2000];
    for i in 0..50u8 {
        let begin = Instant::now();
        client.send_to(&[i; 1000], &address).unwrap();
        let (size, _) = server.recv_from(&mut buffer).unwrap();
        assert!(begin.elapsed() >= Duration::from_millis(10));
        assert_eq!(buffer[..size], [i; 1000]);
    }
    signal(&child, "-INT");
    let (code, out) = end(child);
    assert_eq!(code, Some(0), "Ctrl-C is the usual end");
    let summary: Value = serde_json::from_str(&out).unwrap();
    let run = &summary["runs"][0];
    assert_eq!(run["emulator"]["delivered_packets"], serde_json::json!([50, 0]));
    assert_eq!(run["packets_delivered"], 50);
    assert_eq!(run["links"].as_array().unwrap().len(), 2);
    for file in ["flows.parquet", "links.parquet", "summary.json"] {
        assert!(home.path().join("results").join(file).exists(), "{file}");
    }
    let page = fs::read_to_string(home.path().join("results/report.html")).unwrap();
    assert!(page.contains("<h2>The emulator</h2>"));
}

#[test]
fn the_emulation_ends_after_the_time_that_is_given() {
    let home = home();
    let args = ["path.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--for", "300ms"];
    let mut child = emulate(home.path(), &args).spawn().unwrap();
    let said = first_line(child.stderr.take().unwrap());
    let address = said.strip_prefix("listening on ").and_then(|rest| rest.split(';').next()).unwrap().to_string();
    UdpSocket::bind("127.0.0.1:0").unwrap().send_to(&[0; 100], address).unwrap();
    let (code, out) = end(child);
    assert_eq!(code, Some(0));
    assert!(out.contains("emulated") && out.contains("bottleneck (reverse)"), "{out}");
}

#[test]
fn mistakes_are_answered_in_a_line() {
    let home = home();
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let _taken = UdpSocket::bind(&taken).unwrap();
    for (args, said) in [
        (&["none.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"][..], "none.toml: cannot be read"),
        (&["path.toml"], "the following required arguments were not provided: --listen <HOST:PORT>"),
        (&["path.toml", "--listen", "127.0.0.1:0"], "required arguments were not provided: --to"),
        (&["path.toml", "--listen", "nowhere", "--to", "127.0.0.1:9"], "--listen nowhere: is no address"),
        (&["path.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1"], "--to 127.0.0.1: is no address"),
        (&["path.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:0"], "nobody is at port 0; write HOST:PORT"),
        (&["path.toml", "--listen", &taken, "--to", "127.0.0.1:9"], "cannot be listened on (address already in use)"),
        (&["path.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--clients", "0"], "'--clients <N>'"),
        (&["path.toml", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--", "true"], "cannot be used with"),
        (
            &["path.toml", "--set", "path.rate=fast", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9"],
            "path.toml: --set path.rate: `fast`",
        ),
        (
            &[
                "path.toml",
                "--set",
                "sweep={\"path.rate\"=[\"1Mbps\",\"2Mbps\"]}",
                "--listen",
                "127.0.0.1:0",
                "--to",
                "127.0.0.1:9",
            ],
            "path.toml: sweep: there is one path to emulate",
        ),
    ] {
        let output = emulate(home.path(), args).output().unwrap();
        let said_instead = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said_instead}");
        assert!(said_instead.contains(said) && said_instead.lines().count() == 1, "{args:?}: {said_instead}");
    }
}

/// Two million pseudo-random bytes.
fn content(seed: u64) -> Vec<u8> {
    let mut random = seed;
    let next = |_| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (random >> 56) as u8
    };
    (0..2_000_000).map(next).collect()
}

/// The command that the next test runs behind the path: it sends, and checks what it receives.
#[test]
#[ignore = "is run by the next test, behind a path"]
fn inside() {
    let address = format!("{}:{}", std::env::var("THALWEG_HOST").unwrap(), std::env::var("TEST_PORT").unwrap());
    let begin = Instant::now();
    let mut stream = TcpStream::connect(address).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(20), "a handshake takes a round trip");
    stream.write_all(&content(1)).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut back = Vec::new();
    stream.read_to_end(&mut back).unwrap();
    assert!(back == content(2));
    std::process::exit(43);
}

/// A TCP server for one connection: its port, and whether it will have received what is `expected`, which it answers.
fn serve(expected: Vec<u8>, answer: Vec<u8>) -> (u16, thread::JoinHandle<bool>) {
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        stream.write_all(&answer).unwrap();
        received == expected
    });
    (port, serving)
}

#[test]
fn the_kernels_tcp_crosses_the_path_and_nothing_is_left() {
    if !namespaces() {
        return;
    }
    let home = home();
    let (port, serving) = serve(content(1), content(2));
    let this = std::env::current_exe().unwrap();
    let args = ["path.toml", "--out", "results", "--quiet", "--", this.to_str().unwrap()];
    let mut command = emulate(home.path(), &args);
    command.args(["--ignored", "--exact", "inside", "--nocapture"]).env("TEST_PORT", port.to_string());
    let (code, out) = end(command.spawn().unwrap());
    assert_eq!(code, Some(43), "the command's own exit code: {out}");
    assert!(serving.join().unwrap(), "the data arrived unchanged");
    let summary: Value = serde_json::from_slice(&fs::read(home.path().join("results/summary.json")).unwrap()).unwrap();
    let emulator = &summary["runs"][0]["emulator"];
    for direction in 0..2 {
        let packets = emulator["delivered_packets"][direction].as_u64().unwrap();
        assert!(packets > 2_000_000 / 1500, "{emulator}");
    }
    println!("{emulator}");
}

/// The command that the next test runs behind the path: it sends with the ECN that `TEST_ECN` says, and writes what TCP
/// counted in this namespace to standard output.
#[test]
#[ignore = "is run by the next test, behind a path"]
fn sending() {
    let say = std::env::var("TEST_ECN").unwrap();
    fs::write("/proc/sys/net/ipv4/tcp_ecn", &say).unwrap();
    // Other congestion controls are not allowed in every namespace.
    fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno").unwrap();
    let address = format!("{}:{}", std::env::var("THALWEG_HOST").unwrap(), std::env::var("TEST_PORT").unwrap());
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(&content(1)).unwrap();
    stream.write_all(&content(2)).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    let counted = |file: &str, table: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap();
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(table));
        let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
        let at = names.split(' ').position(|known| known == name).expect(name);
        values.split(' ').nth(at).unwrap().parse::<u64>().unwrap()
    };
    let resent = counted("/proc/net/snmp", "Tcp: ", "RetransSegs");
    let marked = counted("/proc/net/netstat", "TcpExt: ", "TCPDeliveredCE");
    println!("counted {resent} {marked}");
    std::process::exit(0);
}

/// The kernel's Reno sends 4 MB over 20 Mbps through each discipline. With ECN (RFC 3168), the queue marks its packets,
/// TCP at both ends agrees that they were marked, and nothing is lost. Without, the queue drops.
#[test]
fn queues_mark_the_kernels_packets_in_place_of_dropping_them() {
    if !namespaces() {
        return;
    }
    if fs::read_to_string("/proc/sys/net/ipv4/tcp_ecn").unwrap().trim() == "0" {
        println!("skipped: the kernel is set to accept no ECN (net.ipv4.tcp_ecn is 0)");
        return;
    }
    for (queue, ecn) in [("codel", true), ("fq-codel", true), ("red", true), ("dualpi2", true), ("codel", false)] {
        let home = home();
        let (port, serving) = serve([content(1), content(2)].concat(), Vec::new());
        let this = std::env::current_exe().unwrap();
        let set = format!("path={{rate=\"20 Mbps\",rtt=\"20 ms\",buffer=\"1 MB\",queue=\"{queue}\"}}");
        let args = ["path.toml", "--set", &set, "--out", "results", "--quiet", "--", this.to_str().unwrap()];
        let mut command = emulate(home.path(), &args);
        command.args(["--ignored", "--exact", "sending", "--nocapture"]);
        command.env("TEST_PORT", port.to_string()).env("TEST_ECN", if ecn { "1" } else { "0" });
        let (code, out) = end(command.spawn().unwrap());
        assert_eq!(code, Some(0), "{queue}: {out}");
        assert!(serving.join().unwrap(), "{queue}: the data arrived unchanged");
        let counted = out.lines().find_map(|line| line.split_once("counted ")).expect("what TCP counted").1;
        let counted: Vec<u64> = counted.split(' ').map(|number| number.parse().unwrap()).collect();
        let text = fs::read(home.path().join("results/summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&text).unwrap();
        let link = &summary["runs"][0]["links"][0];
        let [marks, drops] = ["marks", "drops"].map(|key| link[key].as_u64().unwrap());
        println!("{queue}, ECN {ecn}: {marks} marks, {drops} drops; TCP counted {counted:?} sent again and marked");
        if ecn {
            assert!(marks > 0, "{queue}: {link}");
            assert!(counted[1] > 0, "{queue}: the receiver's TCP echoed marks");
            // On a busy host, packets that come late look lost, and a queue may overflow.
            if summary["runs"][0]["emulator"]["kept_up"] == true {
                assert_eq!((drops, counted[0]), (0, 0), "{queue}: nothing was lost");
            }
        } else {
            assert!(marks == 0 && drops > 0, "{queue}: {link}");
            assert!(counted[0] > 0 && counted[1] == 0, "{queue}: {counted:?}");
        }
    }
}

#[test]
fn a_command_that_does_not_exist_has_the_exit_code_of_a_shell() {
    if !namespaces() {
        return;
    }
    let home = home();
    let output = emulate(home.path(), &["path.toml", "--quiet", "--", "no-such-command"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(127), "{said}");
    assert_eq!(said, "no-such-command: cannot be run (no such file or directory); check its name and permissions\n");
}

/// The number of processes that have `mark` among their arguments.
fn processes(mark: &str) -> usize {
    let of = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
    let marked = |line: &Vec<u8>| line.split(|&byte| byte == 0).any(|argument| argument == mark.as_bytes());
    fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()).map(of).filter(marked).count()
}

#[test]
fn a_killed_emulation_leaves_no_process_and_no_device() {
    if !namespaces() {
        return;
    }
    for name in ["-KILL", "-TERM"] {
        let home = home();
        let mark = format!("{}", 1_000_000 + std::process::id() as u64 * 2 + u64::from(name == "-KILL"));
        let script = format!("sleep {mark} & setsid sleep {mark} & echo started; sleep {mark}");
        let mut child = emulate(home.path(), &["path.toml", "--", "sh", "-c", &script]).spawn().unwrap();
        let said = first_line(child.stderr.take().unwrap());
        assert_eq!(first_line(child.stdout.as_mut().unwrap()), "started\n");
        let begin = Instant::now();
        while processes(&mark) < 3 {
            assert!(begin.elapsed() < TIMEOUT, "three processes sleep");
            thread::sleep(Duration::from_millis(10));
        }
        let host = said.split(' ').find(|word| word.ends_with(".1") || word.parse::<std::net::Ipv4Addr>().is_ok());
        let address: std::net::Ipv4Addr = host.unwrap().parse().unwrap();
        let device = format!("/sys/class/net/thalweg{}", (address.to_bits() - 0xc612_0000) / 4);
        assert!(Path::new(&device).exists(), "{device}, from: {said}");
        signal(&child, name);
        child.wait().unwrap();
        let begin = Instant::now();
        while processes(&mark) > 0 || Path::new(&device).exists() {
            assert!(begin.elapsed() < TIMEOUT, "{name}: {} processes, {device}", processes(&mark));
            thread::sleep(Duration::from_millis(10));
        }
    }
}
