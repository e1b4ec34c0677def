//! Stages of a schedule, and the groups that they list.

use std::sync::Arc;

use super::groups::Groups;

/// Stages one after the other with the same groups.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    pub(super) first: u64,
    pub(super) blocks: u64,
    pub(super) meetings: Meetings,
}

#[derive(Clone, Debug)]
pub(super) enum Meetings {
    /// All groups, by their numbers.
    All,
    Listed(Arc<[Meeting]>),
}

/// A group of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    pub(super) group: u64,
    /// Its place in the list of its stage.
    pub(super) place: u64,
    /// Blocks that the group had before the segment.
    pub(super) before: u64,
    /// Its order in every block, where it is always the same.
    pub(super) seated: Option<u64>,
}

impl Meetings {
    /// How many groups are listed.
    pub(super) fn len(&self, groups: &Groups) -> u64 {
        match self {
            Self::All => groups.count(),
            Self::Listed(meetings) => meetings.len() as u64,
        }
    }

    /// Whether the other list goes on where this one is after so many rounds: the same
    /// groups at the same places, with as many blocks before them as rounds count. A
    /// group that a list has twice has more.
    pub(super) fn go_on(&self, other: &Self, rounds: u64) -> bool {
        match (self, other) {
            (Self::All, Self::All) => true,
            (Self::Listed(these), Self::Listed(those)) => {
                let key = |meeting: &Meeting| (meeting.group, meeting.seated, meeting.before);
                let after = these.iter().map(|meeting| Meeting {
                    before: meeting.before + rounds,
                    ..*meeting
                });
                after.map(|meeting| key(&meeting)).eq(those.iter().map(key))
            }
            (Self::All, Self::Listed(_)) | (Self::Listed(_), Self::All) => false,
        }
    }
}
