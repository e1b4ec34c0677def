/* playouts: chooses the move after which random games end best, in every ruleset.
 *
 * The policy of the C kit with Arena's own rules: see "Search ahead" in the README of the kit. */
#include "arena.h"
#include "arena_rules.h"

/* Leaves a function that fails. The library has written the reason to the error. */
#define TRY(call) do { if ((call) != ARENA_STATUS_OK) return false; } while (0)

enum { MOVES_MAX = 1024 };

/* The objects of a decision, which the agent owns. */
typedef struct {
    ArenaGame *game;
    ArenaState *state, *child;
} search;

/* Makes the state of a decision from its JSON. */
static bool open_state(const arena_decision *decision, search *search, ArenaError *error) {
    arena_buffer options = {0}, position = {0};
    arena_add_value(&options, decision->options);
    arena_add_value(&position, decision->position);
    bool made = arena_game_new(decision->ruleset, options.text, (size_t)decision->seats,
                               (uint32_t)decision->rules_version, &search->game, error) == ARENA_STATUS_OK
        && arena_state_from_json(search->game, position.text, position.length, &search->state, error) == ARENA_STATUS_OK;
    free(options.text);
    free(position.text);
    return made;
}

/* The legal move with the highest sum of values. Each move has playouts with the same seeds. */
static bool find_move(const arena_decision *decision, search *search, long *best, ArenaError *error) {
    uint16_t moves[MOVES_MAX];
    size_t count, seats, all = (size_t)arena_number(decision->bot_options, "playouts");
    int64_t best_sum = -1;
    if (!open_state(decision, search, error)) return false;
    TRY(arena_state_clone(search->state, &search->child, error));
    TRY(arena_state_legal(search->state, moves, MOVES_MAX, &count, error));
    size_t playouts = all > count ? all / count : 1;
    for (size_t i = 0; i < count; i++) {
        int64_t values[ARENA_SEATS_MAX], sum = 0;
        TRY(arena_state_copy(search->child, search->state, error));
        TRY(arena_state_apply(search->child, moves[i], error));
        for (size_t k = 0; k < playouts; k++) {
            TRY(arena_state_playout(search->child, decision->seed + k, values, ARENA_SEATS_MAX, &seats, error));
            sum += values[decision->seat];
        }
        if (sum > best_sum) {
            best_sum = sum;
            *best = moves[i];
        }
    }
    return true;
}

/* Returns the id of one of the legal moves. */
static long choose(arena_decision *decision) {
    search search = {0};
    ArenaError error;
    long best = 0;
    bool found = find_move(decision, &search, &best, &error);
    arena_state_free(search.child);
    arena_state_free(search.state);
    arena_game_free(search.game);
    if (!found) arena_fail("%s", error.message);
    return best;
}

int main(void) {
    arena_option options[] = {{"playouts", "integer", "100", "random games for each decision", "1", "300", NULL},
                              {0}};
    return arena_serve(choose, (arena_about){.name = "playouts", .version = "1.0.0", .deterministic = true,
        .uses_seed = "yes", .options = options, .more = "\"omit_move_details\":true"});
}
