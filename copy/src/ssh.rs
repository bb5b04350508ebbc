//! A server on a host that the user can reach over ssh: one line there, with the client's certificate and what it wants, and
//! one line back, with the server's certificate and port. The server ends with ssh's standard input.

use crate::event::Watch;
use crate::root::Root;
use crate::server::{Server, first_free};
use crate::session::PROTOCOL;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use wire::{Choice, Endpoint, Fingerprint, FingerprintError, Identity, server_tls};

/// A host, and how ssh gets there.
#[derive(Clone, Debug)]
pub struct Host {
    /// `[user@]host`, as ssh takes it.
    pub name: String,
    /// The program and its options.
    pub ssh: Vec<OsString>,
    /// What thalweg is called there.
    pub program: String,
    /// UDP ports that it may use there.
    pub ports: RangeInclusive<u16>,
}

/// The client's line.
#[derive(Serialize, Deserialize)]
struct Ask {
    client: String,
    controller: String,
    parameters: serde_json::Map<String, serde_json::Value>,
    ports: RangeInclusive<u16>,
    silence: Duration,
}

/// The server's line.
#[derive(Serialize, Deserialize)]
enum Reply {
    Ready {
        server: String,
        port: u16,
        /// Where ssh's connection has reached it.
        address: Option<IpAddr>,
    },
    Failed(String),
}

/// No line is longer.
const LONGEST: u64 = 64 << 10;
/// What a shell's start may say before us, in lines.
const CHATTER: usize = 1000;

/// A server that ssh has started.
pub(crate) struct Started {
    child: Child,
    stdin: Option<ChildStdin>,
    _stdout: BufReader<ChildStdout>,
    /// Where it may be reached, most likely first.
    pub(crate) hosts: Vec<String>,
    pub(crate) server: Fingerprint,
}

impl Host {
    /// Starts a server there for this client.
    pub(crate) async fn start(
        &self,
        client: Fingerprint,
        choice: &Choice,
        silence: Duration,
    ) -> Result<Started, String> {
        let parameters = serde_json::from_str(&choice.parameters()).map_err(|e| e.to_string())?;
        let (client, controller, ports) = (client.to_string(), choice.name().into(), self.ports.clone());
        let ask = Ask { client, controller, parameters, ports, silence };
        let host = self.clone();
        tokio::task::spawn_blocking(move || host.start_now(&ask)).await.map_err(|e| e.to_string())?
    }

    fn start_now(&self, ask: &Ask) -> Result<Started, String> {
        let (program, options) = self.ssh.split_first().ok_or("--ssh names no program")?;
        let shown = program.to_string_lossy().into_owned();
        let mut command = Command::new(program);
        command.args(options).arg(&self.name).arg(format!("{} cp --server", self.program));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{shown}: {e}; --ssh says which program to use"))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else { return Err(format!("{shown} has no pipes")) };
        // If it cannot be written, there will be no answer.
        let _ = line(ask).and_then(|line| stdin.write_all(&line)).and_then(|()| stdin.flush());
        let mut stdout = BufReader::new(stdout);
        let reply = answer(&mut stdout);
        let Some(reply) = reply else {
            drop(stdin);
            let code = child.wait().ok().and_then(|status| status.code());
            let code = code.map_or(String::new(), |code| format!(" (exit code {code})"));
            return Err(format!(
                "{shown} to {} ended{code} before thalweg answered: it must be installed there, in the same version; \
                 --remote-program says where",
                self.name
            ));
        };
        match reply {
            Reply::Failed(why) => Err(format!("{}: {}", self.name, crate::shown(&why))),
            Reply::Ready { server, port, address } => {
                let mut hosts = vec![with_port(&self.address(), port)];
                hosts.extend(address.map(|address| SocketAddr::new(address, port).to_string()));
                hosts.dedup();
                let server = server.parse().map_err(|e: FingerprintError| e.to_string())?;
                Ok(Started { child, stdin: Some(stdin), _stdout: stdout, hosts, server })
            }
        }
    }

    /// What ssh's configuration makes of the name.
    fn address(&self) -> String {
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

impl Started {
    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Started {
    /// The server ends when its input does, and ssh with it.
    fn drop(&mut self) {
        self.stdin = None;
        for _ in 0..20 {
            if !self.is_alive() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

fn with_port(host: &str, port: u16) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

/// A line begins with the protocol's name, so that it is known among what else a shell may print.
fn line(of: &impl Serialize) -> io::Result<Vec<u8>> {
    Ok([PROTOCOL, b" ", &serde_json::to_vec(of)?, b"\n"].concat())
}

/// The first line that is one of ours; none if there is none.
fn answer<T: for<'a> Deserialize<'a>>(from: &mut impl BufRead) -> Option<T> {
    for _ in 0..CHATTER {
        let mut line = Vec::new();
        from.take(LONGEST).read_until(b'\n', &mut line).ok().filter(|read| *read > 0)?;
        if let Some(json) = line.strip_prefix(PROTOCOL).and_then(|rest| rest.strip_prefix(b" ")) {
            return serde_json::from_slice(json).ok();
        }
    }
    None
}

/// Serves the one client that is at standard input, until it is closed or a copy is complete.
pub async fn serve(watch: &Watch) -> Result<(), String> {
    let asked = tokio::task::spawn_blocking(|| answer::<Ask>(&mut io::stdin().lock())).await.ok().flatten();
    let asked = asked.ok_or("this is what `thalweg cp` runs on the other host; by itself it does nothing")?;
    let (reply, server) = match prepare(&asked) {
        Ok((server, fingerprint, port)) => {
            // "client-address client-port server-address server-port"
            let connection = std::env::var("SSH_CONNECTION").unwrap_or_default();
            let address = connection.split(' ').nth(2).and_then(|address| address.parse().ok());
            (Reply::Ready { server: fingerprint.to_string(), port, address }, Ok(server))
        }
        Err(why) => (Reply::Failed(why.clone()), Err(why)),
    };
    let said = line(&reply).and_then(|line| io::stdout().write_all(&line)).and_then(|()| io::stdout().flush());
    said.map_err(|e| format!("cannot answer: {e}"))?;
    let server = server?;
    let (closed, end) = tokio::sync::oneshot::channel();
    // A thread that nobody waits for: it may read forever.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let _ = closed.send(());
    });
    tokio::select! {
        () = server.run(watch) => {}
        _ = end => {}
    }
    server.close().await;
    Ok(())
}

fn prepare(asked: &Ask) -> Result<(Server, Fingerprint, u16), String> {
    let choice = Choice::new(&asked.controller, &asked.parameters).map_err(|e| e.to_string())?;
    let identity = Identity::new().map_err(|e| e.to_string())?;
    let fingerprint = identity.fingerprint();
    let client = asked.client.parse().map_err(|e: FingerprintError| e.to_string())?;
    let tls = server_tls(identity, Some(client), PROTOCOL).map_err(|e| e.to_string())?;
    let any = [IpAddr::from(Ipv6Addr::UNSPECIFIED), Ipv4Addr::UNSPECIFIED.into()];
    let addresses = asked.ports.clone().flat_map(|port| any.map(|any| SocketAddr::new(any, port)));
    let builder = || Endpoint::builder(choice.clone()).accept(tls.clone()).idle_timeout(asked.silence);
    let endpoint = first_free(addresses, |address| Ok(builder().bind(address)?))?;
    let port = endpoint.quinn().local_addr().map_err(|e| e.to_string())?.port();
    let server = Server { endpoint, key: None, root: Arc::new(Root::Anywhere), writable: true, keep: false };
    Ok((server, fingerprint, port))
}
