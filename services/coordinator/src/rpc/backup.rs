//! A backup of the store, sent while the coordinator continues.

use std::io::{self, Write};

use arena_store::BackupReport;
use arena_wire::v1::{self, backup_store_response::Part};
use tokio::sync::mpsc;
use tonic::Status;

use crate::{error::Error, handle::Handle};

/// Bytes of a message.
const CHUNK_BYTES: usize = 256 << 10;
/// Maximum messages that wait for a slow reader.
const CHUNKS_WAITING: usize = 8;

type Message = Result<v1::BackupStoreResponse, Status>;

/// Sends everything that is durable now.
pub(super) fn send(handle: &Handle) -> mpsc::Receiver<Message> {
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING);
    let store = handle.store.clone();
    tokio::task::spawn_blocking(move || {
        let mut out = Chunks {
            sender: &sender,
            chunk: Vec::with_capacity(CHUNK_BYTES),
        };
        let last = match store.backup(&mut out) {
            Ok(Some(report)) => Ok(message(Part::Done(done(&report)))),
            Ok(None) => Err(Error::State(
                "this coordinator keeps nothing on a disk".to_owned(),
            )),
            Err(error) => Err(Error::from(error)),
        };
        // A reader that is gone needs no reason.
        let _ = sender.blocking_send(last.map_err(Status::from));
    });
    receiver
}

fn message(part: Part) -> v1::BackupStoreResponse {
    v1::BackupStoreResponse { part: Some(part) }
}

fn done(report: &BackupReport) -> v1::BackupDone {
    v1::BackupDone {
        games: report.games,
        documents: report.documents,
        binaries: report.binaries,
        bytes: report.bytes,
    }
}

/// Collects bytes into messages.
struct Chunks<'a> {
    sender: &'a mpsc::Sender<Message>,
    chunk: Vec<u8>,
}

impl Write for Chunks<'_> {
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
        let sent = self.sender.blocking_send(Ok(message(Part::Chunk(chunk))));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
