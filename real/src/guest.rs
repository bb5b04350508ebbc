//! A command behind the path, in namespaces of its own.

use crate::{Error, Helper};
use control::Bytes;
use emulate::namespace;
use emulate::tunnel::{HostEnd, Tunnel};
use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::process::{Child, Stdio};

/// Bounds of a device's MTU, bytes: what every host must accept, and the largest packet of IPv4 (RFC 791).
const MTU: (u64, u64) = (576, 65_535);

/// A command in a network namespace whose only way out is a tunnel to this host. When it is dropped, all processes in
/// the namespace are killed.
pub struct Guest {
    /// The tunnel, whose packets an emulation moves.
    pub(crate) tunnel: Tunnel,
    /// The first process of the namespaces.
    pub(crate) child: Child,
    /// The command's address.
    pub address: Ipv4Addr,
    /// The address at which the command reaches this host.
    pub host: Ipv4Addr,
}

impl Guest {
    /// Starts `command`, whose packets have `mtu` bytes at most. The process must have a single thread.
    pub(crate) fn start(command: &[OsString], helper: &Helper, pipes: Pipes, mtu: Bytes) -> Result<Guest, Error> {
        let end = HostEnd::new(mtu.0.clamp(MTU.0, MTU.1) as u16)
            .map_err(|source| Error::Refused { what: "a TUN device", source })?;
        let (host, address) = (end.address(), end.other_address());
        let (tunnel, child) = namespace::spawn(|| {
            let mut init = helper.init(command);
            init.env("THALWEG_HOST", host.to_string()).env("THALWEG_ADDRESS", address.to_string());
            if pipes == Pipes::Captured {
                init.stdin(Stdio::piped()).stdout(Stdio::piped());
            }
            Ok((end.join()?, init))
        })
        .map_err(|source| Error::Refused { what: "a network namespace", source })?;
        Ok(Guest { tunnel, child, address, host })
    }
}

/// Where standard input and output of a command lead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pipes {
    /// Where those of this process lead.
    Inherited,
    /// To this process.
    Captured,
}

impl Drop for Guest {
    /// The kernel kills all processes of a PID namespace with the first one.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
