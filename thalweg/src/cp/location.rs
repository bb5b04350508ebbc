//! What a path on the command line refers to: this host, a host that ssh reaches, or the folder of a `thalweg serve`.

use copy::{Address, Key, printable};
use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A source or the destination.
#[derive(Debug, PartialEq)]
pub enum Location {
    /// A path on this host.
    Local(PathBuf),
    /// A path on another host.
    Remote(Remote, Vec<u8>),
}

/// Another host.
#[derive(Debug, PartialEq)]
pub enum Remote {
    /// `[user@]host`, for ssh.
    Host(String),
    /// A server that `thalweg serve` runs.
    Served { host: String, key: Key },
}

/// The environment variable for the key, if the connection string does not contain it.
const KEY: &str = "THALWEG_KEY";

impl Location {
    /// Parses a path as scp does: `HOST:PATH` is an argument with a colon before the first slash. A connection string
    /// is remote, too.
    pub fn parse(argument: &OsString) -> Result<Location, String> {
        match Address::parse(argument) {
            Some(address) => Location::served(address.map_err(|e| e.to_string())?),
            None => Location::ssh_or_local(argument),
        }
    }

    fn served(Address { host, key, path }: Address) -> Result<Location, String> {
        let key = match (key, env::var(KEY)) {
            (Some(key), _) => key,
            (None, Ok(key)) => key.trim().parse().map_err(|e| format!("{KEY}: {e}"))?,
            (None, Err(_)) => {
                return Err(format!(
                    "thalweg://{}: the key is missing; write thalweg://KEY@HOST:PORT/PATH, or set {KEY}",
                    printable(&host)
                ));
            }
        };
        Ok(Location::Remote(Remote::Served { host, key }, path))
    }

    fn ssh_or_local(argument: &OsString) -> Result<Location, String> {
        let bytes = argument.as_bytes();
        // An IPv6 address contains colons and is therefore in brackets, behind the user if there is one.
        let start = match bytes.windows(2).position(|pair| pair == b"]:") {
            Some(end) if bytes.starts_with(b"[") || bytes[..end].windows(2).any(|pair| pair == b"@[") => end + 1,
            _ => 0,
        };
        let colon = bytes[start..].iter().position(|byte| matches!(byte, b':' | b'/')).map(|at| start + at);
        let Some(colon) = colon.filter(|colon| *colon > 0 && bytes[*colon] == b':') else {
            return Ok(Location::Local(argument.into()));
        };
        let (host, path) = (&bytes[..colon], &bytes[colon + 1..]);
        match std::str::from_utf8(host) {
            // ssh would take a host that begins with a hyphen for an option.
            Ok(host) if !host.trim_start_matches(['[', ']']).starts_with('-') => {
                Ok(Location::Remote(Remote::Host(host.replace(['[', ']'], "")), path.to_vec()))
            }
            _ => Err(format!(
                "`{}` is not a host; if a file has this name, write ./NAME",
                printable(&String::from_utf8_lossy(host))
            )),
        }
    }

    /// The path, if it is on this host.
    pub fn local(self) -> Option<PathBuf> {
        match self {
            Location::Local(path) => Some(path),
            Location::Remote(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn an_argument_with_a_colon_before_the_first_slash_is_on_another_host() {
        let parse = |text: &[u8]| Location::parse(&OsStr::from_bytes(text).to_owned());
        let remote = |host: &str, path: &[u8]| Ok(Location::Remote(Remote::Host(host.into()), path.to_vec()));
        let local = |path: &[u8]| Ok(Location::Local(PathBuf::from(OsStr::from_bytes(path))));
        assert_eq!(parse(b"host:a/b"), remote("host", b"a/b"));
        assert_eq!(parse(b"me@host:"), remote("me@host", b""));
        assert_eq!(parse(b"[2001:db8::1]:/x:y"), remote("2001:db8::1", b"/x:y"));
        assert_eq!(parse(b"me@[::1]:x"), remote("me@::1", b"x"));
        assert_eq!(parse(b"host:\xff"), remote("host", b"\xff"));
        for here in [&b"a"[..], b"./a:b", b"/x:y", b".", b":x", b"\xff/a:b", b"[x]y"] {
            assert_eq!(parse(here), local(here));
        }
        assert!(parse(b"-oProxyCommand=x:y").unwrap_err().contains("not a host"));
        assert!(parse(b"thalweg://h:1/x").unwrap_err().contains(KEY));
    }
}
