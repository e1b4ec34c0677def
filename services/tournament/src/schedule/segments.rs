//! Stages of a schedule, and their lists of groups.

use std::sync::Arc;

use super::groups::Groups;

/// Successive stages with the same groups.
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
    /// Its position in the list of its stage.
    pub(super) place: u64,
    /// Number of the group's blocks before the segment.
    pub(super) before: u64,
    /// Its order in every block, if it is fixed.
    pub(super) seated: Option<u64>,
}

impl Meetings {
    /// Number of listed groups.
    pub(super) fn len(&self, groups: &Groups) -> u64 {
        match self {
            Self::All => groups.count(),
            Self::Listed(meetings) => meetings.len() as u64,
        }
    }

    /// True if the other list continues this one after `rounds` rounds: the same groups at
    /// the same positions, with that many more earlier blocks. A group that a list has
    /// twice has more.
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
