//! Who may use a binary: everyone who has uploaded all of it. Knowing its SHA-256 is not enough,
//! because lists show it.
//!
//! A binary is needed while a registered agent or a stored tournament refers to it: the games of a
//! finished tournament can be played again. Other binaries are removed.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use arena_model::is_hidden;
use arena_store::{Change, Collection, Store, StoreError};
use arena_wire::{
    limits,
    v1::{self, Role},
};

use crate::{error::Error, principal::Principal};

/// Uploads of one owner at once.
pub(crate) const OWN_UPLOADS_MAX: u32 = 4;

/// Prefix of the documents, which name a binary and an owner.
const PREFIX: &str = "binaries/";
/// Time after an upload in which an agent can be registered.
const GRACE: Duration = Duration::from_secs(3600);

/// Suggested delay for an owner with too many uploads.
const OWN_WAIT: Duration = Duration::from_secs(2);
/// Maximum number of arguments of a program: in memory, each takes many times the bytes of its message.
const ARGS_MAX: usize = 1_000;
/// Bytes that a smaller binary counts as, because a file occupies as much.
const BYTES_MIN: u64 = 4096;

/// What the owners of binaries have uploaded, in bytes.
#[derive(Clone, Default)]
pub(crate) struct Uploads(Arc<Mutex<HashMap<String, OwnerUploads>>>);

#[derive(Default)]
struct OwnerUploads {
    stored: HashMap<[u8; 32], u64>,
    stored_bytes: u64,
    /// Bytes of open uploads.
    open_bytes: u64,
    /// Number of open uploads.
    open: u32,
}

impl OwnerUploads {
    fn add(&mut self, sha256: [u8; 32], size: u64) {
        let size = size.max(BYTES_MIN);
        let before = self.stored.insert(sha256, size);
        self.stored_bytes = self.stored_bytes - before.unwrap_or(0) + size;
    }
}

impl Uploads {
    /// Reads them from the documents of a store.
    pub(crate) fn read(documents: &[(String, Vec<u8>)], store: &dyn Store) -> Self {
        let uploads = Self::default();
        for (key, _) in documents {
            let Some((sha256, owner)) = parse(key) else {
                continue;
            };
            if let Some(size) = store.binary_size(&sha256) {
                let mut all = uploads.lock();
                all.entry(owner.to_owned()).or_default().add(sha256, size);
            }
        }
        uploads
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, OwnerUploads>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves bytes for an upload, unless that exceeds the limit of its owner.
    pub(crate) fn reserve(&self, by: &Principal, size: u64) -> Result<OpenUpload, Error> {
        let size = size.max(BYTES_MIN);
        let mut all = self.lock();
        let of = all.entry(by.owner.to_string()).or_default();
        let used = of.stored_bytes.saturating_add(of.open_bytes);
        by.check_limit(&limits::UPLOAD_BYTES, used, size)?;
        // Uploads of others need places, too.
        if by.role != Role::Admin && of.open >= OWN_UPLOADS_MAX {
            return Err(Error::Overloaded { wait: OWN_WAIT });
        }
        of.open_bytes += size;
        of.open += 1;
        drop(all);
        Ok(OpenUpload {
            uploads: self.clone(),
            by: by.clone(),
            size,
        })
    }

    /// Removes binaries that are not stored any more.
    pub(crate) fn forget(&self, removed: &[String]) {
        let mut all = self.lock();
        for sha256 in removed {
            let mut digest = [0; 32];
            if hex::decode_to_slice(sha256, &mut digest).is_err() {
                continue;
            }
            for of in all.values_mut() {
                of.stored_bytes -= of.stored.remove(&digest).unwrap_or(0);
            }
        }
        all.retain(|_, of| of.open > 0 || !of.stored.is_empty());
    }
}

/// The bytes of an open upload, free again when it is dropped.
pub(crate) struct OpenUpload {
    uploads: Uploads,
    by: Principal,
    size: u64,
}

impl OpenUpload {
    /// Keeps that its owner has uploaded a binary.
    pub(crate) fn complete(
        mut self,
        store: &dyn Store,
        sha256: [u8; 32],
    ) -> Result<(), StoreError> {
        // Administrators may use all binaries.
        if self.by.role != Role::Admin {
            store.put(Collection::Meta, &key(&sha256, &self.by), &[])?;
            // At once, so that no byte counts twice.
            if let Some(of) = self.uploads.lock().get_mut(&*self.by.owner) {
                of.open_bytes -= self.size;
                of.add(sha256, std::mem::take(&mut self.size));
            }
        }
        Ok(())
    }
}

impl Drop for OpenUpload {
    fn drop(&mut self) {
        if let Some(of) = self.uploads.lock().get_mut(&*self.by.owner) {
            of.open_bytes -= self.size;
            of.open -= 1;
        }
    }
}

/// The binary and the owner that a key names.
fn parse(key: &str) -> Option<([u8; 32], &str)> {
    let (sha256, owner) = key.strip_prefix(PREFIX)?.split_once('/')?;
    let mut digest = [0; 32];
    hex::decode_to_slice(sha256, &mut digest).ok()?;
    Some((digest, owner))
}

fn key(sha256: &[u8; 32], by: &Principal) -> String {
    format!("{PREFIX}{}/{}", hex::encode(sha256), by.owner)
}

/// True if a binary is stored and someone may use it.
pub(crate) fn may_use(store: &dyn Store, sha256: &[u8; 32], by: &Principal) -> bool {
    let has_uploaded = || {
        let found = store.get(Collection::Meta, &key(sha256, by));
        found.is_ok_and(|found| found.is_some())
    };
    store.binary_size(sha256).is_some() && (by.role == Role::Admin || has_uploaded())
}

/// Removes binaries that are not needed, and returns their names.
pub(crate) fn remove_unneeded(
    store: &dyn Store,
    needed: &HashSet<String>,
) -> Result<Vec<String>, StoreError> {
    let mut unneeded = store.old_binaries(GRACE)?;
    unneeded.retain(|sha256| !needed.contains(sha256));
    if unneeded.is_empty() {
        return Ok(unneeded);
    }
    let gone: HashSet<&str> = unneeded.iter().map(String::as_str).collect();
    let owners = store.list(Collection::Meta)?.into_iter();
    let owners = owners.filter(|(key, _)| {
        let mut parts = key.split('/');
        parts.next() == Some("binaries") && parts.next().is_some_and(|sha256| gone.contains(sha256))
    });
    // Before the files, so that no owner remains of a binary that is uploaded again.
    let changes = owners.map(|(key, _)| Change {
        collection: Collection::Meta,
        key,
        value: None,
    });
    let changes: Vec<Change> = changes.collect();
    if !changes.is_empty() {
        store.put_many(changes)?;
    }
    for sha256 in &unneeded {
        store.remove_binary(sha256)?;
    }
    Ok(unneeded)
}

/// The digest that a name of 64 lower-case hexadecimal digits stands for.
pub(crate) fn parse_sha256(text: &str) -> Result<[u8; 32], Error> {
    let mut digest = [0; 32];
    if text.bytes().any(|c| c.is_ascii_uppercase())
        || hex::decode_to_slice(text, &mut digest).is_err()
    {
        return Err(Error::BinaryInvalid(format!(
            "\"{text:.80}\" is not a SHA-256: expected 64 lower-case hexadecimal digits"
        )));
    }
    Ok(digest)
}

/// Checks a program of an agent or a ruleset.
pub(crate) fn check_binary(
    what: &str,
    name: &str,
    binary: &v1::BinarySource,
    uploaded: impl Fn(&[u8; 32]) -> bool,
) -> Result<(), Error> {
    if !uploaded(&parse_sha256(&binary.sha256)?) {
        return Err(Error::BinaryInvalid(format!(
            "binary {} of {what} \"{name}\" has not been uploaded",
            binary.sha256
        )));
    }
    if binary.args.len() > ARGS_MAX {
        return Err(Error::BinaryInvalid(format!(
            "{what} \"{name}\" has {} arguments: at most {ARGS_MAX} are allowed",
            binary.args.len()
        )));
    }
    let plain = |text: &str| !text.contains(is_hidden);
    if binary.file_name.is_empty()
        || binary.file_name.contains('/')
        || !plain(&binary.file_name)
        || !binary.args.iter().all(|arg| plain(arg))
    {
        return Err(Error::BinaryInvalid(format!(
            "{what} \"{name}\": the binary needs a plain file name, and arguments without control or \
             invisible characters"
        )));
    }
    Ok(())
}
