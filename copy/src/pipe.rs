//! QUIC streams as blocking ones. Files are read and written by threads, which must not hold up the tasks that drive the
//! connection; between them are a few blocks.

use bytes::{Buf, Bytes, BytesMut};
use quinn::{Connection, RecvStream, SendStream};
use std::io::{self, Read, Write};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Bytes that are handed over at a time, at most.
pub(crate) const BLOCK: usize = 256 << 10;
/// Blocks that wait.
const WAITING: usize = 4;
/// What arrives within this time is handed over together: a thread that is woken for each packet does little else.
const TOGETHER: Duration = Duration::from_millis(1);
/// Frames taken from a stream at a time.
const FRAMES: usize = 64;
/// Contents are divided among streams of so many bytes, which follow one after the other. quinn gives up a connection when one of its streams has more than
/// 1024 gaps (so that nobody fills memory with tiny fragments), and that is no more than a fast path with many losses leaves in a large window. So
/// many bytes are fewer packets.
const STREAM: usize = 1 << 20;

/// What comes.
pub(crate) struct In {
    blocks: mpsc::Receiver<Bytes>,
    block: Bytes,
}

/// What goes.
pub(crate) struct Out {
    blocks: mpsc::Sender<Bytes>,
    buffer: BytesMut,
}

impl In {
    /// Reads from `stream`, once it is there. The end of the stream and that of the connection are the same here: messages say
    /// when all was said.
    pub(crate) fn new(stream: impl Future<Output = Option<RecvStream>> + Send + 'static) -> In {
        let (to, blocks) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            if let Some(stream) = stream.await {
                receive(stream, &to).await;
            }
        });
        In { blocks, block: Bytes::new() }
    }

    /// Reads what the peer gives to [`Out::over`].
    pub(crate) fn over(connection: Connection) -> In {
        let (to, blocks) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            // One that ends before it is full is the last.
            while let Ok(stream) = connection.accept_uni().await
                && receive(stream, &to).await == Some(STREAM)
            {}
        });
        In { blocks, block: Bytes::new() }
    }

    /// Whether reading would wait.
    pub(crate) fn is_idle(&self) -> bool {
        self.block.is_empty() && self.blocks.is_empty()
    }

    /// The next bytes, at least one and at most `most`.
    pub(crate) fn take(&mut self, most: usize) -> io::Result<Bytes> {
        while self.block.is_empty() {
            self.block = self.blocks.blocking_recv().ok_or(io::ErrorKind::UnexpectedEof)?;
        }
        Ok(self.block.split_to(most.min(self.block.len())))
    }
}

impl Read for In {
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

impl Out {
    /// Writes to `stream`, and finishes it when this is dropped. The task ends when the peer has all of it.
    pub(crate) fn new(stream: SendStream) -> (Out, JoinHandle<()>) {
        let (blocks, from) = mpsc::channel(WAITING);
        (Out { blocks, buffer: BytesMut::new() }, tokio::spawn(send(stream, from)))
    }

    /// Writes to streams of its own, of [`STREAM`] bytes each.
    pub(crate) fn over(connection: Connection) -> Out {
        let (blocks, from) = mpsc::channel(WAITING);
        tokio::spawn(send_over(connection, from));
        Out { blocks, buffer: BytesMut::new() }
    }

    /// Writes a block, without a copy if it is long.
    pub(crate) fn give(&mut self, block: Bytes) -> io::Result<()> {
        if block.len() < BLOCK / 4 {
            return self.write_all(&block);
        }
        self.flush()?;
        self.hand_over(block)
    }

    fn hand_over(&mut self, block: Bytes) -> io::Result<()> {
        self.blocks.blocking_send(block).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BLOCK / 4 {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let block = self.buffer.split().freeze();
        self.hand_over(block)
    }
}

/// Until the stream has come to its end, and how long it was; or nobody wants to know.
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
        tokio::time::sleep(TOGETHER).await;
        while block.len() < BLOCK {
            // What is there already, and no more.
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

async fn send_over(connection: Connection, mut from: mpsc::Receiver<Bytes>) {
    let mut next = from.recv().await;
    // Earlier streams go first: they are read one after the other. So goes the other stream, with what the two ends tell each other.
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
