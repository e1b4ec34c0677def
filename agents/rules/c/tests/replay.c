// Replays random games of the engine, which the program `reference` writes to standard input.
// ../../tests/README.md describes the lines. Exit code 0 if there is no difference.

#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena_rules.h"

enum { FIELDS_MAX = 8, LIST_MAX = 1024, BYTES_MAX = 1 << 16 };

static long line_number;
static char *line_text;
static ArenaError error;
static ArenaGame *game;
static ArenaState *state;

static void differ(const char *what) {
    fprintf(stderr, "line %ld: %s (%s)\n%s\n", line_number, what, error.message, line_text);
    exit(1);
}

static void expect(bool holds, const char *what) {
    if (!holds) {
        differ(what);
    }
}

static void expect_ok(ArenaStatus status, const char *what) {
    expect(status == ARENA_STATUS_OK && error.status == status && error.message[0] == '\0', what);
}

static size_t read_list(const char *text, int64_t *numbers) {
    size_t count = 0;
    while (count < LIST_MAX) {
        char *end;
        numbers[count++] = strtoll(text, &end, 10);
        if (*end != ',') {
            break;
        }
        text = end + 1;
    }
    return count;
}

// Compares a list of the line with items of a size.
static void expect_list(const char *text, const void *items, size_t size, size_t count,
                        const char *what) {
    int64_t numbers[LIST_MAX];
    expect(read_list(text, numbers) == count, what);
    for (size_t index = 0; index < count; index++) {
        int64_t item;
        switch (size) {
        case 1: item = ((const uint8_t *)items)[index]; break;
        case 2: item = ((const uint16_t *)items)[index]; break;
        case 4: item = ((const uint32_t *)items)[index]; break;
        default: item = ((const int64_t *)items)[index]; break;
        }
        expect(item == numbers[index], what);
    }
}

static void expect_position(const char *hash, const char *values) {
    int64_t found[ARENA_SEATS_MAX];
    size_t count;
    expect(arena_state_hash(state) == strtoull(hash, NULL, 16), "hash");
    expect_ok(arena_state_values(state, found, ARENA_SEATS_MAX, &count, &error), "values");
    expect_list(values, found, sizeof *found, count, "values");
}

static void make_game(char **fields) {
    arena_game_free(game);
    uint32_t version = (uint32_t)strtoul(fields[2], NULL, 10);
    size_t seats = strtoul(fields[3], NULL, 10);
    expect_ok(arena_game_new(fields[1], fields[4], seats, version, &game, &error), "game");
    expect(arena_game_seats(game) == seats, "seats");
}

static void make_initial(void) {
    arena_state_free(state);
    expect_ok(arena_state_initial(game, &state, &error), "initial");
    expect(arena_state_seats(state) == arena_game_seats(game), "seats");
}

// A state that was made in another way is the same.
static void expect_same(ArenaState *other, const char *what) {
    expect(arena_state_equal(state, other), what);
    expect(arena_state_hash(state) == arena_state_hash(other), what);
    arena_state_free(other);
}

static void check_position(char **fields) {
    static uint8_t message[BYTES_MAX], expected[BYTES_MAX];
    static char json[BYTES_MAX];
    ArenaState *other;
    size_t length, digits = strlen(fields[2]);
    for (size_t index = 0; index < digits / 2; index++) {
        unsigned int byte;
        sscanf(fields[2] + 2 * index, "%2x", &byte);
        expected[index] = (uint8_t)byte;
    }
    expect_ok(arena_state_encode(state, message, sizeof message, &length, &error), "message");
    expect(length == digits / 2 && memcmp(message, expected, length) == 0, "message");
    expect_ok(arena_state_to_json(state, json, sizeof json, &length, &error), "JSON");
    expect(length == strlen(json) && strcmp(json, fields[3]) == 0, "JSON");

    expect_ok(arena_state_decode(game, expected, digits / 2, &other, &error), "decode");
    expect_same(other, "decode");
    expect_ok(arena_state_from_json(game, json, length, &other, &error), "from JSON");
    expect_same(other, "from JSON");
    expect_ok(arena_state_clone(state, &other, &error), "clone");
    expect_ok(arena_state_copy(other, state, &error), "copy");
    expect_same(other, "copy");
    expect(arena_state_hash(state) == strtoull(fields[1], NULL, 16), "hash");
}

static void check_playout(char **fields) {
    int64_t values[ARENA_SEATS_MAX];
    size_t count;
    uint64_t seed = strtoull(fields[1], NULL, 10);
    expect_ok(arena_state_playout(state, seed, values, ARENA_SEATS_MAX, &count, &error), "playout");
    expect_list(fields[2], values, sizeof *values, count, "playout");
}

static void play_move(char **fields) {
    uint16_t legal[LIST_MAX];
    char notation[256];
    size_t count, length;
    uint32_t move = (uint32_t)strtoul(fields[5], NULL, 10);
    expect_position(fields[1], fields[2]);
    expect(arena_state_node(state) == ARENA_NODE_DECISION, "node");
    expect(arena_state_to_move(state) == atoi(fields[3]), "seat");
    expect_ok(arena_state_legal(state, legal, LIST_MAX, &count, &error), "legal moves");
    expect_list(fields[4], legal, sizeof *legal, count, "legal moves");
    expect_ok(arena_state_notation(state, move, notation, sizeof notation, &length, &error),
              "notation");
    expect(strcmp(notation, fields[6]) == 0 && strlen(notation) == length, "notation");
    expect_ok(arena_state_apply(state, move, &error), "move");
}

static void draw_outcome(char **fields) {
    uint32_t weights[LIST_MAX];
    char notation[256];
    size_t count, length;
    uint32_t outcome = (uint32_t)strtoul(fields[4], NULL, 10);
    expect_position(fields[1], fields[2]);
    expect(arena_state_node(state) == ARENA_NODE_CHANCE, "node");
    expect(arena_state_to_move(state) == -1, "seat");
    expect_ok(arena_state_chance(state, weights, LIST_MAX, &count, &error), "weights");
    expect_list(fields[3], weights, sizeof *weights, count, "weights");
    expect_ok(
        arena_state_outcome_notation(state, outcome, notation, sizeof notation, &length, &error),
        "notation");
    expect(strcmp(notation, fields[5]) == 0 && strlen(notation) == length, "notation");
    expect_ok(arena_state_apply_outcome(state, outcome, &error), "outcome");
}

static void check_end(char **fields) {
    int64_t scores[ARENA_SEATS_MAX];
    uint8_t ranks[ARENA_SEATS_MAX];
    size_t count;
    expect_position(fields[1], fields[2]);
    expect(arena_state_node(state) == ARENA_NODE_OVER, "node");
    expect(arena_state_to_move(state) == -1, "seat");
    expect_ok(arena_state_scores(state, scores, ARENA_SEATS_MAX, &count, &error), "scores");
    expect_list(fields[3], scores, sizeof *scores, count, "scores");
    expect_ok(arena_state_placement(state, ranks, ARENA_SEATS_MAX, &count, &error), "ranks");
    expect_list(fields[4], ranks, sizeof *ranks, count, "ranks");
}

int main(void) {
    size_t size = 0;
    char *line = NULL;
    long games = 0, expected = -1;
    while (getline(&line, &size, stdin) > 0) {
        char *fields[FIELDS_MAX] = {NULL};
        int count = 0;
        line_number++;
        line_text = line;
        line[strcspn(line, "\n")] = '\0';
        for (char *at = line; at && count < FIELDS_MAX; count++) {
            fields[count] = at;
            at = strchr(at, '\t');
            if (at) {
                *at++ = '\0';
            }
        }
        const char *kind = fields[0];
        if (strcmp(kind, "game") == 0 && count == 6) {
            make_game(fields);
        } else if (strcmp(kind, "initial") == 0) {
            make_initial();
            games++;
        } else if (strcmp(kind, "position") == 0 && count == 4) {
            check_position(fields);
        } else if (strcmp(kind, "playout") == 0 && count == 3) {
            check_playout(fields);
        } else if (strcmp(kind, "move") == 0 && count == 7) {
            play_move(fields);
        } else if (strcmp(kind, "chance") == 0 && count == 6) {
            draw_outcome(fields);
        } else if (strcmp(kind, "over") == 0 && count == 5) {
            check_end(fields);
        } else if (strcmp(kind, "end") == 0 && count == 2) {
            expected = atol(fields[1]);
        } else {
            differ("unknown line");
        }
    }
    arena_state_free(state);
    arena_game_free(game);
    free(line);
    if (games != expected) {
        fprintf(stderr, "%ld games, expected %ld\n", games, expected);
        return 1;
    }
    printf("%ld games without a difference\n", games);
    return 0;
}
