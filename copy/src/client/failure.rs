//! Why an attempt of a client has failed, as far as it decides about another attempt.

use crate::close::Ended;
use crate::error::Error;

/// Why an attempt has failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// There was no connection, or no place for it at the server. A copy that begins fails; one that was interrupted is
    /// tried again: the place may be that of its own connection, which the server does not know to be lost yet.
    NotConnected(Error),
    /// There was a connection, and it was lost in this way.
    Lost(String),
    /// Another attempt would fail in the same way.
    Final(Error),
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Failure {
        match ended {
            Ended::Lost(reason) => Failure::Lost(reason),
            Ended::NoPlace(error) => Failure::NotConnected(error),
            Ended::Failed(error) => Failure::Final(error),
        }
    }
}
