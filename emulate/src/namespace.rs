//! A command in a network namespace and a PID namespace of its own. When the command ends or the emulator dies, the
//! kernel ends all processes that the command has started and removes the namespaces.
//!
//! The namespaces have no name. Their first process is this program again, as [`init`]. The kernel kills it when the
//! emulator dies, and with it every process in its PID namespace; the network namespace ends with the last process in
//! it.

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use nix::sys::wait::{WaitStatus, wait};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::process::{Child, Command};

/// Makes new namespaces, calls `within` in the new network namespace, spawns the command that it returns there, and
/// returns to the old namespaces. The process must have a single thread.
///
/// # Errors
/// If the system refuses (only root may make namespaces), if `within` fails, or if the command cannot be spawned.
pub fn spawn<T>(within: impl FnOnce() -> io::Result<(T, Command)>) -> io::Result<(T, Child)> {
    let (net, pid) = (File::open("/proc/self/ns/net")?, File::open("/proc/self/ns/pid")?);
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWPID)?;
    let done =
        raise_loopback().and_then(|()| within()).and_then(|(result, mut command)| Ok((result, command.spawn()?)));
    setns(net, CloneFlags::CLONE_NEWNET)?;
    setns(pid, CloneFlags::CLONE_NEWPID)?;
    done
}

/// Runs as the first process in the PID namespace: runs `command`, and returns its exit code when it has ended. Then
/// the kernel ends all processes left in the namespace. `parent` is the emulator's process number on the host.
///
/// # Errors
/// If the command cannot be started.
pub fn init(parent: u32, command: &[OsString]) -> io::Result<u8> {
    set_pdeathsig(Signal::SIGKILL)?;
    // The emulator may have died before the call above.
    if parent_process()? != parent {
        return Err(io::Error::other("the emulator is gone"));
    }
    let (program, arguments) = command.split_first().ok_or(ErrorKind::InvalidInput)?;
    let child = Command::new(program).args(arguments).spawn()?;
    loop {
        // The first process reaps all orphans of the namespace.
        match wait() {
            Ok(WaitStatus::Exited(pid, code)) if pid.as_raw() as u32 == child.id() => return Ok(code as u8),
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid.as_raw() as u32 == child.id() => {
                return Ok(128 + signal as i32 as u8); // the exit code that shells use
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// The number of this process's parent in /proc, which is that of the host.
fn parent_process() -> io::Result<u32> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field is the process's name, in parentheses, which may contain any characters.
    let after = stat.rsplit_once(')').map(|(_, after)| after.split_whitespace().nth(1));
    after.flatten().and_then(|field| field.parse().ok()).ok_or(ErrorKind::InvalidData.into())
}

/// Sets the loopback device up, which is down in a new namespace, with RTM_NEWLINK of rtnetlink(7).
fn raise_loopback() -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST: u16 = 1;
    const IFF_UP: u32 = 1;
    let mut message = Vec::new();
    // nlmsghdr: length, type, flags, sequence, port.
    message.extend(32u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    // ifinfomsg: family, padding, type; index (the loopback device is the first), flags, which flags change.
    message.extend([0; 4]);
    message.extend(1i32.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    let netlink = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    File::from(netlink).write_all(&message)
}
