//! How a server finds a free UDP port.

use crate::error::Error;
use std::io;
use std::net::SocketAddr;
use wire::Endpoint;

/// An endpoint at the first address that is free. Fails if none is.
pub(crate) fn first_free(
    addresses: impl Iterator<Item = SocketAddr>,
    listen: impl Fn(SocketAddr) -> io::Result<Endpoint>,
) -> Result<Endpoint, Error> {
    let mut error = Error::NoPorts;
    for address in addresses {
        match listen(address) {
            Ok(endpoint) => return Ok(endpoint),
            Err(source) => error = Error::Socket { port: address.port(), source },
        }
    }
    Err(error)
}
