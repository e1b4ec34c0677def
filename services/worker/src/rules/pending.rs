//! Questions of games that are played at once, asked together.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, OnceLock},
};

use super::{RulesFailure, cache::Key, known::Known};
use crate::lock;

/// A node, or the reason why there is none.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Known(Arc<Known>),
    Failed(RulesFailure),
    Pending(Arc<Pending>),
}

/// A question for the node after an event.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) key: Key,
    pub(super) before: Arc<Known>,
    /// As the rules know it.
    pub(super) event: u32,
    /// Its answer, once it was asked.
    pub(super) place: OnceLock<Place>,
}

/// The questions of one thread.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<Questions>);

#[derive(Debug, Default)]
struct Questions {
    all: Vec<Arc<Pending>>,
    /// Games that share an opening ask the same.
    places: HashMap<Key, usize>,
}

impl Queue {
    /// Adds a question, or finds the same one.
    pub(super) fn add(&self, key: Key, before: &Arc<Known>, event: u32) -> Arc<Pending> {
        let mut questions = lock(&self.0);
        if let Some(&place) = questions.places.get(&key) {
            return questions.all[place].clone();
        }
        let place = questions.all.len();
        questions.places.insert(key, place);
        let question = Arc::new(Pending {
            key,
            before: before.clone(),
            event,
            place: OnceLock::new(),
        });
        questions.all.push(question.clone());
        question
    }

    /// Takes all questions, in their order.
    pub(super) fn take(&self) -> Vec<Arc<Pending>> {
        mem::take(&mut *lock(&self.0)).all
    }
}
