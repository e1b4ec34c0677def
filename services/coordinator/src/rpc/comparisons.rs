//! Comparisons of many agents and standings of earlier generations, which take long to compute, are kept
//! until others have been asked for more recently.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use arena_tournament::{Comparison, Evidence};
use arena_wire::v1;

/// Number of agents from which a comparison is kept.
const AGENTS_MIN: usize = 32;
/// Maximum number of comparisons, and of standings of earlier generations, that are kept.
const KEPT_MAX: usize = 4;

/// What a comparison is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Of {
    pub(super) tournament: String,
    pub(super) generation: u32,
    /// The state of its results.
    pub(super) changes: u64,
    pub(super) pairs: bool,
    pub(super) anchor: Option<usize>,
}

/// Standings of an earlier generation, with the evidence that compares agents.
pub(super) type Earlier = (v1::Standings, Arc<Evidence>);

/// The last ones that were asked for.
#[derive(Default)]
pub(crate) struct Comparisons {
    kept: Mutex<Recent<Of, Arc<Comparison>>>,
    /// By tournament and generation. All games are read for them: for one at a time.
    pub(super) earlier: tokio::sync::Mutex<Recent<(String, u32), Earlier>>,
}

impl Comparisons {
    /// The comparison of so many agents, computed unless it is kept.
    pub(super) fn get(
        &self,
        of: Of,
        agents: usize,
        compute: impl FnOnce() -> Comparison,
    ) -> Arc<Comparison> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(comparison) = kept().find(&of) {
            return comparison;
        }
        let comparison = Arc::new(compute());
        if agents >= AGENTS_MIN {
            kept().keep(of, Arc::clone(&comparison));
        }
        comparison
    }
}

/// A few values by key; the one that was asked for least recently goes first.
pub(super) struct Recent<K, V>(VecDeque<(K, V)>);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<K: PartialEq, V: Clone> Recent<K, V> {
    pub(super) fn find(&mut self, key: &K) -> Option<V> {
        let place = self.0.iter().position(|(known, _)| known == key)?;
        let entry = self.0.remove(place)?;
        let value = entry.1.clone();
        self.0.push_back(entry);
        Some(value)
    }

    pub(super) fn keep(&mut self, key: K, value: V) {
        self.0.retain(|(known, _)| *known != key);
        if self.0.len() >= KEPT_MAX {
            self.0.pop_front();
        }
        self.0.push_back((key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_of_many_agents_is_computed_once() {
        let comparisons = Comparisons::default();
        let of = |tournament: &str, changes| Of {
            tournament: tournament.to_owned(),
            generation: 1,
            changes,
            pairs: false,
            anchor: None,
        };
        for (agents, computed_of_four) in [(AGENTS_MIN, 2), (AGENTS_MIN - 1, 4)] {
            let name = agents.to_string();
            let mut computed = 0;
            for changes in [1, 1, 2, 1] {
                let _ = comparisons.get(of(&name, changes), agents, || {
                    computed += 1;
                    Comparison::default()
                });
            }
            assert_eq!(computed, computed_of_four);
        }
    }

    #[test]
    fn least_recently_requested_value_goes_first() {
        let mut recent = Recent::default();
        (0..KEPT_MAX).for_each(|key| recent.keep(key, key));
        assert_eq!(recent.find(&0), Some(0));
        recent.keep(KEPT_MAX, KEPT_MAX);
        assert_eq!(recent.find(&1), None);
        recent.keep(0, 7);
        assert_eq!(recent.find(&0), Some(7));
        assert_eq!(recent.0.len(), KEPT_MAX);
    }
}
