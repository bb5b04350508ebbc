//! What a path on the command line means: here, on a host that ssh reaches, or in a folder that is served.

use copy::{Address, Key};
use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// A source or the destination.
#[derive(Debug, PartialEq)]
pub enum Place {
    Local(PathBuf),
    Remote(Remote, Vec<u8>),
}

/// Where it is if it is elsewhere.
#[derive(Debug, PartialEq)]
pub enum Remote {
    /// `[user@]host`, for ssh.
    Host(String),
    /// What `thalweg serve` has printed.
    Served { host: String, key: Key },
}

/// Where the key is if it is not in the string.
const KEY: &str = "THALWEG_KEY";

impl Place {
    /// As scp reads it: what has a colon in front of all slashes is `host:path`.
    pub fn parse(argument: &OsString) -> Result<Place, String> {
        if let Some(address) = Address::parse(argument) {
            let Address { host, key, path } = address?;
            let key = match (key, env::var(KEY)) {
                (Some(key), _) => key,
                (None, Ok(key)) => key.trim().parse()?,
                (None, Err(_)) => {
                    return Err(format!(
                        "thalweg://{}: the key is missing; write thalweg://KEY@HOST:PORT/PATH, or set {KEY}",
                        copy::shown(&host)
                    ));
                }
            };
            return Ok(Place::Remote(Remote::Served { host, key }, path));
        }
        let bytes = argument.as_bytes();
        // An IPv6 address has colons of its own, so it is in brackets; a user may be in front.
        let start = match bytes.windows(2).position(|pair| pair == b"]:") {
            Some(end) if bytes.starts_with(b"[") || bytes[..end].windows(2).any(|pair| pair == b"@[") => end + 1,
            _ => 0,
        };
        let colon = bytes[start..].iter().position(|byte| matches!(byte, b':' | b'/')).map(|at| start + at);
        match colon {
            Some(colon) if colon > 0 && bytes[colon] == b':' => {
                let (host, path) = (&bytes[..colon], &bytes[colon + 1..]);
                match std::str::from_utf8(host) {
                    // ssh would take it for an option.
                    Ok(host) if !host.trim_start_matches(['[', ']']).starts_with('-') => {
                        let host = host.replace(['[', ']'], "");
                        Ok(Place::Remote(Remote::Host(host), path.to_vec()))
                    }
                    _ => Err(format!(
                        "`{}` is no host; a file of that name is written ./NAME",
                        copy::shown(&String::from_utf8_lossy(host))
                    )),
                }
            }
            _ => Ok(Place::Local(argument.into())),
        }
    }

    /// If it is here.
    pub fn local(self) -> Option<PathBuf> {
        match self {
            Place::Local(path) => Some(path),
            Place::Remote(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn a_colon_in_front_of_all_slashes_makes_a_host() {
        let parse = |text: &[u8]| Place::parse(&OsStr::from_bytes(text).to_owned());
        let remote = |host: &str, path: &[u8]| Ok(Place::Remote(Remote::Host(host.into()), path.to_vec()));
        let local = |path: &[u8]| Ok(Place::Local(PathBuf::from(OsStr::from_bytes(path))));
        assert_eq!(parse(b"host:a/b"), remote("host", b"a/b"));
        assert_eq!(parse(b"me@host:"), remote("me@host", b""));
        assert_eq!(parse(b"[2001:db8::1]:/x:y"), remote("2001:db8::1", b"/x:y"));
        assert_eq!(parse(b"me@[::1]:x"), remote("me@::1", b"x"));
        assert_eq!(parse(b"host:\xff"), remote("host", b"\xff"));
        for here in [&b"a"[..], b"./a:b", b"/x:y", b".", b":x", b"\xff/a:b", b"[x]y"] {
            assert_eq!(parse(here), local(here));
        }
        assert!(parse(b"-oProxyCommand=x:y").unwrap_err().contains("no host"));
        assert!(parse(b"thalweg://h:1/x").unwrap_err().contains(KEY));
    }
}
