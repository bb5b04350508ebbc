//! A command behind the path, in namespaces of its own.

use crate::{Error, Helper};
use control::Bytes;
use emulate::namespace;
use emulate::tunnel::{HostEnd, Tunnel};
use std::ffi::OsString;
use std::io;
use std::net::Ipv4Addr;
use std::process::{Child, Stdio};

/// The smallest and the largest packets that IPv4 may be told to send (RFC 791).
const MTU: (u64, u64) = (576, 65_535);

/// A command behind the path.
pub struct Guest {
    /// Its way out.
    pub tunnel: Tunnel,
    /// The first process of its namespaces.
    pub child: Child,
    /// Its exit code, once it has one.
    pub ended: Option<i32>,
    /// Where it is.
    pub address: Ipv4Addr,
    /// Where it finds this host.
    pub host: Ipv4Addr,
}

impl Guest {
    /// Starts `command` with packets of up to `mtu`, and with these pipes, or none. The process must have a single thread.
    pub fn start(command: &[OsString], helper: &Helper, pipes: Pipes, mtu: Bytes) -> Result<Guest, Error> {
        let cannot = |what, source: io::Error| Error::Refused { what, source };
        let end = HostEnd::new(mtu.0.clamp(MTU.0, MTU.1) as u16).map_err(|e| cannot("a TUN device", e))?;
        let (host, address) = (end.address(), end.other_address());
        let (tunnel, child) = namespace::spawn(|| {
            let mut init = helper.init(command);
            init.env("THALWEG_HOST", host.to_string()).env("THALWEG_ADDRESS", address.to_string());
            if pipes == Pipes::Ours {
                init.stdin(Stdio::piped()).stdout(Stdio::piped());
            }
            Ok((end.join()?, init))
        })
        .map_err(|e| cannot("a network namespace", e))?;
        Ok(Guest { tunnel, child, ended: None, address, host })
    }
}

/// Whom a command hears and speaks to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pipes {
    /// As this process does.
    Inherited,
    /// This process.
    Ours,
}

impl Drop for Guest {
    /// With the first process of its namespace, everything in it ends.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
