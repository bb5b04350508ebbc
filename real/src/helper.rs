//! How a run starts processes in network namespaces.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Command;

/// The first argument of the first process in a command's namespaces.
pub(crate) const INIT: &str = "emulate-init";
/// The first argument of the process that sends over the kernel's TCP.
pub(crate) const SEND: &str = "tcp-send";

/// How to start a process in a network namespace: the beginning of a command that hands its arguments to [`answer`](crate::answer).
#[derive(Clone, Debug)]
pub struct Helper(Vec<OsString>);

impl Helper {
    /// Starts `command`, a program and its first arguments, with the arguments that [`answer`](crate::answer) understands behind them.
    pub fn new(command: Vec<OsString>) -> Helper {
        Helper(command)
    }

    /// Starts this program again. Its `main` must call [`answer`](crate::answer) before anything else.
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
