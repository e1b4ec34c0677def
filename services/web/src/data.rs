//! Values that are computed once for all readers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::answer::Outcome;

/// Maximum number of tournaments that are remembered; the one read longest ago is forgotten.
const KEPT_MAX: usize = 64;

/// A value that is computed again after a time, by one reader for all: the others wait for it.
pub(crate) struct Shared<T>(tokio::sync::Mutex<Option<Timed<T>>>);

struct Timed<T> {
    value: T,
    until: Instant,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(tokio::sync::Mutex::new(None))
    }
}

impl<T: Clone> Shared<T> {
    /// The value, computed from the value before if that is too old. The computation says for how
    /// long its value is new.
    pub(crate) async fn get<F>(&self, compute: impl FnOnce(Option<T>) -> F) -> Outcome<T>
    where
        F: Future<Output = Outcome<(T, Duration)>>,
    {
        let mut slot = self.0.lock().await;
        if let Some(known) = &*slot
            && Instant::now() < known.until
        {
            return Ok(known.value.clone());
        }
        let before = slot.as_ref().map(|known| known.value.clone());
        let (value, duration) = compute(before).await?;
        *slot = Some(Timed {
            value: value.clone(),
            until: Instant::now() + duration,
        });
        Ok(value)
    }
}

/// Values by id, for the ids that were read last.
pub(crate) struct Kept<T>(Mutex<BTreeMap<String, (Instant, Arc<T>)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Default> Kept<T> {
    /// The value of an id, which is made if it is new.
    pub(crate) fn of(&self, id: &str) -> Arc<T> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.contains_key(id) && kept.len() >= KEPT_MAX {
            let oldest = kept.iter().min_by_key(|(_, (used, _))| *used);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.map(|id| kept.remove(&id));
        }
        let (used, value) = kept
            .entry(id.to_owned())
            .or_insert_with(|| (Instant::now(), Arc::default()));
        *used = Instant::now();
        Arc::clone(value)
    }

    /// Forgets an id that does not exist.
    pub(crate) fn forget(&self, id: &str) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn thousand_readers_cost_one_computation() {
        let (shared, computed) = (Arc::new(Shared::default()), Arc::new(AtomicU32::new(0)));
        let readers = (0..1000).map(|_| {
            let (shared, computed) = (Arc::clone(&shared), Arc::clone(&computed));
            tokio::spawn(async move {
                let compute = async |_| {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    let count = computed.fetch_add(1, Ordering::Relaxed) + 1;
                    Ok((count, Duration::from_secs(60)))
                };
                shared.get(compute).await.expect("a value")
            })
        });
        for reader in readers.collect::<Vec<_>>() {
            assert_eq!(reader.await.expect("it ends"), 1);
        }
        assert_eq!(computed.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn oldest_id_is_forgotten() {
        let kept = Kept::<u8>::default();
        let first = kept.of("first");
        for number in 0..KEPT_MAX - 1 {
            let _ = kept.of(&number.to_string());
        }
        assert!(Arc::ptr_eq(&first, &kept.of("first")), "it was read last");
        let _ = kept.of("more");
        assert!(Arc::ptr_eq(&first, &kept.of("first")), "another is older");
        assert_eq!(kept.0.lock().expect("no panic").len(), KEPT_MAX);
    }
}
