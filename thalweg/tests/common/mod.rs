//! What this machine allows tests to do.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;

/// Whether tests can make network namespaces. Says so once if not, and panics in CI as root, where they must be able
/// to.
pub fn namespaces() -> bool {
    let allowed = Command::new("unshare").args(["--net", "true"]).stderr(Stdio::null()).status();
    let root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if root && allowed.is_ok_and(|status| status.success()) && Path::new("/dev/net/tun").exists() {
        return true;
    }
    let why = "network namespaces and /dev/net/tun take root";
    assert!(std::env::var_os("CI").is_none() || !root, "{why}, which this is, and the system must allow them");
    static SAID: Once = Once::new();
    // `eprintln` would be captured by the test harness.
    SAID.call_once(|| drop(writeln!(std::io::stderr(), "skipped: no command is run behind a path ({why})")));
    false
}
