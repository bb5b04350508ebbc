//! Pipes between threads and tasks. Files are read and written by threads, which block; QUIC streams are read and
//! written by asynchronous tasks, which must not. A pipe holds a few blocks of bytes between the two.

use bytes::{Buf, Bytes, BytesMut};
use std::io::{self, Read, Write};
use tokio::sync::mpsc;

/// Bytes in a block, at most.
pub(crate) const BLOCK: usize = 256 << 10;
/// Bytes up to which writes are collected into one block.
const COLLECTED: usize = BLOCK / 4;
/// Blocks that a pipe holds, at most.
const CAPACITY: usize = 4;

/// The channel inside of a pipe. A task has one of its ends, and a thread has a [`Reader`] or [`Writer`] on the other.
pub(crate) fn channel() -> (mpsc::Sender<Bytes>, mpsc::Receiver<Bytes>) {
    mpsc::channel(CAPACITY)
}

/// The end of a pipe from which a thread reads.
pub(crate) struct Reader {
    blocks: mpsc::Receiver<Bytes>,
    block: Bytes,
}

/// The end of a pipe to which a thread writes.
pub(crate) struct Writer {
    blocks: mpsc::Sender<Bytes>,
    buffer: BytesMut,
}

impl Reader {
    pub(crate) fn new(blocks: mpsc::Receiver<Bytes>) -> Reader {
        Reader { blocks, block: Bytes::new() }
    }

    /// Whether reading would wait.
    pub(crate) fn is_idle(&self) -> bool {
        self.block.is_empty() && self.blocks.is_empty()
    }

    /// Waits for the next bytes and returns at least one and at most `max` of them, without a copy. Fails with
    /// `UnexpectedEof` at the end of the pipe.
    pub(crate) fn take(&mut self, max: usize) -> io::Result<Bytes> {
        while self.block.is_empty() {
            self.block = self.blocks.blocking_recv().ok_or(io::ErrorKind::UnexpectedEof)?;
        }
        Ok(self.block.split_to(max.min(self.block.len())))
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.take(buffer.len()) {
            Ok(mut bytes) => {
                let size = bytes.len();
                bytes.copy_to_slice(&mut buffer[..size]);
                Ok(size)
            }
            Err(_) => Ok(0),
        }
    }
}

impl Writer {
    pub(crate) fn new(blocks: mpsc::Sender<Bytes>) -> Writer {
        Writer { blocks, buffer: BytesMut::new() }
    }

    /// Writes a block, without a copy if it is long. Fails with `BrokenPipe` if nobody reads the pipe any more.
    pub(crate) fn write_block(&mut self, block: Bytes) -> io::Result<()> {
        if block.len() < COLLECTED {
            return self.write_all(&block);
        }
        self.flush()?;
        self.send(block)
    }

    fn send(&mut self, block: Bytes) -> io::Result<()> {
        self.blocks.blocking_send(block).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= COLLECTED {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let block = self.buffer.split().freeze();
        self.send(block)
    }
}
