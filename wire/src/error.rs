//! What can go wrong before there is a connection.

use control::registry::ParameterError;
use quinn::crypto::rustls::NoInitialCipherSuite;
use std::error::Error;
use std::{fmt, io};

/// Why there is no endpoint.
#[derive(Debug)]
#[non_exhaustive]
pub enum EndpointError {
    /// The socket cannot be bound, or cannot be set up.
    Socket(io::Error),
    /// The TLS configuration does not suit QUIC, which needs TLS 1.3.
    Tls(NoInitialCipherSuite),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndpointError::Socket(e) => e.fmt(f),
            EndpointError::Tls(_) => f.write_str(NO_TLS_13),
        }
    }
}

impl Error for EndpointError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            EndpointError::Socket(e) => Some(e),
            EndpointError::Tls(e) => Some(e),
        }
    }
}

impl From<io::Error> for EndpointError {
    fn from(error: io::Error) -> EndpointError {
        EndpointError::Socket(error)
    }
}

impl From<EndpointError> for io::Error {
    fn from(error: EndpointError) -> io::Error {
        match error {
            EndpointError::Socket(e) => e,
            tls @ EndpointError::Tls(_) => io::Error::other(tls),
        }
    }
}

/// Why there is no connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The TLS configuration does not suit QUIC, which needs TLS 1.3.
    Tls(NoInitialCipherSuite),
    /// It could not be begun.
    Start(quinn::ConnectError),
    /// It was begun, and failed.
    Failed(quinn::ConnectionError),
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::Tls(_) => f.write_str(NO_TLS_13),
            ConnectError::Start(e) => write!(f, "cannot connect: {e}"),
            ConnectError::Failed(e) => write!(f, "cannot connect: {e}"),
        }
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ConnectError::Tls(e) => Some(e),
            ConnectError::Start(e) => Some(e),
            ConnectError::Failed(e) => Some(e),
        }
    }
}

const NO_TLS_13: &str = "the TLS configuration does not suit QUIC: it needs TLS 1.3";

/// Why there is no such choice of a controller.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChoiceError {
    /// The registry has no controller of this name.
    Controller {
        /// The name that was asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// Packets were to be ECN-capable, and the controller does not react to marks.
    NoReaction {
        /// The controller's name.
        controller: &'static str,
    },
    /// Packets were to be ECN-capable, and the controller sets a rate.
    Paced {
        /// The controller's name.
        controller: &'static str,
    },
    /// A parameter is unknown or has no usable value.
    Parameter {
        /// The controller's name.
        controller: &'static str,
        /// Which parameter, and why.
        error: ParameterError,
    },
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ParameterError::{Bad, Together, Unknown};
        match self {
            ChoiceError::Controller { name, known } => {
                write!(f, "no controller `{name}`; there are {}", known.join(", "))
            }
            ChoiceError::NoReaction { controller } => {
                write!(f, "{controller} does not react to marks (ECN); choose one like cubic, or send without ECN")
            }
            ChoiceError::Paced { controller } => {
                write!(f, "{controller} sets a rate, and paced packets are not ECN-capable; send without ECN")
            }
            ChoiceError::Parameter { controller, error: Unknown { name, known } } => {
                write!(f, "{controller} has no parameter `{name}`; it has {}", known.join(", "))
            }
            ChoiceError::Parameter { controller, error: Bad { name, problem } } => {
                write!(f, "{controller}.{name}: {problem}")
            }
            ChoiceError::Parameter { controller, error: Together { problem } } => write!(f, "{controller}: {problem}"),
        }
    }
}

impl Error for ChoiceError {}

/// Why an identity cannot be made or used.
#[derive(Debug)]
#[non_exhaustive]
pub enum IdentityError {
    /// No certificate could be made: the system has no randomness.
    Certificate(rcgen::Error),
    /// The key that was made has an unknown form.
    Key(&'static str),
    /// The certificate and its key cannot be used for TLS.
    Unusable(rustls::Error),
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdentityError::Certificate(e) => write!(f, "no certificate: {e}"),
            IdentityError::Key(why) => write!(f, "no key: {why}"),
            IdentityError::Unusable(e) => write!(f, "the certificate cannot be used: {e}"),
        }
    }
}

impl Error for IdentityError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            IdentityError::Certificate(e) => Some(e),
            IdentityError::Key(_) => None,
            IdentityError::Unusable(e) => Some(e),
        }
    }
}

/// A text that is no [`Fingerprint`](crate::Fingerprint).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FingerprintError(pub(crate) String);

impl fmt::Display for FingerprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no fingerprint: 64 hexadecimal digits", self.0)
    }
}

impl Error for FingerprintError {}
