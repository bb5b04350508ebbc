//! The tasks that carry bytes between pipes and QUIC streams.

use crate::pipe::{BLOCK, Reader, Writer, channel};
use bytes::{Bytes, BytesMut};
use quinn::{Connection, RecvStream, SendStream};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How long a task collects what arrives before it hands it to the thread: a thread that is woken for each packet would
/// spend most of its time on waking up.
const COLLECT: Duration = Duration::from_millis(1);
/// QUIC stream frames that are taken from a stream at a time, at most.
const FRAMES: usize = 64;
/// Bytes of contents on one stream; the next ones follow on the next stream. quinn closes a connection when one of its
/// streams has more than 1024 gaps (so that a peer cannot fill memory with tiny fragments), and a fast path with many
/// losses can leave that many in a large window. This number of bytes fits into fewer than 1024 packets.
const STREAM: usize = 1 << 20;

/// Reads from one stream. The end of the stream and the end of the connection look the same to the reader: the messages
/// say when everything was sent.
pub(crate) fn reader(stream: RecvStream) -> Reader {
    let (to, blocks) = channel();
    tokio::spawn(async move { receive(stream, &to).await });
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
    tokio::spawn(async move {
        // A stream that ends before it is full is the last one.
        while let Ok(stream) = connection.accept_uni().await
            && receive(stream, &to).await == Some(STREAM)
        {}
    });
    Reader::new(blocks)
}

/// Writes to unidirectional streams of [`STREAM`] bytes each, one after the other.
pub(crate) fn contents_writer(connection: Connection) -> Writer {
    let (blocks, from) = channel();
    tokio::spawn(send_contents(connection, from));
    Writer::new(blocks)
}

/// Carries a stream to its end and returns its length in bytes; `None` if the stream broke off or nobody reads the pipe
/// any more.
async fn receive(mut stream: RecvStream, to: &mpsc::Sender<Bytes>) -> Option<usize> {
    let mut length = 0;
    let mut frames = [const { Bytes::new() }; FRAMES];
    loop {
        let count = match stream.read_chunks(&mut frames).await {
            Ok(Some(count)) => count,
            end => return end.ok().map(|_| length),
        };
        let mut block = BytesMut::with_capacity(BLOCK);
        frames[..count].iter().for_each(|frame| block.extend_from_slice(frame));
        tokio::time::sleep(COLLECT).await;
        while block.len() < BLOCK {
            // Only what has arrived already.
            let more = tokio::select! {
                biased;
                more = stream.read_chunks(&mut frames) => more,
                () = std::future::ready(()) => break,
            };
            let Ok(Some(count)) = more else { break };
            frames[..count].iter().for_each(|frame| block.extend_from_slice(frame));
        }
        length += block.len();
        to.send(block.freeze()).await.ok()?;
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
