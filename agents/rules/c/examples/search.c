// Chooses a move by random playouts, in any ruleset: search RULESET [SEATS].
//
// cc search.c -I ../include libarena_rules.a -lpthread -ldl -lm

#include <stdio.h>
#include <stdlib.h>

#include "arena_rules.h"

enum { MOVES_MAX = 256, PLAYOUTS = 50 };

static ArenaError error;

static void check(ArenaStatus status) {
    if (status != ARENA_STATUS_OK) {
        fprintf(stderr, "search: %s\n", error.message);
        exit(1);
    }
}

// The legal move with the best mean value of its playouts.
static uint16_t choose(const ArenaState *state, ArenaState *child, uint64_t seed) {
    uint16_t moves[MOVES_MAX];
    size_t count, seats;
    int seat = arena_state_to_move(state), best = 0;
    int64_t best_sum = -1;
    check(arena_state_legal(state, moves, MOVES_MAX, &count, &error));
    for (size_t index = 0; index < count; index++) {
        int64_t values[ARENA_SEATS_MAX], sum = 0;
        check(arena_state_copy(child, state, &error));
        check(arena_state_apply(child, moves[index], &error));
        for (int number = 0; number < PLAYOUTS; number++) {
            check(arena_state_playout(child, seed + number, values, ARENA_SEATS_MAX, &seats,
                                      &error));
            sum += values[seat];
        }
        if (sum > best_sum) {
            best_sum = sum;
            best = (int)index;
        }
    }
    return moves[best];
}

// Draws a chance outcome.
static uint32_t draw(const ArenaState *state) {
    uint32_t weights[MOVES_MAX], sum = 0, outcome = 0;
    size_t count;
    check(arena_state_chance(state, weights, MOVES_MAX, &count, &error));
    for (size_t index = 0; index < count; index++) {
        sum += weights[index];
    }
    uint32_t point = (uint32_t)rand() % sum;
    while (point >= weights[outcome]) {
        point -= weights[outcome++];
    }
    return outcome;
}

int main(int argc, char **argv) {
    ArenaGame *game;
    ArenaState *state, *child;
    int64_t values[ARENA_SEATS_MAX];
    size_t seats;
    const char *ruleset = argc > 1 ? argv[1] : "kalah";
    check(arena_game_new(ruleset, NULL, argc > 2 ? strtoul(argv[2], NULL, 10) : 0, 0, &game,
                         &error));
    check(arena_state_initial(game, &state, &error));
    check(arena_state_clone(state, &child, &error));
    for (uint64_t event = 0; arena_state_node(state) != ARENA_NODE_OVER; event++) {
        if (arena_state_node(state) == ARENA_NODE_CHANCE) {
            check(arena_state_apply_outcome(state, draw(state), &error));
        } else if (arena_state_to_move(state) == 0) {
            check(arena_state_apply(state, choose(state, child, event), &error));
        } else {
            // The other seats play at random.
            uint16_t moves[MOVES_MAX];
            size_t count;
            check(arena_state_legal(state, moves, MOVES_MAX, &count, &error));
            check(arena_state_apply(state, moves[(size_t)rand() % count], &error));
        }
    }
    check(arena_state_values(state, values, ARENA_SEATS_MAX, &seats, &error));
    for (size_t seat = 0; seat < seats; seat++) {
        printf("seat %zu: %.3f\n", seat, (double)values[seat] / ARENA_POINT);
    }
    arena_state_free(child);
    arena_state_free(state);
    arena_game_free(game);
    return 0;
}
