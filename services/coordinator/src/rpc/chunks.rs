//! Bytes as a stream of messages.

use std::io::{self, Write};

use tokio::{runtime::Handle, sync::mpsc, time::timeout};
use tonic::Status;

use crate::handle::CHUNK_TIMEOUT;

/// Bytes of a message.
pub(super) const CHUNK_BYTES: usize = 256 << 10;
/// Maximum messages that wait for a slow reader.
pub(super) const CHUNKS_WAITING: usize = 8;

/// Collects bytes into messages, up to a flush.
pub(super) struct Chunks<T, P> {
    sender: mpsc::Sender<Result<T, Status>>,
    chunk: Vec<u8>,
    message: fn(Vec<u8>) -> T,
    _place: P,
}

impl<T, P> Chunks<T, P> {
    /// `message` makes a message of a chunk; `place` is that of the transfer.
    pub(super) fn new(
        place: P,
        message: fn(Vec<u8>) -> T,
    ) -> (Self, mpsc::Receiver<Result<T, Status>>) {
        let (sender, receiver) = mpsc::channel(CHUNKS_WAITING);
        let chunks = Self {
            sender,
            chunk: Vec::with_capacity(CHUNK_BYTES),
            message,
            _place: place,
        };
        (chunks, receiver)
    }

    /// Sends a last message, or the reason why there is none.
    pub(super) fn end(self, last: Result<T, Status>) {
        // A reader that is gone needs no reason.
        let _ = self.send(last);
    }

    /// Waits for the reader, from a thread that may block.
    fn send(&self, message: Result<T, Status>) -> io::Result<()> {
        let sending = timeout(CHUNK_TIMEOUT, self.sender.send(message));
        match Handle::current().block_on(sending) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl<T, P> Write for Chunks<T, P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(CHUNK_BYTES - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        if self.chunk.len() == CHUNK_BYTES {
            self.flush()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK_BYTES));
        self.send(Ok((self.message)(chunk)))
    }
}
