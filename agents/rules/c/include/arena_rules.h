/* The rules of Arena, for programs that search ahead. Made by cbindgen from c/src/lib.rs:
 * update it with ARENA_UPDATE=1 cargo test -p arena-rules-c.
 *
 * Ownership: the caller owns every game and state that a function makes, and frees it with
 * arena_game_free or arena_state_free. No function keeps a pointer. Buffers and errors are the
 * caller's memory.
 *
 * Errors: a function that returns ArenaStatus writes the reason to `error`, unless it is NULL. A
 * call that fails leaves its state as before. No call fails because of an earlier one: there is no
 * global state.
 *
 * Buffers: `capacity` is their number of items. If it is too small, nothing is written to the
 * buffer; `*count` or `*length` says how many items are needed, for a text without its final NUL.
 * A buffer may be NULL if its capacity is 0.
 *
 * Pointers must be NULL, where that is an error or allowed, or valid. Threads may use different
 * states at the same time, and read the same one. */

#ifndef ARENA_RULES_H
#define ARENA_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Maximum number of seats of a game: the length of a buffer that is always large enough for
// values, scores and ranks.
#define ARENA_SEATS_MAX 4

// A whole score: the value of a seat that beats every other seat.
#define ARENA_POINT 1000000

// The result of a call.
typedef enum {
  // The call did what it should.
  ARENA_STATUS_OK = 0,
  // A pointer is NULL that must not be.
  ARENA_STATUS_NULL_ARGUMENT = 1,
  // A text is not UTF-8.
  ARENA_STATUS_INVALID_TEXT = 2,
  // An unknown ruleset or version, or invalid options or seats.
  ARENA_STATUS_INVALID_GAME = 3,
  // Bytes or JSON that are not a position of the game.
  ARENA_STATUS_INVALID_POSITION = 4,
  // A move that is not legal, or a chance outcome that is not possible.
  ARENA_STATUS_ILLEGAL_MOVE = 5,
  // A decision, a chance event or the end of the game was expected, and this is none.
  ARENA_STATUS_WRONG_NODE = 6,
  // The buffer is too small; the count or length says how much is needed.
  ARENA_STATUS_BUFFER_TOO_SMALL = 7,
  // A bug of the library. Free the objects of the call, and do not use them otherwise.
  ARENA_STATUS_INTERNAL = 8,
} ArenaStatus;

// What comes next in a position.
typedef enum {
  // The state is NULL.
  ARENA_NODE_NONE = 0,
  // A seat moves.
  ARENA_NODE_DECISION = 1,
  // A chance outcome is drawn.
  ARENA_NODE_CHANCE = 2,
  // The game is over.
  ARENA_NODE_OVER = 3,
} ArenaNode;

// A ruleset with its options and seats. It never changes, so threads can share it.
typedef struct ArenaGame ArenaGame;

// A position in a game. Threads can read it at the same time, unless one of them changes it.
typedef struct ArenaState ArenaState;

// Why a call failed. The caller owns it; nothing has to be freed.
typedef struct {
  // The result of the call.
  ArenaStatus status;
  // What was wrong, as text in UTF-8; cut to fit, and empty after a call that succeeded.
  char message[256];
} ArenaError;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Makes a game. `options` is a JSON object, such as `{"pits":"6"}`; NULL or empty: no options.
// `seats` 0 means the seats of the preset, or else the minimum of the ruleset; `version` 0 means
// the newest version of the rules. Free `*game` with `arena_game_free`; it is NULL on failure.
ArenaStatus arena_game_new(const char *ruleset,
                           const char *options,
                           size_t seats,
                           uint32_t version,
                           ArenaGame **game,
                           ArenaError *error);

// Frees a game; NULL is allowed. States of the game stay valid.
void arena_game_free(ArenaGame *game);

// The number of seats; 0 if `game` is NULL.
size_t arena_game_seats(const ArenaGame *game);

// The move that is a pass; -1 if the ruleset has none, or `game` is NULL.
int arena_game_pass_move(const ArenaGame *game);

// Makes the initial state, which may be a chance node. Free `*state` with `arena_state_free`; it
// is NULL on failure.
ArenaStatus arena_state_initial(const ArenaGame *game, ArenaState **state, ArenaError *error);

// Makes a state from a position as protobuf message, such as `Decision.position`. Free `*state`
// with `arena_state_free`; it is NULL on failure.
ArenaStatus arena_state_decode(const ArenaGame *game,
                               const uint8_t *message,
                               size_t length,
                               ArenaState **state,
                               ArenaError *error);

// Makes a state from a position as in the line protocol: a JSON object of `length` bytes. Free
// `*state` with `arena_state_free`; it is NULL on failure.
ArenaStatus arena_state_from_json(const ArenaGame *game,
                                  const char *json,
                                  size_t length,
                                  ArenaState **state,
                                  ArenaError *error);

// Makes a copy of a state. Free `*copy` with `arena_state_free`; it is NULL on failure.
ArenaStatus arena_state_clone(const ArenaState *state, ArenaState **copy, ArenaError *error);

// Makes `state` a copy of `other`. Faster than `arena_state_clone`, since the memory is reused.
ArenaStatus arena_state_copy(ArenaState *state, const ArenaState *other, ArenaError *error);

// Frees a state; NULL is allowed.
void arena_state_free(ArenaState *state);

// The number of seats; 0 if `state` is NULL.
size_t arena_state_seats(const ArenaState *state);

// What comes next.
ArenaNode arena_state_node(const ArenaState *state);

// The seat that moves next; -1 at a chance node, at the end, and if `state` is NULL.
int arena_state_to_move(const ArenaState *state);

// A hash of the position: equal for equal states of a game, in every process and language. It may
// change with the version of Arena. 0 if `state` is NULL.
uint64_t arena_state_hash(const ArenaState *state);

// True if both are equal positions of equal games; false if one is NULL.
bool arena_state_equal(const ArenaState *state, const ArenaState *other);

// Writes the legal moves, in ascending order, and their number to `*count`.
ArenaStatus arena_state_legal(const ArenaState *state,
                              uint16_t *moves,
                              size_t capacity,
                              size_t *count,
                              ArenaError *error);

// Plays a move.
ArenaStatus arena_state_apply(ArenaState *state, uint32_t action, ArenaError *error);

// Writes the weight of each chance outcome, by its id, and their number to `*count`. The
// probability of an outcome is its weight divided by the sum; 0 means impossible.
ArenaStatus arena_state_chance(const ArenaState *state,
                               uint32_t *weights,
                               size_t capacity,
                               size_t *count,
                               ArenaError *error);

// Applies a chance outcome.
ArenaStatus arena_state_apply_outcome(ArenaState *state, uint32_t outcome, ArenaError *error);

// Writes the expected score of each seat in millionths of a game's score (`ARENA_POINT`), which is
// the share of other seats that it beats, ties counting half. The values are exact at the end of
// the game; before, they are a cheap estimate.
ArenaStatus arena_state_values(const ArenaState *state,
                               int64_t *values,
                               size_t capacity,
                               size_t *count,
                               ArenaError *error);

// Writes the ruleset's own score of each seat, such as stones or pieces.
ArenaStatus arena_state_scores(const ArenaState *state,
                               int64_t *scores,
                               size_t capacity,
                               size_t *count,
                               ArenaError *error);

// Writes the rank of each seat at the end of the game, from 1; tied seats share it.
ArenaStatus arena_state_placement(const ArenaState *state,
                                  uint8_t *ranks,
                                  size_t capacity,
                                  size_t *count,
                                  ArenaError *error);

// Plays random moves and outcomes to the end, and writes the values there. The state does not
// change; the same seed gives the same game.
ArenaStatus arena_state_playout(const ArenaState *state,
                                uint64_t seed,
                                int64_t *values,
                                size_t capacity,
                                size_t *count,
                                ArenaError *error);

// Writes the notation of a legal move, with a final NUL, and its length without NUL.
ArenaStatus arena_state_notation(const ArenaState *state,
                                 uint32_t action,
                                 char *text,
                                 size_t capacity,
                                 size_t *length,
                                 ArenaError *error);

// Writes the notation of a possible chance outcome, with a final NUL, and its length without NUL.
ArenaStatus arena_state_outcome_notation(const ArenaState *state,
                                         uint32_t outcome,
                                         char *text,
                                         size_t capacity,
                                         size_t *length,
                                         ArenaError *error);

// Writes the position as protobuf message, and its length.
ArenaStatus arena_state_encode(const ArenaState *state,
                               uint8_t *message,
                               size_t capacity,
                               size_t *length,
                               ArenaError *error);

// Writes the position as JSON of the line protocol, with a final NUL, and its length without NUL.
ArenaStatus arena_state_to_json(const ArenaState *state,
                                char *json,
                                size_t capacity,
                                size_t *length,
                                ArenaError *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* ARENA_RULES_H */
