//! Who may use a binary: everyone who has uploaded all of it. Knowing its SHA-256 is not enough,
//! because lists show it.
//!
//! A binary is needed while a registered agent or a stored tournament refers to it: the games of a
//! finished tournament can be played again. Other binaries are removed.

use std::{collections::HashSet, time::Duration};

use arena_store::{Change, Collection, Store, StoreError};
use arena_wire::v1::Role;

use crate::door::Principal;

/// Time after an upload in which an agent can be registered.
const GRACE: Duration = Duration::from_secs(3600);

fn key(sha256: &[u8; 32], by: &Principal) -> String {
    format!("binaries/{}/{}", hex::encode(sha256), by.owner)
}

/// True if a binary is stored and someone may use it.
pub(crate) fn may_use(store: &dyn Store, sha256: &[u8; 32], by: &Principal) -> bool {
    let has_uploaded = || {
        let found = store.get(Collection::Meta, &key(sha256, by));
        found.is_ok_and(|found| found.is_some())
    };
    store.binary_path(sha256).is_some() && (by.role == Role::Admin || has_uploaded())
}

/// Keeps that someone has uploaded a binary.
pub(crate) fn uploaded(
    store: &dyn Store,
    sha256: &[u8; 32],
    by: &Principal,
) -> Result<(), StoreError> {
    match by.role {
        Role::Admin => Ok(()),
        _ => store.put(Collection::Meta, &key(sha256, by), &[]),
    }
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
