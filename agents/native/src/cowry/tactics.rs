//! Effects of a move on both sides: hits, threats and dangers.

use arena_engine::ActionId;
use arena_games::{Cowry, cowry::State};

use crate::bot::Decision;

/// Distance in squares at which a piece behind is dangerous: throws of 1, 2 and 3 are the
/// most frequent.
const REACH: u8 = 3;

/// A legal move and its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) action: ActionId,
    pub(super) piece: u8,
    pub(super) value: u8,
    /// Path indices before and after.
    pub(super) from: u8,
    pub(super) to: u8,
    /// Opponent pieces sent back.
    pub(super) hits: u8,
}

/// The position as the seat to move sees it. All indices are on its own path.
pub(super) struct MoveTable<'a> {
    game: &'a Cowry,
    state: &'a State,
    seat: usize,
}

impl<'a> MoveTable<'a> {
    pub(super) fn new(decision: &Decision<'a, Cowry>) -> Self {
        Self {
            game: decision.game,
            state: decision.state,
            seat: usize::from(decision.seat),
        }
    }

    /// Replaces `out` by the legal moves, in their order.
    pub(super) fn list(&self, legal: &[ActionId], out: &mut Vec<Candidate>) {
        out.clear();
        out.extend(legal.iter().filter_map(|&action| {
            let step = self.game.parse(action)?;
            let landing = self.game.landing(self.state, action)?;
            Some(Candidate {
                action,
                piece: step.piece as u8,
                value: step.value,
                from: landing.from,
                to: landing.to,
                hits: landing.hits,
            })
        }));
    }

    pub(super) fn goal(&self) -> u8 {
        self.game.goal()
    }

    pub(super) fn is_safe(&self, index: u8) -> bool {
        self.game.is_safe(index)
    }

    /// True if the square is not safe and an opponent is 1 to 3 squares behind it on its
    /// own path, ignoring gates and blocks.
    pub(super) fn is_in_danger(&self, index: u8) -> bool {
        self.is_attacked(index, false)
    }

    /// [`Self::is_in_danger`] for the destination after the move: pieces that it hits are
    /// on their start squares.
    pub(super) fn enters_danger(&self, step: &Candidate) -> bool {
        self.is_attacked(step.to, step.hits > 0)
    }

    fn is_attacked(&self, index: u8, hit_there: bool) -> bool {
        !self.is_safe(index)
            && self.opponents().any(|other| {
                let there = self.game.cross(self.seat, other, index);
                self.pieces(other).iter().any(|&piece| {
                    let is_hit = hit_there && piece == there;
                    let piece = if is_hit { 0 } else { piece };
                    (1..=REACH).contains(&there.wrapping_sub(piece))
                })
            })
    }

    /// Number of opponents on unsafe squares, 1 to 3 squares ahead of the destination.
    pub(super) fn threat(&self, step: &Candidate) -> usize {
        self.opponents()
            .flat_map(|other| self.pieces(other).iter().map(move |&piece| (other, piece)))
            .filter(|&(other, piece)| {
                let here = self.game.cross(other, self.seat, piece);
                (1..=REACH).contains(&here.wrapping_sub(step.to)) && !self.is_safe(here)
            })
            .count()
    }

    /// Sum of the path indices that the hit pieces lose.
    pub(super) fn progress_lost(&self, step: &Candidate) -> u32 {
        self.opponents()
            .map(|other| {
                let there = self.game.cross(self.seat, other, step.to);
                let hit = self.pieces(other).iter().filter(|&&piece| piece == there);
                hit.count() as u32 * u32::from(there)
            })
            .sum()
    }

    fn opponents(&self) -> impl Iterator<Item = usize> + use<> {
        let seat = self.seat;
        (0..arena_engine::Game::seats(self.game)).filter(move |&other| other != seat)
    }

    fn pieces(&self, seat: usize) -> &[u8] {
        &self.state.pieces[seat][..self.game.pieces()]
    }
}
