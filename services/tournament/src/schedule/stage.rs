//! What a format asks for at a time.

/// Groups that meet, each in as many blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub(super) who: Who,
    pub(super) blocks: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Every group there can be.
    All,
    /// These, by their agents.
    Groups(Vec<Vec<u16>>),
    /// These, seated in this order in each block.
    Seated(Vec<Vec<u16>>),
}

impl Stage {
    /// Every group meets in so many blocks.
    #[must_use]
    pub fn all(blocks: u64) -> Self {
        Self {
            who: Who::All,
            blocks,
        }
    }

    /// These groups meet in so many blocks each.
    #[must_use]
    pub fn of(groups: Vec<Vec<u16>>, blocks: u64) -> Self {
        Self {
            who: Who::Groups(groups),
            blocks,
        }
    }

    /// These groups meet in so many blocks each, always in the order given.
    #[must_use]
    pub fn seated(groups: Vec<Vec<u16>>, blocks: u64) -> Self {
        Self {
            who: Who::Seated(groups),
            blocks,
        }
    }
}
