//! Both players' pieces on the board of 5 as bit sets, for searches that play one throw
//! after another.
//!
//! Extra throws are omitted, and a piece that a double blocks cannot move, whatever the
//! options specify for its turn. Everything else is as in the game; a test checks that both
//! have the same moves.

use arena_games::cowry::{Cowry, PIECES_MAX, State};

use super::heuristic::{GOAL, Landing, OUTER};

const RING: u32 = (1 << OUTER) - 1;

/// Properties of the squares by path index, as bit sets derived from the options; safety is
/// the same for both players.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    pieces: usize,
    safe: u32,
    /// Squares on which pieces can be hit.
    hittable: u32,
    /// Squares on which two own pieces are not allowed.
    singles_only: u32,
    /// Squares on which two pieces form a double.
    doubling: u32,
    /// Squares on which a double stops pieces from passing.
    blocking: u32,
    gate: bool,
    block_forever: bool,
}

impl Ground {
    pub(super) fn new(game: &Cowry) -> Self {
        let bits = |holds: &dyn Fn(u8) -> bool| {
            let indexes = (0..=GOAL).filter(|&index| holds(index));
            indexes.fold(0u32, |bits, index| bits | 1 << index)
        };
        let safe = bits(&|index| game.is_safe(index));
        let doubles = game.has_doubles();
        let doubling = if doubles { RING } else { 0 };
        Self {
            pieces: game.pieces(),
            safe,
            hittable: bits(&|index| game.hits_at(index)),
            singles_only: if doubles { 0 } else { !safe },
            doubling,
            blocking: match game.blocks_on_safe() {
                true => doubling,
                false => doubling & !safe,
            },
            gate: game.has_gate(),
            block_forever: game.blocks_once_for_all(),
        }
    }

    /// Number of pieces of each player.
    #[inline]
    pub(super) fn pieces(&self) -> usize {
        self.pieces
    }
}

/// One player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) pieces: [u8; PIECES_MAX],
    /// Squares with a piece.
    pub(super) occupied: u32,
    /// Squares of the outer ring with two or more pieces, if that forms a double.
    doubled: u32,
    /// Pieces that may pass doubles.
    may_pass: u16,
    /// True if the player has hit, if there is a gate.
    may_enter: bool,
}

impl Side {
    fn read(ground: &Ground, state: &State, seat: usize) -> Self {
        let mut side = Self {
            pieces: state.pieces[seat],
            occupied: 0,
            doubled: 0,
            may_pass: state.may_pass[seat],
            may_enter: !ground.gate || state.has_hit(seat),
        };
        if usize::from(state.to_move) == seat {
            // A double that blocks in this turn lets the piece pass in the next.
            side.may_pass |= state.blocked_now;
        }
        side.survey(ground);
        side
    }

    #[inline]
    fn survey(&mut self, ground: &Ground) {
        let (mut once, mut twice) = (0u32, 0u32);
        for &piece in &self.pieces[..ground.pieces] {
            let bit = 1 << piece;
            twice |= once & bit;
            once |= bit;
        }
        self.occupied = once;
        self.doubled = twice & ground.doubling;
    }

    /// Number of pieces not at home.
    #[inline]
    pub(super) fn left(&self, ground: &Ground) -> u8 {
        let own = self.pieces[..ground.pieces].iter();
        own.filter(|&&piece| piece < GOAL).count() as u8
    }
}

/// Converts one player's squares to the other's path indices: the paths are the same,
/// rotated by half of each ring.
#[inline]
pub(super) fn across(bits: u32) -> u32 {
    let outer = (bits as u16).rotate_left(8);
    let inner = ((bits >> 16) as u8).rotate_left(4);
    u32::from(outer) | u32::from(inner) << 16 | bits & 1 << GOAL
}

/// Both players, the one to move first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) own: Side,
    pub(super) other: Side,
}

/// The position as the player to move sees it, sufficient to evaluate its moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoardView {
    own: u32,
    /// Opponents by their own path indices.
    others: u32,
    /// Squares on which a move would hit, by the mover's path indices.
    targets: u32,
    /// Squares that no piece may enter alone.
    closed: u32,
    /// Doubles that stop pieces from passing.
    blocks: u32,
    may_pass: u16,
    /// Last index of the outer ring that a piece may enter.
    outer_limit: u8,
}

impl Position {
    /// The position of a two-player game, from the view of a seat.
    pub(super) fn read(ground: &Ground, state: &State, seat: usize) -> Self {
        Self {
            own: Side::read(ground, state, seat),
            other: Side::read(ground, state, 1 - seat),
        }
    }

    /// The same position with the other player to move.
    #[inline]
    pub(super) fn turned(self) -> Self {
        Self {
            own: self.other,
            other: self.own,
        }
    }

    #[inline]
    pub(super) fn view(&self, ground: &Ground) -> BoardView {
        let doubles = across(self.other.doubled);
        BoardView {
            own: self.own.occupied,
            others: self.other.occupied,
            targets: across(self.other.occupied) & ground.hittable,
            closed: self.own.occupied & ground.singles_only | doubles & !ground.safe,
            blocks: doubles & ground.blocking,
            may_pass: self.own.may_pass,
            outer_limit: if self.own.may_enter { GOAL } else { OUTER - 1 },
        }
    }

    /// Moves a piece of the player to move, alone or with a partner, to a path index, and
    /// sends the opponents there back.
    #[inline]
    pub(super) fn make(&mut self, ground: &Ground, crew: u16, to: u8) {
        for (piece, index) in self.own.pieces[..ground.pieces].iter_mut().enumerate() {
            if crew >> piece & 1 == 1 {
                *index = to;
            }
        }
        if !ground.block_forever {
            self.own.may_pass &= !crew;
        }
        self.own.survey(ground);
        let here = across(1 << to) & self.other.occupied;
        if here == 0 || ground.hittable >> to & 1 == 0 {
            return;
        }
        self.own.may_enter = true;
        for (piece, index) in self.other.pieces[..ground.pieces].iter_mut().enumerate() {
            if here >> *index & 1 == 1 {
                *index = 0;
                if !ground.block_forever {
                    self.other.may_pass &= !(1 << piece);
                }
            }
        }
        self.other.survey(ground);
    }

    /// The piece that moves together with this one in the game: the next on the same
    /// square.
    pub(super) fn partner(&self, ground: &Ground, piece: usize) -> Option<usize> {
        let own = &self.own.pieces[..ground.pieces];
        (piece + 1..own.len()).find(|&other| own[other] == own[piece])
    }
}

impl BoardView {
    /// True if a piece can make this step alone.
    #[inline]
    pub(super) fn allows(&self, piece: usize, from: u8, to: u8) -> bool {
        let limit = if from < OUTER { self.outer_limit } else { GOAL };
        if to > limit || self.closed >> to & 1 == 1 {
            return false;
        }
        let passed = ((1 << to) - 1) & !((2 << from) - 1);
        self.blocks & passed == 0 || self.may_pass >> piece & 1 == 1
    }

    /// The landing at this index; `together` is true if a second piece moves along and
    /// forms a double by itself.
    #[inline]
    pub(super) fn landing(&self, to: u8, together: bool) -> Landing {
        Landing {
            to,
            hits: self.targets >> to & 1 == 1,
            doubles: to < OUTER && (together || self.own >> to & 1 == 1),
            distance: Landing::distance(to, self.others),
        }
    }
}
