//! Processes that a run starts in network namespaces, and that run code of this library, too.

use crate::kernel;
use emulate::namespace;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::process::{Command, ExitCode};

/// The first argument of the first process in a command's namespaces.
const INIT: &str = "emulate-init";
/// The first argument of the process that sends over the kernel's TCP.
const SEND: &str = "tcp-send";

/// How to start a process in a network namespace: the beginning of a command that hands its arguments to [`answer`].
#[derive(Clone, Debug)]
pub struct Helper(Vec<OsString>);

impl Helper {
    /// Starts `command`, a program and its first arguments, with the arguments that [`answer`] understands behind them.
    pub fn new(command: Vec<OsString>) -> Helper {
        Helper(command)
    }

    /// Starts this program again. Its `main` must call [`answer`] before anything else.
    ///
    /// # Errors
    /// If the system does not say which program this is.
    pub fn this_program() -> io::Result<Helper> {
        Ok(Helper(vec![std::env::current_exe()?.into()]))
    }

    /// The command that becomes the first process of new namespaces and runs `command` in them. It ends when this
    /// process does.
    pub(crate) fn init(&self, command: &[OsString]) -> Command {
        let mut init = self.start();
        init.args([INIT, "--parent", &std::process::id().to_string(), "--"]).args(command);
        init
    }

    /// The command that sends over the kernel's TCP, as it is told on its standard input.
    pub(crate) fn send(&self) -> Vec<OsString> {
        self.0.iter().cloned().chain([SEND.into()]).collect()
    }

    fn start(&self) -> Command {
        let mut words = self.0.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new(""), OsString::as_os_str));
        command.args(words);
        command
    }
}

/// Does what a run asks of a process that a [`Helper`] has started with these `arguments` (without the program's name),
/// and returns the process's exit code. None if they are arguments for the program itself.
pub fn answer(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let words: Vec<&OsStr> = arguments.iter().map(OsString::as_os_str).collect();
    let text: Vec<Option<&str>> = words.iter().map(|word| word.to_str()).collect();
    match text[..] {
        [Some(INIT), Some("--parent"), Some(parent), Some("--"), ..] => Some(init(parent, &arguments[4..])),
        [Some(SEND)] => Some(match kernel::send() {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                say(&format!("{SEND}: {e}"));
                ExitCode::FAILURE
            }
        }),
        _ => None,
    }
}

/// Runs `command` in the namespaces whose first process this is.
fn init(parent: &str, command: &[OsString]) -> ExitCode {
    let program = command.first().map_or(String::new(), |program| program.to_string_lossy().into_owned());
    let done =
        parent.parse().map_err(|_| ErrorKind::InvalidInput.into()).and_then(|parent| namespace::init(parent, command));
    match done {
        Ok(code) => ExitCode::from(code),
        Err(e) => {
            let text = e.to_string();
            let reason = text.split(" (os error").next().unwrap_or(&text).to_lowercase();
            say(&format!("{program}: cannot be run ({reason}); check its name and permissions"));
            // The exit codes that shells use.
            ExitCode::from(if e.kind() == ErrorKind::NotFound { 127 } else { 126 })
        }
    }
}

/// Says `line` on standard error, if anybody can hear it.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
