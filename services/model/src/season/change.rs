//! A change of an agent of an open ladder.

use serde::{Deserialize, Serialize};

use crate::name::AgentName;

/// A change of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentChange {
    /// It applies when the first stage is drawn before which at least so many blocks were scheduled.
    pub at_blocks: u64,
    /// Index of the entry.
    pub entry: u16,
    /// What happens.
    pub kind: ChangeKind,
    /// The registered agent or bot of a new entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
}

/// What happens to an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// It is new, and plays.
    Add,
    /// It is new, and plays instead of this entry.
    Replace(u16),
    /// It gets no more games until it returns.
    Bench,
    /// It plays again.
    Return,
    /// It gets no more games, for this reason.
    Ban(String),
}

/// Whether an entry gets games.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EntryState {
    /// It will be added by a change that does not apply yet.
    #[default]
    Waiting,
    /// It gets games.
    Active,
    /// It gets no games.
    Benched,
    /// This entry plays instead.
    Replaced(u16),
    /// It gets no games, for this reason.
    Banned(String),
}

impl EntryState {
    /// The name of the state.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Active => "active",
            Self::Benched => "benched",
            Self::Replaced(_) => "replaced",
            Self::Banned(_) => "banned",
        }
    }
}

impl AgentChange {
    /// True if the entry is new.
    #[must_use]
    pub fn adds(&self) -> bool {
        matches!(self.kind, ChangeKind::Add | ChangeKind::Replace(_))
    }

    /// Applies the change to the states of all entries.
    pub fn apply(&self, states: &mut [EntryState]) {
        let entry = usize::from(self.entry);
        if let ChangeKind::Replace(old) = self.kind
            && let Some(state) = states.get_mut(usize::from(old))
        {
            *state = EntryState::Replaced(self.entry);
        }
        let Some(state) = states.get_mut(entry) else {
            return;
        };
        *state = match &self.kind {
            ChangeKind::Add | ChangeKind::Replace(_) | ChangeKind::Return => EntryState::Active,
            ChangeKind::Bench => EntryState::Benched,
            ChangeKind::Ban(reason) => EntryState::Banned(reason.clone()),
        };
    }
}
