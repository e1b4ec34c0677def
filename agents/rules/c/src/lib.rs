//! The rules of Arena as a C library. `include/arena_rules.h` documents it; cbindgen makes it from
//! this file.
//!
//! Every pointer is checked for null, and every panic ends here. What cannot be checked is the
//! caller's part: pointers to live objects, buffers of the given length, and no other use of a
//! state while a function changes it.

#![expect(
    clippy::missing_safety_doc,
    reason = "the same holds for all functions: see above and the header"
)]

mod boundary;

use std::{
    ffi::{c_char, c_int},
    ptr,
};

use rules::{Game, Node, State};

use boundary::{Failure, fill, fill_text, guard, query, read, reference, text, write};

/// Maximum number of seats of a game: the length of a buffer that is always large enough for
/// values, scores and ranks.
pub const ARENA_SEATS_MAX: usize = 4;

/// A whole score: the value of a seat that beats every other seat.
pub const ARENA_POINT: i64 = 1_000_000;

/// A ruleset with its options and seats. It never changes, so threads can share it.
pub struct ArenaGame(Game);

/// A position in a game. Threads can read it at the same time, unless one of them changes it.
pub struct ArenaState(State);

/// The result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArenaStatus {
    /// The call did what it should.
    Ok = 0,
    /// A pointer is NULL that must not be.
    NullArgument = 1,
    /// A text is not UTF-8.
    InvalidText = 2,
    /// An unknown ruleset or version, or invalid options or seats.
    InvalidGame = 3,
    /// Bytes or JSON that are not a position of the game.
    InvalidPosition = 4,
    /// A move that is not legal, or a chance outcome that is not possible.
    IllegalMove = 5,
    /// A decision, a chance event or the end of the game was expected, and this is none.
    WrongNode = 6,
    /// The buffer is too small; the count or length says how much is needed.
    BufferTooSmall = 7,
    /// A bug of the library. Free the objects of the call, and do not use them otherwise.
    Internal = 8,
}

/// What comes next in a position.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArenaNode {
    /// The state is NULL.
    None = 0,
    /// A seat moves.
    Decision = 1,
    /// A chance outcome is drawn.
    Chance = 2,
    /// The game is over.
    Over = 3,
}

/// Why a call failed. The caller owns it; nothing has to be freed.
#[repr(C)]
pub struct ArenaError {
    /// The result of the call.
    pub status: ArenaStatus,
    /// What was wrong, as text in UTF-8; cut to fit, and empty after a call that succeeded.
    pub message: [c_char; 256],
}

/// Makes a game. `options` is a JSON object, such as `{"pits":"6"}`; NULL or empty: no options.
/// `seats` 0 means the seats of the preset, or else the minimum of the ruleset; `version` 0 means
/// the newest version of the rules. Free `*game` with `arena_game_free`; it is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_game_new(
    ruleset: *const c_char,
    options: *const c_char,
    seats: usize,
    version: u32,
    game: *mut *mut ArenaGame,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let game = unsafe { write(game, ptr::null_mut()) }?;
        let ruleset = unsafe { text(ruleset) }?;
        let options = match options.is_null() {
            true => "",
            false => unsafe { text(options) }?,
        };
        let seats = (seats > 0).then_some(seats);
        let version = (version > 0).then_some(version);
        let made = Game::from_json(ruleset, options, seats, version)?;
        *game = Box::into_raw(Box::new(ArenaGame(made)));
        Ok(())
    })
}

/// Frees a game; NULL is allowed. States of the game stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_game_free(game: *mut ArenaGame) {
    guard(ptr::null_mut(), || {
        if !game.is_null() {
            drop(unsafe { Box::from_raw(game) });
        }
        Ok(())
    });
}

/// The number of seats; 0 if `game` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_game_seats(game: *const ArenaGame) -> usize {
    unsafe { query(game, 0, |game| game.0.info().seats) }
}

/// The move that is a pass; -1 if the ruleset has none, or `game` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_game_pass_move(game: *const ArenaGame) -> c_int {
    unsafe { query(game, -1, |game| game.0.info().pass.map_or(-1, c_int::from)) }
}

/// Makes the initial state, which may be a chance node. Free `*state` with `arena_state_free`; it
/// is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_initial(
    game: *const ArenaGame,
    state: *mut *mut ArenaState,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let state = unsafe { write(state, ptr::null_mut()) }?;
        let game = unsafe { reference(game) }?;
        *state = boxed(game.0.initial());
        Ok(())
    })
}

/// Makes a state from a position as protobuf message, such as `Decision.position`. Free `*state`
/// with `arena_state_free`; it is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_decode(
    game: *const ArenaGame,
    message: *const u8,
    length: usize,
    state: *mut *mut ArenaState,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let state = unsafe { write(state, ptr::null_mut()) }?;
        let game = unsafe { reference(game) }?;
        let message = unsafe { read(message, length) }?;
        *state = boxed(game.0.decode(message)?);
        Ok(())
    })
}

/// Makes a state from a position as in the line protocol: a JSON object of `length` bytes. Free
/// `*state` with `arena_state_free`; it is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_from_json(
    game: *const ArenaGame,
    json: *const c_char,
    length: usize,
    state: *mut *mut ArenaState,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let state = unsafe { write(state, ptr::null_mut()) }?;
        let game = unsafe { reference(game) }?;
        let json = unsafe { read(json.cast(), length) }?;
        let json = str::from_utf8(json).map_err(|_| Failure::InvalidText)?;
        *state = boxed(game.0.state_from_json(json)?);
        Ok(())
    })
}

/// Makes a copy of a state. Free `*copy` with `arena_state_free`; it is NULL on failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_clone(
    state: *const ArenaState,
    copy: *mut *mut ArenaState,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let copy = unsafe { write(copy, ptr::null_mut()) }?;
        let state = unsafe { reference(state) }?;
        *copy = boxed(state.0.clone());
        Ok(())
    })
}

/// Makes `state` a copy of `other`. Faster than `arena_state_clone`, since the memory is reused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_copy(
    state: *mut ArenaState,
    other: *const ArenaState,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        if state.is_null() || other.is_null() {
            return Err(Failure::Null);
        }
        // A copy of itself: two references to one state must not exist.
        if !ptr::eq(state, other) {
            let (state, other) = unsafe { (&mut *state, &*other) };
            state.0.copy_from(&other.0);
        }
        Ok(())
    })
}

/// Frees a state; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_free(state: *mut ArenaState) {
    guard(ptr::null_mut(), || {
        if !state.is_null() {
            drop(unsafe { Box::from_raw(state) });
        }
        Ok(())
    });
}

/// The number of seats; 0 if `state` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_seats(state: *const ArenaState) -> usize {
    unsafe { query(state, 0, |state| state.0.info().seats) }
}

/// What comes next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_node(state: *const ArenaState) -> ArenaNode {
    let node = |state: &ArenaState| match state.0.node() {
        Node::Decision(_) => ArenaNode::Decision,
        Node::Chance(_) => ArenaNode::Chance,
        Node::Over(_) => ArenaNode::Over,
    };
    unsafe { query(state, ArenaNode::None, node) }
}

/// The seat that moves next; -1 at a chance node, at the end, and if `state` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_to_move(state: *const ArenaState) -> c_int {
    unsafe { query(state, -1, |state| state.0.to_move().map_or(-1, c_int::from)) }
}

/// A hash of the position: equal for equal states of a game, in every process and language. It may
/// change with the version of Arena. 0 if `state` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_hash(state: *const ArenaState) -> u64 {
    unsafe { query(state, 0, |state| state.0.hash()) }
}

/// True if both are equal positions of equal games; false if one is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_equal(
    state: *const ArenaState,
    other: *const ArenaState,
) -> bool {
    unsafe {
        let equals = |other: &ArenaState| query(state, false, |state| state.0 == other.0);
        query(other, false, equals)
    }
}

/// Writes the legal moves, in ascending order, and their number to `*count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_legal(
    state: *const ArenaState,
    moves: *mut u16,
    capacity: usize,
    count: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let count = unsafe { write(count, 0) }?;
        let legal = unsafe { reference(state) }?.0.legal()?;
        unsafe { fill(&legal, moves, capacity, count) }
    })
}

/// Plays a move.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_apply(
    state: *mut ArenaState,
    action: u32,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let state = unsafe { state.as_mut() }.ok_or(Failure::Null)?;
        Ok(state.0.apply(action.into())?)
    })
}

/// Writes the weight of each chance outcome, by its id, and their number to `*count`. The
/// probability of an outcome is its weight divided by the sum; 0 means impossible.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_chance(
    state: *const ArenaState,
    weights: *mut u32,
    capacity: usize,
    count: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let count = unsafe { write(count, 0) }?;
        let all = unsafe { reference(state) }?.0.weights()?;
        unsafe { fill(all, weights, capacity, count) }
    })
}

/// Applies a chance outcome.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_apply_outcome(
    state: *mut ArenaState,
    outcome: u32,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let state = unsafe { state.as_mut() }.ok_or(Failure::Null)?;
        Ok(state.0.apply_outcome(outcome.into())?)
    })
}

/// Writes the expected score of each seat in millionths of a game's score (`ARENA_POINT`), which is
/// the share of other seats that it beats, ties counting half. The values are exact at the end of
/// the game; before, they are a cheap estimate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_values(
    state: *const ArenaState,
    values: *mut i64,
    capacity: usize,
    count: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let count = unsafe { write(count, 0) }?;
        let all = unsafe { reference(state) }?.0.values();
        unsafe { fill(&all, values, capacity, count) }
    })
}

/// Writes the ruleset's own score of each seat, such as stones or pieces.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_scores(
    state: *const ArenaState,
    scores: *mut i64,
    capacity: usize,
    count: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let count = unsafe { write(count, 0) }?;
        let all = unsafe { reference(state) }?.0.scores();
        unsafe { fill(&all, scores, capacity, count) }
    })
}

/// Writes the rank of each seat at the end of the game, from 1; tied seats share it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_placement(
    state: *const ArenaState,
    ranks: *mut u8,
    capacity: usize,
    count: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let count = unsafe { write(count, 0) }?;
        let all = unsafe { reference(state) }?.0.placement()?;
        unsafe { fill(&all, ranks, capacity, count) }
    })
}

/// Plays random moves and outcomes to the end, and writes the values there. The state does not
/// change; the same seed gives the same game.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_playout(
    state: *const ArenaState,
    seed: u64,
    values: *mut i64,
    capacity: usize,
    count: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let count = unsafe { write(count, 0) }?;
        let all = unsafe { reference(state) }?.0.playout(seed);
        unsafe { fill(&all, values, capacity, count) }
    })
}

/// Writes the notation of a legal move, with a final NUL, and its length without NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_notation(
    state: *const ArenaState,
    action: u32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let length = unsafe { write(length, 0) }?;
        let notation = unsafe { reference(state) }?.0.notation(action.into())?;
        unsafe { fill_text(notation, text, capacity, length) }
    })
}

/// Writes the notation of a possible chance outcome, with a final NUL, and its length without NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_outcome_notation(
    state: *const ArenaState,
    outcome: u32,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let length = unsafe { write(length, 0) }?;
        let state = unsafe { reference(state) }?;
        let notation = state.0.outcome_notation(outcome.into())?;
        unsafe { fill_text(notation, text, capacity, length) }
    })
}

/// Writes the position as protobuf message, and its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_encode(
    state: *const ArenaState,
    message: *mut u8,
    capacity: usize,
    length: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let length = unsafe { write(length, 0) }?;
        let bytes = unsafe { reference(state) }?.0.encode(false);
        unsafe { fill(&bytes, message, capacity, length) }
    })
}

/// Writes the position as JSON of the line protocol, with a final NUL, and its length without NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arena_state_to_json(
    state: *const ArenaState,
    json: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut ArenaError,
) -> ArenaStatus {
    guard(error, || {
        let length = unsafe { write(length, 0) }?;
        let text = unsafe { reference(state) }?.0.to_json(false);
        unsafe { fill_text(text, json, capacity, length) }
    })
}

fn boxed(state: State) -> *mut ArenaState {
    Box::into_raw(Box::new(ArenaState(state)))
}
