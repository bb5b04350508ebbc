//! The client's side: it starts a server on another host.

use super::line::{Setup, Started, read_line, write_line};
use crate::error::Error;
use std::ffi::OsString;
use std::io::BufReader;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use wire::{Choice, Fingerprint};

/// How long a server may take to end after its standard input, in polls, and the time between two polls.
const END_POLLS: u32 = 20;
const END_POLL: Duration = Duration::from_millis(50);

/// A host, and how ssh reaches it.
#[derive(Clone, Debug)]
pub struct Host {
    /// `[user@]host`, as ssh takes it.
    pub name: String,
    /// The ssh program and its options.
    pub ssh: Vec<OsString>,
    /// The command that runs thalweg on the host.
    pub program: String,
    /// UDP ports at which the server may listen; `0..=0` means any port.
    pub ports: RangeInclusive<u16>,
}

/// A server that was started over ssh. It is stopped when this is dropped.
pub(crate) struct RemoteServer {
    child: Child,
    stdin: Option<ChildStdin>,
    /// Kept open, so that the server's later output does not end it.
    _stdout: BufReader<ChildStdout>,
    /// Where the server may be reached, the likeliest first: names or IP addresses with the port.
    pub(crate) addresses: Vec<String>,
    /// The fingerprint of its certificate.
    pub(crate) certificate: Fingerprint,
}

impl Host {
    /// Starts a server on the host for the client with this certificate. Fails if ssh fails, or if thalweg on the host
    /// does not start or cannot listen.
    pub(crate) async fn start(
        &self,
        client: Fingerprint,
        choice: &Choice,
        idle_timeout: Duration,
    ) -> Result<RemoteServer, Error> {
        let ssh = |e: &dyn std::fmt::Display| Error::Ssh(e.to_string());
        let parameters = serde_json::from_str(&choice.parameters()).map_err(|e| ssh(&e))?;
        let (client, controller, ports) = (client.to_string(), choice.name().into(), self.ports.clone());
        let setup = Setup { client, controller, parameters, ecn: choice.has_ecn(), ports, idle_timeout };
        let host = self.clone();
        tokio::task::spawn_blocking(move || host.start_now(&setup).map_err(Error::Ssh)).await.map_err(|e| ssh(&e))?
    }

    fn start_now(&self, setup: &Setup) -> Result<RemoteServer, String> {
        let (program, options) = self.ssh.split_first().ok_or("--ssh names no program; write one, like --ssh ssh")?;
        let name = program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(options).arg(&self.name).arg(format!("{} cp --server", self.program));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{name} cannot be run: {e}; name another program with --ssh"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(format!("{name} has no pipes")) };
        // If the line cannot be written, no answer comes, which is handled below.
        let _ = write_line(&mut stdin, setup);
        let mut stdout = BufReader::new(stdout);
        let Some(started) = read_line(&mut stdout) else {
            drop(stdin);
            let code = child.wait().ok().and_then(|status| status.code());
            let code = code.map_or(String::new(), |code| format!(" (exit code {code})"));
            return Err(format!(
                "{name} to {} ended{code} before thalweg answered; install the same version of thalweg there, or say \
                 with --remote-program where it is",
                self.name
            ));
        };
        match started {
            Started::Failed(why) => Err(format!("{}: {why}", self.name)),
            Started::Ready { server, port, address } => {
                let mut addresses = vec![with_port(&self.resolve(), port)];
                addresses.extend(address.map(|address| SocketAddr::new(address, port).to_string()));
                addresses.dedup();
                let certificate = server.parse();
                let certificate = certificate.map_err(|_| format!("{}: its fingerprint is malformed", self.name))?;
                Ok(RemoteServer { child, stdin: Some(stdin), _stdout: stdout, addresses, certificate })
            }
        }
    }

    /// The host's name or address according to ssh's configuration (`ssh -G`), or else as it was given, without the
    /// user.
    fn resolve(&self) -> String {
        let plain = self.name.rsplit_once('@').map_or(self.name.as_str(), |(_, host)| host);
        let asked = self.ssh.split_first().and_then(|(program, options)| {
            let mut command = Command::new(program);
            command.args(options).arg("-G").arg(&self.name).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()
        });
        let said = asked.filter(|asked| asked.status.success()).map(|asked| asked.stdout).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let found = said.lines().find_map(|line| line.strip_prefix("hostname "));
        found.unwrap_or(plain).trim_matches(['[', ']']).to_string()
    }
}

impl RemoteServer {
    /// This server if it is running.
    pub(crate) fn if_alive(mut self) -> Option<RemoteServer> {
        self.is_alive().then_some(self)
    }

    /// Whether ssh, and with it the server, is running.
    fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for RemoteServer {
    /// Closes the server's standard input, which ends it and then ssh; kills ssh after a second.
    fn drop(&mut self) {
        self.stdin = None;
        for _ in 0..END_POLLS {
            if !self.is_alive() {
                return;
            }
            std::thread::sleep(END_POLL);
        }
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn with_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}
