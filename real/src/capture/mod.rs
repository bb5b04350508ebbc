//! Captures of the packets of a run on both sides of its path, in the format pcapng.
//!
//! Each side has a file of its own, as if it were captured at the senders' host and at the receivers'. Readers would
//! take the second appearance of a packet in one file for a repetition: Wireshark 4.0 then finds no secrets for QUIC.
//!
//! The emulator's thread copies packets into chunks of memory that are there before the run begins, and a thread of its
//! own, which the system schedules as any other, writes them.

mod chunk;
mod datagram;
mod pcapng;
mod tap;

pub use tap::Tapped;

use chunk::{Chunk, Message, Noted};
use quinn::rustls::KeyLog;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::SystemTime;
use tap::Tap;

/// Where captures are written to: that of the senders' side, and that of the receivers'.
pub type Sinks = [Box<dyn Write + Send>; 2];

/// The names of the sides.
const SIDES: [&str; 2] = ["senders", "receivers"];

/// Number of chunks: with 64 MiB of packets, who writes may pause for 250 ms at 1 Gbps.
const CHUNKS: usize = 64;
/// Room for secrets in the queue of what is to be written: more than all connections of a run have.
const SECRETS: usize = 1024;

/// The captures of a run.
pub struct Capture {
    tap: Mutex<Option<Tap>>,
    full: SyncSender<Message>,
    /// Packets that were not captured, by side.
    dropped: Arc<[AtomicU64; 2]>,
    writer: Mutex<Option<JoinHandle<io::Result<()>>>>,
}

impl Capture {
    /// Begins captures into `sinks`.
    pub fn start(sinks: Sinks) -> Capture {
        let (full, to_write) = sync_channel(CHUNKS + SECRETS);
        let (written, empty) = sync_channel(CHUNKS);
        (0..CHUNKS).for_each(|_| drop(written.try_send(Chunk::new())));
        let dropped = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        let tap = Mutex::new(Some(Tap::new(empty, full.clone(), dropped.clone())));
        let counted = dropped.clone();
        let writer = thread::spawn(move || write(sinks, &to_write, &written, &counted));
        Capture { tap, full, dropped, writer: Mutex::new(Some(writer)) }
    }

    /// What takes the notes; none if it was taken before.
    pub fn tap(&self) -> Option<Tap> {
        self.tap.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Where the run's TLS secrets are to go. They must be there before the packets that they decrypt: a server has a
    /// connection's before it sends anything.
    pub fn secrets(&self) -> Arc<dyn KeyLog> {
        Arc::new(Secrets(self.full.clone()))
    }

    /// Ends the capture, when nothing is noted any more. Returns how many packets were not captured.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn finish(&self) -> io::Result<u64> {
        let _ = self.full.send(Message::End);
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        writer.map_or(Ok(Ok(())), JoinHandle::join).map_err(|_| io::Error::other("the writer panicked"))??;
        Ok(self.dropped.iter().map(|side| side.load(Ordering::Relaxed)).sum())
    }
}

impl Drop for Capture {
    /// If the run has failed, too, the thread that writes ends.
    fn drop(&mut self) {
        let _ = self.full.try_send(Message::End);
    }
}

/// Writes the secrets of TLS sessions into a capture.
#[derive(Debug)]
struct Secrets(SyncSender<Message>);

impl KeyLog for Secrets {
    /// As in a file that SSLKEYLOGFILE names (draft-ietf-tls-keylogfile).
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let line = format!("{label} {} {}\n", hex(client_random), hex(secret));
        let _ = self.0.try_send(Message::Secret(line));
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes what `to_write` brings, until its end, and returns `written` chunks.
fn write(
    mut sinks: Sinks,
    to_write: &Receiver<Message>,
    written: &SyncSender<Chunk>,
    dropped: &[AtomicU64; 2],
) -> io::Result<()> {
    let mut outs = SIDES.map(|side| {
        let mut out = Vec::new();
        pcapng::section(&mut out, concat!("thalweg ", env!("CARGO_PKG_VERSION")));
        pcapng::interface(&mut out, side, &format!("the {side}' side of the emulated path"));
        out
    });
    let mut counts = [0; 2];
    for message in to_write {
        match message {
            Message::Packets(mut chunk) => {
                chunk.sort();
                for (noted, payload) in chunk.packets() {
                    let side = usize::from(noted.side);
                    counts[side] += 1;
                    packet(&mut outs[side], noted, payload);
                }
                chunk.clear();
                let _ = written.try_send(chunk);
            }
            Message::Secret(line) => outs.iter_mut().for_each(|out| pcapng::secrets(out, &line)),
            Message::End => break,
        }
        flush(&mut sinks, &mut outs)?;
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    for ((out, count), dropped) in outs.iter_mut().zip(counts).zip(dropped) {
        let dropped = dropped.load(Ordering::Relaxed);
        pcapng::statistics(out, now, count + dropped, dropped);
    }
    flush(&mut sinks, &mut outs)
}

fn flush(sinks: &mut Sinks, outs: &mut [Vec<u8>; 2]) -> io::Result<()> {
    for (sink, out) in sinks.iter_mut().zip(outs) {
        sink.write_all(out)?;
        sink.flush()?;
        out.clear();
    }
    Ok(())
}

fn packet(out: &mut Vec<u8>, noted: &Noted, payload: &[u8]) {
    match noted.addresses {
        None => pcapng::packet(out, noted.at, [payload, &[]], None),
        Some(addresses) => {
            let (quic, comment) = datagram::unstamped(payload);
            let headers = datagram::headers(addresses, noted.ecn, quic.len());
            pcapng::packet(out, noted.at, [&headers, quic], comment.as_deref());
        }
    }
}

#[cfg(test)]
mod tests;
