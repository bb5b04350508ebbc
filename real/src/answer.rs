//! What a process does that a run has started in a network namespace.

use crate::helper::{INIT, SEND};
use crate::kernel;
use emulate::namespace;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};

/// Does what a run asks of a process that a [`Helper`](crate::Helper) has started with these `arguments` (without the
/// program's name), and returns the process's exit code. None if they are arguments for the program itself.
pub fn answer(arguments: impl IntoIterator<Item = OsString>) -> Option<u8> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let words: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    let text: Vec<Option<&str>> = words.iter().map(|word| word.to_str()).collect();
    match text[..] {
        [Some(INIT), Some("--parent"), Some(parent), Some("--"), ..] => Some(init(parent, &arguments[4..])),
        [Some(SEND)] => Some(match kernel::send() {
            Ok(()) => 0,
            Err(e) => {
                say(&format!("{SEND}: {e}"));
                1
            }
        }),
        _ => None,
    }
}

/// Runs `command` in the namespaces whose first process this is.
fn init(parent: &str, command: &[OsString]) -> u8 {
    let program = command.first().map_or(String::new(), |program| program.to_string_lossy().into_owned());
    let done =
        parent.parse().map_err(|_| ErrorKind::InvalidInput.into()).and_then(|parent| namespace::init(parent, command));
    match done {
        Ok(code) => code,
        Err(e) => {
            let text = e.to_string();
            let reason = text.split(" (os error").next().unwrap_or(&text).to_lowercase();
            say(&format!("{program}: cannot be run ({reason}); check its name and permissions"));
            // The exit codes that shells use.
            if e.kind() == ErrorKind::NotFound { 127 } else { 126 }
        }
    }
}

/// Says `line` on standard error, if anybody can hear it.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
