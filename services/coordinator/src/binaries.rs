//! Who may use a binary: everyone who has uploaded all of it. Knowing its SHA-256 is not enough,
//! because lists show it.

use arena_store::{Collection, Store, StoreError};
use arena_wire::v1::Role;

use crate::door::Principal;

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
