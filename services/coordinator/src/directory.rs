//! The tournaments, for reading without a request to the core.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use crate::info::Info;

/// The fixed properties of all tournaments.
#[derive(Default)]
pub(crate) struct Directory(RwLock<HashMap<String, Arc<Info>>>);

impl Directory {
    /// Finds a tournament.
    pub(crate) fn find(&self, tournament: &str) -> Option<Arc<Info>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.get(tournament).cloned()
    }

    /// Removes a tournament.
    pub(crate) fn remove(&self, tournament: &str) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.remove(tournament);
    }

    /// Adds a tournament.
    pub(crate) fn add(&self, info: &Arc<Info>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(info.id.to_string(), Arc::clone(info));
    }
}
