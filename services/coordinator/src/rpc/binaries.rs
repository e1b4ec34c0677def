//! Upload and download of binaries, in chunks.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::PathBuf,
    time::Duration,
};

use arena_store::StoreError;
use arena_wire::{
    limits::{self, BINARY_BYTES_MAX},
    v1::{self, Role, upload_binary_request::Part},
};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout, timeout_at},
};
use tonic::{Status, Streaming};

use super::chunks::{CHUNK_BYTES, CHUNKS_WAITING};
use crate::{
    binaries::{may_use, parse_sha256},
    error::Error,
    handle::{CHUNK_TIMEOUT, Handle},
    messages::Caller,
    principal::Principal,
};

/// Receives a binary.
pub(super) async fn upload(
    handle: &Handle,
    mut parts: Streaming<v1::UploadBinaryRequest>,
    by: Principal,
) -> Result<v1::UploadBinaryResponse, Status> {
    let mut pace = Pace::new(&by);
    let header = match pace.next(&mut parts).await?.and_then(|it| it.part) {
        Some(Part::Header(header)) => header,
        Some(Part::Chunk(_)) | None => {
            return Err(invalid("an upload starts with its header"));
        }
    };
    by.on(&header.sha256);
    let sha256 = parse_sha256(&header.sha256)?;
    let size = header.size_bytes;
    if size == 0 || size > BINARY_BYTES_MAX {
        return Err(invalid(format!(
            "the binary has {size} bytes: must be from 1 to {BINARY_BYTES_MAX}"
        )));
    }
    let answer = |known| v1::UploadBinaryResponse {
        sha256: header.sha256.clone(),
        known,
    };
    if may_use(&*handle.store, &sha256, &by) {
        return Ok(answer(true));
    }
    let open = handle.uploads.reserve(&by, size)?;
    let _place = handle.upload_place(&by)?;
    let space = handle.with_store(move |store| Ok(store.reserve_upload(size)?));
    let space = space.await?;
    let begin = handle.with_store(move |store| Ok(store.begin_binary(sha256)?));
    let mut upload = begin.await?;
    let mut received = 0;
    while let Some(message) = pace.next(&mut parts).await? {
        let Some(Part::Chunk(chunk)) = message.part else {
            return Err(invalid("an upload has only one header"));
        };
        received += chunk.len() as u64;
        pace.received(chunk.len());
        if received > size {
            break;
        }
        // A slow sender holds no thread: only a write does.
        let write = handle.with_store(move |_| {
            let written = upload.write_all(&chunk).map(|()| upload);
            written.map_err(|error| io_error("write", "an uploaded binary", &error))
        });
        upload = write.await?;
    }
    if received != size {
        return Err(invalid(format!(
            "the header announced {size} bytes, but {received} arrived"
        )));
    }
    let complete = handle.with_store(move |store| {
        upload.commit()?;
        open.complete(store, sha256)?;
        // Its room is free before the answer.
        drop(space);
        Ok(())
    });
    complete.await?;
    tracing::info!(sha256 = header.sha256, size, "binary uploaded");
    Ok(answer(false))
}

fn io_error(action: &str, path: impl Into<PathBuf>, error: &io::Error) -> Error {
    Error::Store(StoreError::Io {
        action: action.to_owned(),
        path: path.into(),
        cause: error.to_string(),
    })
}

/// Ends an upload that takes too long for a step of its bytes: one that stands still, or drips.
struct Pace {
    limit: u64,
    /// Bytes since the last step.
    bytes: usize,
    due: Instant,
}

impl Pace {
    /// Bytes of a step.
    const STEP: usize = 1 << 20;

    fn new(by: &Principal) -> Self {
        let limit = by.upload_idle_max();
        Self {
            limit,
            bytes: 0,
            due: Self::due(limit),
        }
    }

    fn due(limit: u64) -> Instant {
        // Without a limit, the far future.
        let seconds = limit.min(30 * 365 * 86_400);
        Instant::now() + Duration::from_secs(seconds)
    }

    fn received(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes >= Self::STEP {
            (self.bytes, self.due) = (0, Self::due(self.limit));
        }
    }

    /// The next part.
    async fn next<T>(&self, parts: &mut Streaming<T>) -> Result<Option<T>, Status> {
        let part = timeout_at(self.due, parts.message()).await;
        part.unwrap_or_else(|_| {
            let error = Error::Limit {
                limit: &limits::UPLOAD_IDLE,
                maximum: self.limit,
                wait: None,
            };
            Err(error.into())
        })
    }
}

fn invalid(problem: impl Into<String>) -> Status {
    Error::BinaryInvalid(problem.into()).into()
}

/// Sends a binary.
pub(super) async fn fetch(
    handle: &Handle,
    request: v1::FetchBinaryRequest,
    by: &Principal,
) -> Result<mpsc::Receiver<Result<v1::FetchBinaryResponse, Status>>, Error> {
    let binary = parse_sha256(&request.sha256)?;
    let sha256 = request.sha256;
    if by.role == Role::Worker {
        let (caller, wanted) = (
            Caller {
                worker_id: request.worker_id,
                boot_epoch: request.boot_epoch,
                session: request.session,
            },
            sha256.clone(),
        );
        handle
            .ask(move |core| core.check_fetch(&caller, &wanted))
            .await?;
    } else if !may_use(&*handle.store, &binary, by) && by.role != Role::Admin {
        return Err(Error::NotReader { sha256 });
    }
    let path = handle.with_store(move |store| Ok(store.binary_path(&binary)));
    let path = path.await?.ok_or(Error::UnknownBinary { sha256 })?;
    let place = handle.download_place(by)?;
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING);
    let handle = handle.clone();
    tokio::spawn(async move {
        let _place = place;
        if let Err(error) = send(&handle, path, &sender).await {
            // A reader that is gone needs no reason.
            let _ = timeout(CHUNK_TIMEOUT, sender.send(Err(error.into()))).await;
        }
    });
    Ok(receiver)
}

/// Sends a file in chunks, until its reader is gone or stops reading.
async fn send(
    handle: &Handle,
    path: PathBuf,
    sender: &mpsc::Sender<Result<v1::FetchBinaryResponse, Status>>,
) -> Result<(), Error> {
    let open = path.clone();
    let file = handle
        .with_store(move |_| File::open(&open).map_err(|error| io_error("open", &open, &error)));
    let mut file = file.await?;
    loop {
        let of = path.clone();
        // A slow reader holds no thread: only reading the file does.
        let read = handle.with_store(move |_| {
            let mut chunk = Vec::with_capacity(CHUNK_BYTES);
            let read = (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
            let read = read.map(|_| (file, chunk));
            read.map_err(|error| io_error("read", &of, &error))
        });
        let (rest, chunk) = read.await?;
        file = rest;
        if chunk.is_empty() {
            return Ok(());
        }
        let sending = sender.send(Ok(v1::FetchBinaryResponse { chunk }));
        if !matches!(timeout(CHUNK_TIMEOUT, sending).await, Ok(Ok(()))) {
            return Ok(());
        }
    }
}
