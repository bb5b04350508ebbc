//! Why a copy or a server failed.

use crate::name::{printable, printable_path};
use crate::reason::reason;
use std::error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a copy or a server failed. It displays as one line, which says what is wrong and, where that is known, what to
/// do; the line has no control characters.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder on this host cannot be used.
    File {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no folder at this destination, and the destination cannot be the name of a copy.
    NoFolder(PathBuf),
    /// This file holds something other than a server's credentials.
    NotCredentials(PathBuf),
    /// Others can read or write this file with a server's credentials.
    ExposedCredentials(PathBuf),
    /// The system returns no random numbers.
    NoRandomness,
    /// TLS cannot be set up.
    Tls(Box<dyn error::Error + Send + Sync>),
    /// There are more than 131,072 sources, or their paths have more than 4 MiB together.
    TooManySources,
    /// No UDP socket can be opened at this port; zero means any port.
    Socket {
        /// The port that was tried last.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
    /// There is no port or address to listen at.
    NoPorts,
    /// A server cannot be started over ssh, or cannot talk to its client over ssh. The text says why.
    Ssh(String),
    /// No connection to the server comes about. The text says why.
    Unreachable(String),
    /// The server answers with a certificate that does not belong to the connection string.
    WrongCertificate,
    /// The other end runs another version of thalweg, with another copy protocol.
    OtherVersion,
    /// The source has no name that its copy could have. The text says what to do.
    Unnamed(String),
    /// The server refuses the copy. The text says why.
    Refused(String),
    /// One end breaks the copy protocol. The text says which and how.
    Protocol(String),
    /// A server at this address causes this error.
    At {
        /// The server.
        address: SocketAddr,
        /// The error.
        source: Box<Error>,
    },
    /// The connection was lost, and no further attempt succeeded in the time for retries.
    GaveUp {
        /// How the connection was lost.
        first: String,
        /// Why the last attempt failed, if for another reason.
        last: Option<String>,
    },
}

impl Error {
    /// An error of TLS.
    pub(crate) fn tls(source: impl Into<Box<dyn error::Error + Send + Sync>>) -> Error {
        Error::Tls(source.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File { path, source } => write!(f, "{}: {}", printable_path(path), printable(&reason(source))),
            Error::NoFolder(path) => write!(f, "{}: there is no such folder; make it first", printable_path(path)),
            Error::NotCredentials(path) => write!(
                f,
                "{}: this file was not written by thalweg serve --key-file; name another file",
                printable_path(path)
            ),
            Error::ExposedCredentials(path) => write!(
                f,
                "{}: others can read or write this file, and so may know the secret; remove it to get another one, or \
                 make it yours alone with chmod 600",
                printable_path(path)
            ),
            Error::NoRandomness => write!(f, "no secret can be made: the system returns no random numbers"),
            Error::Tls(source) => write!(f, "TLS cannot be set up: {source}"),
            Error::TooManySources => {
                write!(f, "too many files are named at once; copy the folder that they are in with -r")
            }
            Error::Socket { port: 0, source } => write!(f, "no UDP socket can be opened: {}", reason(source)),
            Error::Socket { port, source } => write!(f, "cannot listen at UDP port {port}: {}", reason(source)),
            Error::NoPorts => write!(f, "there is no UDP port to listen at: the range of ports is empty"),
            Error::WrongCertificate => write!(
                f,
                "the certificate is not the one in the connection string: the server was restarted and has another \
                 key, or somebody else answers in its place; use the string that the server printed last"
            ),
            Error::OtherVersion => write!(
                f,
                "the other end runs another version of thalweg, which copies in another way; install the same version \
                 at both ends"
            ),
            Error::Ssh(why)
            | Error::Unreachable(why)
            | Error::Unnamed(why)
            | Error::Refused(why)
            | Error::Protocol(why) => f.write_str(&printable(why)),
            Error::At { address, source } => write!(f, "{address}: {source}"),
            Error::GaveUp { first, last } => {
                f.write_str(&printable(first))?;
                if let Some(last) = last {
                    write!(f, ", and then: {}", printable(last))?;
                }
                write!(f, "; repeat the command to continue the copy")
            }
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::File { source, .. } | Error::Socket { source, .. } => Some(source),
            Error::Tls(source) => Some(source.as_ref()),
            Error::At { source, .. } => Some(source.as_ref()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn an_error_of_the_system_is_the_source() {
        let file = Error::File { path: "a\u{1b}".into(), source: io::ErrorKind::NotFound.into() };
        assert_eq!(file.to_string(), "a\\u{1b}: there is no such file or folder");
        let source = file.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::NotFound));
    }
}
