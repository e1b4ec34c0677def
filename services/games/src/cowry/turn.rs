//! Throws, turns and the end of the game.

use arena_engine::{Ending, OutcomeId};

use super::{
    Cowry,
    options::{Deadlock, End, ThrowMode, VALUES},
    state::{Phase, State},
};

impl Cowry {
    #[inline]
    pub(super) fn throw(&self, state: &mut State, outcome: OutcomeId) {
        state.throws += 1;
        let count = &mut state.pool[usize::from(outcome)];
        *count = count.saturating_add(1);
        if self.rules.extra_on_4_8 && VALUES[usize::from(outcome)] >= 4 {
            if self.rules.throw_mode == ThrowMode::Accumulate {
                self.await_throw(state);
                return;
            }
            state.pending_throws = state.pending_throws.saturating_add(1);
        }
        self.await_move(state);
    }

    fn await_move(&self, state: &mut State) {
        state.phase = Phase::Move;
        state.blocked_now |= self.blocked_pieces(state);
    }

    fn await_throw(&self, state: &mut State) {
        if state.throws >= self.rules.throws_max {
            end(state, Ending::Cap);
        } else {
            state.phase = Phase::Throw;
        }
    }

    #[inline]
    pub(super) fn play(&self, state: &mut State, action: u16) {
        let Some(step) = self.parse(action) else {
            // Nothing in the pool can be played: the rest is lost.
            state.pool = [0; VALUES.len()];
            self.after_pool(state);
            return;
        };
        let Some(to) = self.make(state, step) else {
            self.end_turn(state);
            return;
        };
        let seat = usize::from(state.to_move);
        if to == self.board.goal && self.is_home(state, seat) {
            self.finish_seat(state, seat);
        } else if state.pool == [0; VALUES.len()] {
            self.after_pool(state);
        } else {
            self.await_move(state);
        }
    }

    fn is_home(&self, state: &State, seat: usize) -> bool {
        let pieces = &state.pieces[seat][..self.rules.pieces];
        pieces.iter().all(|&piece| piece == self.board.goal)
    }

    fn after_pool(&self, state: &mut State) {
        if state.pending_throws > 0 {
            state.pending_throws -= 1;
            self.await_throw(state);
        } else {
            self.end_turn(state);
        }
    }

    fn finish_seat(&self, state: &mut State, seat: usize) {
        let before = state.finished.iter().filter(|&&rank| rank > 0).count();
        state.finished[seat] = before as u8 + 1;
        if self.is_decided(before + 1) {
            end(state, Ending::Normal);
        } else {
            self.end_turn(state);
        }
    }

    /// True if the game ends when this many seats have finished.
    pub(super) fn is_decided(&self, finished: usize) -> bool {
        finished
            >= match self.rules.end {
                End::First => 1,
                End::Ranking => self.seats - 1,
                End::All => self.seats,
            }
    }

    #[inline]
    fn end_turn(&self, state: &mut State) {
        state.may_pass[usize::from(state.to_move)] |= state.blocked_now;
        state.blocked_now = 0;
        state.pending_throws = 0;
        state.pool = [0; VALUES.len()];
        loop {
            state.to_move += 1;
            if usize::from(state.to_move) == self.seats {
                state.to_move = 0;
            }
            if state.finished[usize::from(state.to_move)] == 0 {
                break;
            }
        }
        if self.is_deadlocked(state) && !self.open_gates(state) {
            end(state, Ending::Deadlock);
        } else {
            self.await_throw(state);
        }
    }

    /// True if no seat could move with any value, now or later.
    #[inline]
    pub(super) fn is_deadlocked(&self, state: &State) -> bool {
        (0..self.seats)
            .filter(|&seat| state.finished[seat] == 0)
            .all(|seat| !self.has_free_runner(state, seat) && self.is_stuck(state, seat))
    }

    /// True if the foremost piece that is not home can surely move by 1, which is faster than
    /// looking at every step. Without doubles, only the gate stops it, and on the inner rings
    /// nothing does.
    #[inline]
    fn has_free_runner(&self, state: &State, seat: usize) -> bool {
        let gated = self.rules.gate && !state.has_hit(seat);
        !gated && !self.rules.doubles
            || state.pieces[seat][..self.rules.pieces]
                .iter()
                .any(|&piece| piece >= self.board.outer && piece < self.board.goal)
    }

    /// Lets all seats into the inner rings, if the options say so. Returns true if a seat can move
    /// then.
    fn open_gates(&self, state: &mut State) -> bool {
        if self.rules.deadlock != Deadlock::OpenGate {
            return false;
        }
        state.hit_mask = (1 << self.seats) - 1;
        !self.is_deadlocked(state)
    }
}

/// Ends the game, with nothing left to throw or play.
fn end(state: &mut State, ending: Ending) {
    state.phase = Phase::Over(ending);
    state.pool = [0; VALUES.len()];
    state.pending_throws = 0;
    state.blocked_now = 0;
}
