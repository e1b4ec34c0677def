//! Known nodes, by state and by the event that led to them.

use std::{collections::HashMap, mem, sync::Arc};

use sha2::{Digest, Sha256};

use super::known::Known;

/// Maximum bytes of each of two generations.
const BYTES_MAX: usize = 16 << 20;

/// The digest of a state, and the event applied to it, if any, as the rules know it.
pub(super) type Key = ([u8; 32], Option<u32>);

/// A bounded cache: when the newer generation is full, the older one is dropped.
#[derive(Debug)]
pub(super) struct Cache {
    newer: HashMap<Key, Arc<Known>>,
    older: HashMap<Key, Arc<Known>>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(BYTES_MAX)
    }
}

pub(super) fn key(state: &str, event: Option<u32>) -> Key {
    (Sha256::digest(state).into(), event)
}

impl Cache {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            newer: HashMap::new(),
            older: HashMap::new(),
            bytes: 0,
            bytes_max,
        }
    }

    pub(super) fn get(&mut self, key: &Key) -> Option<Arc<Known>> {
        if let Some(known) = self.newer.get(key) {
            return Some(known.clone());
        }
        let known = self.older.remove(key)?;
        self.add(*key, known.clone());
        Some(known)
    }

    pub(super) fn add(&mut self, key: Key, known: Arc<Known>) {
        self.bytes += known.bytes();
        if self.bytes > self.bytes_max {
            self.bytes = known.bytes();
            self.older = mem::take(&mut self.newer);
        }
        self.newer.insert(key, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::over;

    #[test]
    fn cache_is_bounded_and_keeps_what_is_used() {
        let mut cache = Cache::new(16 << 10);
        let used = key("used", None);
        cache.add(used, over("used"));
        for number in 0..1000 {
            let state = number.to_string();
            cache.add(key(&state, None), over(&state));
            assert!(cache.get(&used).is_some(), "{number}");
        }
        let count = cache.newer.len() + cache.older.len();
        assert!(count < 150, "{count}");
        assert!(cache.get(&key("0", None)).is_none());
    }
}
