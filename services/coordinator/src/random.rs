//! Random numbers from the operating system.

use arena_store::{Collection, Store};

use crate::error::Error;

/// Unpredictable bytes.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Random(error.to_string()))?;
    Ok(bytes)
}

/// A key that the store keeps, drawn at its first use.
pub(crate) fn stored_key(store: &dyn Store, document: &str) -> Result<[u8; 32], Error> {
    let stored = store.get(Collection::Meta, document)?;
    if let Some(key) = stored.and_then(|key| key.try_into().ok()) {
        return Ok(key);
    }
    let key = bytes()?;
    if let Err(error) = store.put(Collection::Meta, document, &key) {
        // A full disk must not keep users from reading. The next start draws another key.
        tracing::warn!(document, %error, "cannot store a key");
    }
    Ok(key)
}

#[cfg(test)]
mod tests {
    use arena_store::MemoryStore;

    use super::*;

    #[test]
    fn stored_keys_survive_restart() {
        let store = MemoryStore::new().expect("a store");
        let key = |document| stored_key(&store, document).expect("a key");
        let (tickets, audits) = (key("tickets"), key("audit_key"));
        assert_eq!((key("tickets"), key("audit_key")), (tickets, audits));
        assert_ne!(tickets, audits);
    }
}
