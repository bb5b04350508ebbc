//! The tasks that carry bytes between pipes and QUIC streams.

use crate::blocks::Blocks;
use crate::pipe::{BLOCK, Reader, Writer, channel};
use bytes::{Bytes, BytesMut};
use quinn::{Connection, RecvStream, SendStream};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, Sleep, sleep};

/// The longest time for which contents are collected into one block before the thread gets them. A thread that is woken
/// for each packet would spend most of its time on waking up.
const COLLECT: Duration = Duration::from_millis(5);
/// Bytes of messages that are handed over at a time, at most.
const MESSAGES: usize = 16 << 10;
/// Bytes of contents on one stream; the next ones follow on the next stream. quinn closes a connection when one of its
/// streams has more than 1024 gaps (so that a peer cannot fill memory with tiny fragments), and a fast path with many
/// losses can leave that many in a large window. This number of bytes fits into fewer than 1024 packets.
const STREAM: usize = 1 << 20;

/// Reads messages from one stream. The end of the stream and the end of the connection look the same to the reader: the
/// messages say when everything was sent.
pub(crate) fn reader(stream: RecvStream) -> Reader {
    let (to, blocks) = channel();
    tokio::spawn(receive_messages(stream, to));
    Reader::new(blocks)
}

/// Writes to one stream, which is finished when the writer is dropped. The task ends when the peer has received
/// everything.
pub(crate) fn writer(stream: SendStream) -> (Writer, JoinHandle<()>) {
    let (blocks, from) = channel();
    (Writer::new(blocks), tokio::spawn(send(stream, from)))
}

/// Reads what the peer writes with [`contents_writer`].
pub(crate) fn contents_reader(connection: Connection) -> Reader {
    let (to, blocks) = channel();
    tokio::spawn(receive_contents(connection, to));
    Reader::new(blocks)
}

/// Writes to unidirectional streams of [`STREAM`] bytes each, one after the other.
pub(crate) fn contents_writer(connection: Connection) -> Writer {
    let (blocks, from) = channel();
    tokio::spawn(send_contents(connection, from));
    Writer::new(blocks)
}

/// Hands over what arrives as soon as it is there, since a peer may wait for the answer.
async fn receive_messages(mut stream: RecvStream, to: mpsc::Sender<Bytes>) {
    let mut buffer = BytesMut::new();
    loop {
        buffer.reserve(MESSAGES);
        match stream.read_buf(&mut buffer).await {
            Ok(1..) if to.send(buffer.split().freeze()).await.is_ok() => {}
            _ => return,
        }
    }
}

async fn receive_contents(connection: Connection, to: mpsc::Sender<Bytes>) {
    let mut collector = Collector::new(to);
    while let Some(Ok(stream)) = collector.collect_while(connection.accept_uni()).await
        // A stream that ends before it is full is the last one.
        && collector.receive(stream).await == Some(STREAM)
    {}
    let _ = collector.hand_over().await;
}

/// Collects contents into blocks. It hands over a block when it is full, and otherwise [`COLLECT`] after its first byte
/// has arrived.
struct Collector {
    to: mpsc::Sender<Bytes>,
    blocks: Blocks,
    block: BytesMut,
    due: Pin<Box<Sleep>>,
}

impl Collector {
    fn new(to: mpsc::Sender<Bytes>) -> Collector {
        let block = BytesMut::with_capacity(BLOCK);
        Collector { to, blocks: Blocks::default(), block, due: Box::pin(sleep(COLLECT)) }
    }

    /// Carries a stream to its end and returns its length in bytes; `None` if the stream broke off or nobody reads the
    /// pipe any more.
    async fn receive(&mut self, mut stream: RecvStream) -> Option<usize> {
        let mut length = 0;
        loop {
            let before = self.block.len();
            let read = tokio::select! {
                biased;
                read = stream.read_buf(&mut self.block) => read.ok()?,
                () = self.due.as_mut(), if before > 0 => {
                    self.hand_over().await?;
                    continue;
                }
            };
            if read == 0 {
                return Some(length);
            }
            length += read;
            if self.block.len() >= BLOCK {
                self.hand_over().await?;
            } else if before == 0 {
                self.due.as_mut().reset(Instant::now() + COLLECT);
            }
        }
    }

    /// Waits for `event`, and hands over the block if it becomes due. Returns `None` if nobody reads the pipe any more.
    async fn collect_while<T>(&mut self, event: impl Future<Output = T>) -> Option<T> {
        tokio::pin!(event);
        loop {
            tokio::select! {
                biased;
                done = &mut event => return Some(done),
                () = self.due.as_mut(), if !self.block.is_empty() => self.hand_over().await?,
            }
        }
    }

    /// Hands over what was collected, if anything. Returns `None` if nobody reads the pipe any more.
    async fn hand_over(&mut self) -> Option<()> {
        if !self.block.is_empty() {
            let mut next = self.blocks.take(BLOCK);
            next.clear();
            let block = self.blocks.give(std::mem::replace(&mut self.block, next));
            self.to.send(block).await.ok()?;
        }
        Some(())
    }
}

async fn send_contents(connection: Connection, mut from: mpsc::Receiver<Bytes>) {
    let mut next = from.recv().await;
    // Earlier streams have priority over later ones, as the peer reads them one after the other. The stream of the
    // messages has the priority zero, before all of these.
    for priority in 1.. {
        let Some(mut block) = next.take() else { return };
        let Ok(mut stream) = connection.open_uni().await else { return };
        let _ = stream.set_priority(-priority);
        let mut room = STREAM;
        loop {
            let part = block.split_to(room.min(block.len()));
            room -= part.len();
            if stream.write_chunk(part).await.is_err() {
                return;
            }
            if room == 0 {
                break;
            }
            match from.recv().await {
                Some(more) => block = more,
                None => break,
            }
        }
        let _ = stream.finish();
        next = if block.is_empty() { from.recv().await } else { Some(block) };
    }
}

async fn send(mut stream: SendStream, mut from: mpsc::Receiver<Bytes>) {
    while let Some(block) = from.recv().await {
        if stream.write_chunk(block).await.is_err() {
            return;
        }
    }
    if stream.finish().is_ok() {
        let _ = stream.stopped().await;
    }
}
