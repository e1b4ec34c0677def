//! Binaries of registered agents: fetched from the coordinator, verified, and kept by their hash.

use std::{
    collections::BTreeMap,
    fs::{self, File, Metadata, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::PoisonError,
    time::Duration,
};

use arena_access::{Connection, Credentials, retry_delay};
use arena_model::Package;
use arena_wire::{
    limits::BINARY_BYTES_MAX,
    v1::{self, worker_service_client::WorkerServiceClient},
};
use sha2::{Digest, Sha256};
use tokio::{sync::Mutex, time};
use tonic::{Code, Status};

use crate::{
    WorkerError,
    endpoint::endpoints,
    environment::{BinaryError, BinaryProvider, Provided},
};

/// Attempts while the coordinator cannot be reached, or names a delay.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(500);

/// Fetches binaries into a folder, each once.
#[derive(Debug)]
pub struct CoordinatorBinaries {
    channel: Connection,
    folder: PathBuf,
    /// A request with the worker's session, if it is a worker that fetches.
    request: std::sync::Mutex<v1::FetchBinaryRequest>,
    /// Verified files. Locked during a fetch.
    checked: Mutex<BTreeMap<PathBuf, Fingerprint>>,
}

impl CoordinatorBinaries {
    /// Binaries of a coordinator (`http://host:port`), kept in a folder to which no other user may
    /// write. Must be called in a runtime.
    ///
    /// # Errors
    /// [`WorkerError::Dial`].
    pub fn new(
        coordinator: &str,
        credentials: &Credentials,
        folder: &Path,
    ) -> Result<Self, WorkerError> {
        let connection = credentials.dial_lazy(&endpoints(coordinator, credentials)?);
        Ok(Self::on(connection, folder.to_owned()))
    }

    pub(crate) fn on(channel: Connection, folder: PathBuf) -> Self {
        Self {
            channel,
            request: std::sync::Mutex::default(),
            // Agents start in folders of their own.
            folder: std::path::absolute(&folder).unwrap_or(folder),
            checked: Mutex::default(),
        }
    }

    /// Sets the session of the worker that fetches.
    pub(crate) fn joined(&self, worker_id: &str, boot_epoch: u64, session: &[u8]) {
        *self.request.lock().unwrap_or_else(PoisonError::into_inner) = v1::FetchBinaryRequest {
            sha256: String::new(),
            worker_id: worker_id.to_owned(),
            boot_epoch,
            session: session.to_owned(),
        };
    }

    async fn path(&self, binary: &v1::BinarySource) -> Result<PathBuf, String> {
        let sha256 = &binary.sha256;
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err("not a SHA-256".to_owned());
        }
        let path = self.folder.join(file_name(binary));
        let mut checked = self.checked.lock().await;
        let known = checked.get(&path);
        if known.is_some() && Fingerprint::of(&path).as_ref() == known {
            return Ok(path);
        }
        // A change during the computation of the hash changes the time, and is found next time.
        let mut fingerprint = Fingerprint::of(&path);
        let kept = hash_file(&path).is_ok_and(|hash| hash == *sha256);
        if !kept {
            if known.is_some() {
                tracing::warn!(path = %path.display(), "a kept binary was changed; fetching it again");
            }
            self.fetch(sha256, &path).await?;
            fingerprint = Fingerprint::of(&path);
        }
        if let Some(fingerprint) = fingerprint {
            checked.insert(path.clone(), fingerprint);
        }
        Ok(path)
    }

    async fn fetch(&self, sha256: &str, path: &Path) -> Result<(), String> {
        let mut attempt = 1;
        loop {
            match self.try_fetch(sha256, path).await {
                Err(FetchError::Call(status)) if attempt < ATTEMPTS => {
                    let delay = match status.code() {
                        Code::Unavailable => Some(PAUSE),
                        // Too many transfers, or requests of this token.
                        _ => retry_delay(&status).map(|delay| delay.max(PAUSE)),
                    };
                    match delay {
                        Some(delay) => time::sleep(delay).await,
                        None => return Err(FetchError::Call(status).to_string()),
                    }
                    attempt += 1;
                }
                Err(FetchError::File(error)) => {
                    return Err(format!("{}: {error}", path.display()));
                }
                fetched => return fetched.map_err(|error| error.to_string()),
            }
        }
    }

    async fn try_fetch(&self, sha256: &str, path: &Path) -> Result<(), FetchError> {
        let request = v1::FetchBinaryRequest {
            sha256: sha256.to_owned(),
            ..self
                .request
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        };
        let mut chunks = WorkerServiceClient::new(self.channel.clone())
            .fetch_binary(request)
            .await?
            .into_inner();
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(".fetch-")
            .tempfile_in(&self.folder)?;
        let mut hash = Sha256::new();
        let mut left = BINARY_BYTES_MAX;
        while let Some(message) = chunks.message().await? {
            left = rest(left, &message.chunk)?;
            hash.update(&message.chunk);
            file.write_all(&message.chunk)?;
        }
        let hash = hex::encode(hash.finalize());
        if hash != sha256 {
            return Err(FetchError::Hash(hash));
        }
        file.as_file()
            .set_permissions(Permissions::from_mode(0o555))?;
        file.as_file().sync_all()?;
        // Closed before it gets its name, because a file that is open for writing cannot run.
        let written = file.into_temp_path();
        written.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

impl BinaryProvider for CoordinatorBinaries {
    fn provide<'a>(&'a self, binary: &'a v1::BinarySource) -> Provided<'a> {
        Box::pin(async move {
            let path = self.path(binary).await;
            path.map_err(|problem| BinaryError::new(binary, problem))
        })
    }
}

/// What a change of a file's content changes as well. The time of a change cannot be set, not even
/// by the owner of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint {
    place: (u64, u64),
    size: u64,
    mode: u32,
    changed: (i64, i64),
}

impl Fingerprint {
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self {
            place: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            mode: metadata.mode(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}

#[derive(Debug, thiserror::Error)]
enum FetchError {
    #[error("the coordinator answered: {}", .0.message())]
    Call(#[from] Status),
    #[error(transparent)]
    File(#[from] io::Error),
    #[error("the coordinator sends more than {BINARY_BYTES_MAX} bytes, the limit of a binary")]
    Large,
    #[error("the fetched binary has the SHA-256 {0}")]
    Hash(String),
}

/// What a binary may still have after a chunk.
fn rest(left: u64, chunk: &[u8]) -> Result<u64, FetchError> {
    let rest = left.checked_sub(chunk.len() as u64);
    rest.ok_or(FetchError::Large)
}

/// The hash and the path in the package. The original file name is not used, because it is not
/// part of the agent's content.
fn file_name(binary: &v1::BinarySource) -> String {
    let path = Package::path(&binary.file_name);
    format!("{}-{path}", binary.sha256.to_ascii_lowercase())
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex::encode(hash.finalize())),
            count => hash.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_larger_than_uploads_is_refused() {
        let left = rest(BINARY_BYTES_MAX, &[0; 1_000]).expect("the first chunk");
        assert_eq!(left, BINARY_BYTES_MAX - 1_000);
        assert!(rest(0, &[]).is_ok());
        assert!(matches!(rest(999, &[0; 1_000]), Err(FetchError::Large)));
    }
}
