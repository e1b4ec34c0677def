//! A backup of the store, sent while the coordinator continues.

use arena_wire::v1::{self, backup_store_response::Part};
use tokio::sync::mpsc;
use tonic::Status;

use super::chunks::Chunks;
use crate::{error::Error, handle::Handle};

/// Sends everything that is durable now.
pub(super) fn send(
    handle: &Handle,
) -> Result<mpsc::Receiver<Result<v1::BackupStoreResponse, Status>>, Error> {
    let message = |part| v1::BackupStoreResponse { part: Some(part) };
    let (mut out, receiver) =
        Chunks::new(handle.backup_place()?, |chunk| v1::BackupStoreResponse {
            part: Some(Part::Chunk(chunk)),
        });
    let store = handle.store.clone();
    tokio::task::spawn_blocking(move || {
        let last = match store.backup(&mut out) {
            Ok(Some(report)) => Ok(message(Part::Done(v1::BackupDone {
                games: report.games,
                documents: report.documents,
                binaries: report.binaries,
                events: report.events,
                bytes: report.bytes,
            }))),
            Ok(None) => Err(Error::State(
                "this coordinator stores nothing on disk".to_owned(),
            )),
            Err(error) => Err(Error::from(error)),
        };
        out.end(last.map_err(Status::from));
    });
    Ok(receiver)
}
