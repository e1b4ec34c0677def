// Wrong arguments return a status and a reason, and change nothing.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena_rules.h"

static ArenaError error;

static void expect_at(int line, bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "line %d: %s (%d: %s)\n", line, what, error.status, error.message);
        exit(1);
    }
}

#define EXPECT(holds) expect_at(__LINE__, holds, #holds)
#define REFUSED(call, expected, start)                                                             \
    EXPECT((call) == (expected) && error.status == (expected) &&                                   \
           strncmp(error.message, start, strlen(start)) == 0)

// A game that is no game.
static void check_games(void) {
    ArenaGame *game = (ArenaGame *)&error;
    REFUSED(arena_game_new("snap", NULL, 0, 0, &game, &error), ARENA_STATUS_INVALID_GAME,
            "unknown ruleset \"snap\"; there are chess, chinese-ludo, cowry");
    EXPECT(game == NULL);
    REFUSED(arena_game_new("kalah", "{\"pits\":9}", 0, 0, &game, &error), ARENA_STATUS_INVALID_GAME,
            "ruleset kalah: option \"pits\": 9 is not a whole number from 1 to 8");
    REFUSED(arena_game_new("kalah", "{", 0, 0, &game, &error), ARENA_STATUS_INVALID_GAME,
            "options: no JSON object");
    REFUSED(arena_game_new("kalah", "", 3, 0, &game, &error), ARENA_STATUS_INVALID_GAME,
            "ruleset kalah: kalah is for 2 seats, not 3");
    REFUSED(arena_game_new("kalah", "", (size_t)-1, 0, &game, &error), ARENA_STATUS_INVALID_GAME,
            "ruleset kalah: kalah is for 2 seats");
    REFUSED(arena_game_new("kalah", "", 0, 9, &game, &error), ARENA_STATUS_INVALID_GAME,
            "kalah version 9 is not available");
    REFUSED(arena_game_new("\xff", "", 0, 0, &game, &error), ARENA_STATUS_INVALID_TEXT,
            "a text is not UTF-8");
    REFUSED(arena_game_new(NULL, "", 0, 0, &game, &error), ARENA_STATUS_NULL_ARGUMENT,
            "a pointer is NULL");
    REFUSED(arena_game_new("kalah", "", 0, 0, NULL, &error), ARENA_STATUS_NULL_ARGUMENT, "");
    EXPECT(arena_game_new("snap", NULL, 0, 0, &game, NULL) == ARENA_STATUS_INVALID_GAME);

    // A long message is cut to fit.
    char name[2000];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    REFUSED(arena_game_new(name, "", 0, 0, &game, &error), ARENA_STATUS_INVALID_GAME, "unknown");
    EXPECT(strlen(error.message) == sizeof error.message - 1);
}

// Every pointer that must not be NULL.
static void check_null(ArenaGame *game, ArenaState *state) {
    ArenaState *made = NULL;
    size_t count;
    uint8_t bytes[256];
    uint16_t moves[16];
    uint32_t weights[16];
    int64_t values[ARENA_SEATS_MAX];
    char text[256];
    const ArenaStatus null = ARENA_STATUS_NULL_ARGUMENT;
    REFUSED(arena_state_initial(NULL, &made, &error), null, "");
    REFUSED(arena_state_initial(game, NULL, &error), null, "");
    REFUSED(arena_state_decode(NULL, bytes, 0, &made, &error), null, "");
    REFUSED(arena_state_decode(game, NULL, 1, &made, &error), null, "");
    REFUSED(arena_state_decode(game, bytes, 0, NULL, &error), null, "");
    REFUSED(arena_state_from_json(NULL, "{}", 2, &made, &error), null, "");
    REFUSED(arena_state_from_json(game, NULL, 2, &made, &error), null, "");
    REFUSED(arena_state_from_json(game, "{}", 2, NULL, &error), null, "");
    REFUSED(arena_state_clone(NULL, &made, &error), null, "");
    REFUSED(arena_state_clone(state, NULL, &error), null, "");
    REFUSED(arena_state_copy(NULL, state, &error), null, "");
    REFUSED(arena_state_copy(state, NULL, &error), null, "");
    REFUSED(arena_state_apply(NULL, 0, &error), null, "");
    REFUSED(arena_state_apply_outcome(NULL, 0, &error), null, "");
    REFUSED(arena_state_legal(NULL, moves, 16, &count, &error), null, "");
    REFUSED(arena_state_legal(state, NULL, 16, &count, &error), null, "");
    REFUSED(arena_state_legal(state, moves, 16, NULL, &error), null, "");
    REFUSED(arena_state_chance(NULL, weights, 16, &count, &error), null, "");
    REFUSED(arena_state_chance(state, weights, 16, NULL, &error), null, "");
    REFUSED(arena_state_values(NULL, values, 4, &count, &error), null, "");
    REFUSED(arena_state_values(state, NULL, 4, &count, &error), null, "");
    REFUSED(arena_state_values(state, values, 4, NULL, &error), null, "");
    REFUSED(arena_state_scores(NULL, values, 4, &count, &error), null, "");
    REFUSED(arena_state_placement(NULL, bytes, 4, &count, &error), null, "");
    REFUSED(arena_state_playout(NULL, 1, values, 4, &count, &error), null, "");
    REFUSED(arena_state_notation(NULL, 0, text, 256, &count, &error), null, "");
    REFUSED(arena_state_outcome_notation(NULL, 0, text, 256, &count, &error), null, "");
    REFUSED(arena_state_encode(NULL, bytes, 256, &count, &error), null, "");
    REFUSED(arena_state_to_json(NULL, text, 256, &count, &error), null, "");
    EXPECT(arena_state_node(NULL) == ARENA_NODE_NONE && arena_state_to_move(NULL) == -1);
    EXPECT(arena_state_seats(NULL) == 0 && arena_game_seats(NULL) == 0);
    EXPECT(arena_state_hash(NULL) == 0 && arena_game_pass_move(NULL) == -1);
    EXPECT(!arena_state_equal(NULL, state) && !arena_state_equal(state, NULL));
    arena_state_free(NULL);
    arena_game_free(NULL);
}

// Buffers of every size: none is written beyond its end.
static void check_buffers(const ArenaState *state) {
    size_t count, length;
    EXPECT(arena_state_legal(state, NULL, 0, &count, &error) == ARENA_STATUS_BUFFER_TOO_SMALL);
    EXPECT(count == 6);
    EXPECT(arena_state_to_json(state, NULL, 0, &length, &error) == ARENA_STATUS_BUFFER_TOO_SMALL);
    for (size_t capacity = 0; capacity <= length + 1; capacity++) {
        uint16_t *moves = malloc(capacity * sizeof *moves + 1);
        char *text = malloc(capacity + 1);
        size_t filled;
        ArenaStatus status = arena_state_legal(state, moves, capacity, &count, &error);
        EXPECT((status == ARENA_STATUS_OK) == (capacity >= 6) && count == 6);
        status = arena_state_to_json(state, text, capacity, &filled, &error);
        EXPECT((status == ARENA_STATUS_OK) == (capacity > length) && filled == length);
        free(moves);
        free(text);
    }
}

static void check_decision(ArenaState *state) {
    uint32_t weights[16];
    uint8_t ranks[ARENA_SEATS_MAX];
    char text[64];
    size_t count;
    uint64_t before = arena_state_hash(state);
    const uint32_t wrong[] = {6, 32768, 65536, 65537, UINT32_MAX};
    for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
        EXPECT(arena_state_apply(state, wrong[index], &error) == ARENA_STATUS_ILLEGAL_MOVE);
        EXPECT(arena_state_notation(state, wrong[index], text, 64, &count, &error) ==
               ARENA_STATUS_ILLEGAL_MOVE);
    }
    REFUSED(arena_state_apply(state, 6, &error), ARENA_STATUS_ILLEGAL_MOVE,
            "move 6 is not legal; legal moves: 0, 1, 2, 3, 4, 5");
    REFUSED(arena_state_apply_outcome(state, 0, &error), ARENA_STATUS_WRONG_NODE, "seat 0 moves");
    REFUSED(arena_state_chance(state, weights, 16, &count, &error), ARENA_STATUS_WRONG_NODE, "");
    REFUSED(arena_state_placement(state, ranks, 4, &count, &error), ARENA_STATUS_WRONG_NODE, "");
    EXPECT(arena_state_copy(state, state, &error) == ARENA_STATUS_OK);
    EXPECT(arena_state_hash(state) == before);
}

static void check_chance(void) {
    ArenaGame *game;
    ArenaState *state;
    uint16_t moves[16];
    size_t count;
    EXPECT(arena_game_new("chinese-ludo", NULL, 0, 0, &game, &error) == ARENA_STATUS_OK);
    EXPECT(arena_state_initial(game, &state, &error) == ARENA_STATUS_OK);
    arena_game_free(game);
    REFUSED(arena_state_legal(state, moves, 16, &count, &error), ARENA_STATUS_WRONG_NODE,
            "a chance outcome is drawn next");
    REFUSED(arena_state_apply(state, 0, &error), ARENA_STATUS_WRONG_NODE, "a chance outcome");
    REFUSED(arena_state_apply_outcome(state, 6, &error), ARENA_STATUS_ILLEGAL_MOVE,
            "chance outcome 6 is not possible");
    REFUSED(arena_state_apply_outcome(state, 65536, &error), ARENA_STATUS_ILLEGAL_MOVE, "");
    arena_state_free(state);
}

static void check_positions(const ArenaGame *game, const ArenaState *state) {
    ArenaState *made = (ArenaState *)&error;
    uint8_t bytes[256];
    size_t length;
    const char *json = "{\"pits\":-1}";
    REFUSED(arena_state_from_json(game, json, strlen(json), &made, &error),
            ARENA_STATUS_INVALID_POSITION, "not a position of kalah: pits: -1 is not");
    EXPECT(made == NULL);
    REFUSED(arena_state_from_json(game, "\xff", 1, &made, &error), ARENA_STATUS_INVALID_TEXT, "");
    REFUSED(arena_state_decode(game, NULL, 0, &made, &error), ARENA_STATUS_INVALID_POSITION,
            "not a position of kalah: another number of pits");
    EXPECT(arena_state_encode(state, bytes, sizeof bytes, &length, &error) == ARENA_STATUS_OK);
    // Each changed byte is refused, or gives a state that can be used.
    for (size_t index = 0; index < length; index++) {
        uint8_t before = bytes[index];
        for (int value = 0; value < 256; value++) {
            bytes[index] = (uint8_t)value;
            if (arena_state_decode(game, bytes, length, &made, &error) == ARENA_STATUS_OK) {
                int64_t values[ARENA_SEATS_MAX];
                size_t count;
                EXPECT(arena_state_playout(made, 1, values, 4, &count, &error) == ARENA_STATUS_OK);
                arena_state_free(made);
            } else {
                EXPECT(made == NULL && error.message[0] != '\0');
            }
        }
        bytes[index] = before;
    }
}

int main(void) {
    ArenaGame *game;
    ArenaState *state;
    check_games();
    EXPECT(arena_game_new("kalah", NULL, 0, 0, &game, &error) == ARENA_STATUS_OK);
    EXPECT(arena_state_initial(game, &state, &error) == ARENA_STATUS_OK);
    check_null(game, state);
    check_buffers(state);
    check_decision(state);
    check_chance();
    check_positions(game, state);
    arena_game_free(game);
    // A state outlives its game.
    EXPECT(arena_state_apply(state, 2, &error) == ARENA_STATUS_OK);
    arena_state_free(state);
    puts("all wrong arguments are refused");
    return 0;
}
