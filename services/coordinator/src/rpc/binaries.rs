//! Upload and download of binaries, in chunks.

use std::{
    fs::File,
    io::{self, Write},
    time::Duration,
};

use arena_store::StoreError;
use arena_wire::v1::{self, Role, upload_binary_request::Part};
use tokio::{sync::mpsc, time::timeout};
use tonic::{Status, Streaming};

use super::chunks::Chunks;
use crate::{
    binaries::{may_use, parse_sha256},
    door::Principal,
    error::Error,
    handle::Handle,
    messages::Caller,
};

/// Maximum size of a binary, in bytes.
const BINARY_BYTES_MAX: u64 = 1 << 30;
/// Maximum received chunks that wait for the disk.
const CHUNKS_WAITING: usize = 4;

/// Receives a binary.
pub(super) async fn upload(
    handle: &Handle,
    mut parts: Streaming<v1::UploadBinaryRequest>,
    by: Principal,
) -> Result<v1::UploadBinaryResponse, Status> {
    let idle_max = handle.chunk_timeout();
    let header = match next(&mut parts, idle_max)
        .await?
        .and_then(|first| first.part)
    {
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
    let _place = handle.upload_place()?;
    let space = handle.with_store(move |store| Ok(store.reserve_upload(size)?));
    let space = space.await?;
    let (sender, mut chunks) = mpsc::channel::<Vec<u8>>(CHUNKS_WAITING);
    let (done, complete) = tokio::sync::oneshot::channel::<()>();
    let writing = tokio::spawn({
        let handle = handle.clone();
        async move {
            handle
                .with_store(move |store| {
                    let _space = space;
                    let mut upload = store.begin_binary(sha256)?;
                    while let Some(chunk) = chunks.blocking_recv() {
                        upload.write_all(&chunk).map_err(|error| StoreError::Io {
                            action: "write".to_owned(),
                            path: "an uploaded binary".into(),
                            cause: error.to_string(),
                        })?;
                    }
                    // An incomplete stream leaves nothing behind.
                    if complete.blocking_recv().is_ok() {
                        upload.commit()?;
                        open.complete(store, sha256)?;
                    }
                    Ok(())
                })
                .await
        }
    });
    let received = receive(&mut parts, size, idle_max, sender).await;
    match received {
        // The writer waits for it, or has failed and reports the reason below.
        Ok(received) if received == size => drop(done.send(())),
        _ => drop(done),
    }
    // Its room is free before the answer.
    let written = writing.await.unwrap_or(Err(Error::Draining));
    let received = received?;
    written?;
    if received != size {
        return Err(invalid(format!(
            "the header announced {size} bytes, but {received} arrived"
        )));
    }
    tracing::info!(sha256 = header.sha256, size, "binary uploaded");
    Ok(answer(false))
}

/// Passes chunks to the writer, and returns the number of received bytes.
async fn receive(
    parts: &mut Streaming<v1::UploadBinaryRequest>,
    size: u64,
    idle_max: Duration,
    sender: mpsc::Sender<Vec<u8>>,
) -> Result<u64, Status> {
    let mut received = 0;
    while let Some(message) = next(parts, idle_max).await? {
        let Some(Part::Chunk(chunk)) = message.part else {
            return Err(invalid("an upload has only one header"));
        };
        received += chunk.len() as u64;
        if received > size || sender.send(chunk).await.is_err() {
            break;
        }
    }
    Ok(received)
}

/// The next part of an upload.
async fn next<T>(parts: &mut Streaming<T>, idle_max: Duration) -> Result<Option<T>, Status> {
    let part = timeout(idle_max, parts.message()).await;
    part.unwrap_or_else(|_| Err(Status::deadline_exceeded("the upload stopped arriving")))
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
    let (mut out, receiver) = Chunks::new(place, |chunk| v1::FetchBinaryResponse { chunk });
    tokio::task::spawn_blocking(move || {
        let sent = File::open(&path).and_then(|mut file| io::copy(&mut file, &mut out));
        if let Err(error) = sent.and_then(|_| out.flush()) {
            let error = StoreError::Io {
                action: "read".to_owned(),
                path,
                cause: error.to_string(),
            };
            out.end(Err(Error::from(error).into()));
        }
    });
    Ok(receiver)
}
