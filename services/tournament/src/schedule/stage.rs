//! A stage as a format requests it.

/// Groups that meet, each in the same number of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    pub(super) who: Who,
    pub(super) blocks: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Every possible group.
    All,
    /// These groups, by their agents.
    Groups(Vec<Vec<u16>>),
    /// These groups, seated in this order in each block.
    Seated(Vec<Vec<u16>>),
}

impl Stage {
    /// Every group meets in this number of blocks.
    #[must_use]
    pub fn all(blocks: u64) -> Self {
        Self {
            who: Who::All,
            blocks,
        }
    }

    /// These groups meet in this number of blocks each.
    #[must_use]
    pub fn of(groups: Vec<Vec<u16>>, blocks: u64) -> Self {
        Self {
            who: Who::Groups(groups),
            blocks,
        }
    }

    /// These groups meet in this number of blocks each, always in the given order.
    #[must_use]
    pub fn seated(groups: Vec<Vec<u16>>, blocks: u64) -> Self {
        Self {
            who: Who::Seated(groups),
            blocks,
        }
    }
}
