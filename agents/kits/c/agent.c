/* my-agent: takes as much as it can, and chooses at random between equal moves. */
#include "arena.h"

/* What a move gains; captured, banked and hits are the names that rulesets use. */
static double gain(const arena_value *move, double again) {
    double taken = arena_number(move, "captured") + arena_number(move, "banked");
    return taken + arena_number(move, "hits") + again * arena_number(move, "moves_again");
}

/* Returns the id of one of the legal moves. */
static long choose(arena_decision *decision) {
    double again = arena_number(decision->bot_options, "again"), best = 0;
    const arena_value *moves = arena_get(decision->position, "moves");
    size_t equal = 0, chosen = 0;
    for (size_t i = 0; i < decision->moves; i++)
        if (gain(arena_at(moves, i), again) > best) best = gain(arena_at(moves, i), again);
    for (size_t i = 0; i < decision->moves; i++) equal += gain(arena_at(moves, i), again) == best;
    equal = arena_below(decision, equal) + 1;
    for (; equal > 0; chosen++) equal -= gain(arena_at(moves, chosen), again) == best;
    return decision->legal_moves[chosen - 1];
}

int main(void) {
    arena_option options[] = {{"again", "integer", "1", "what another turn is worth", "0", "9"}, {0}};
    return arena_serve(choose, (arena_about){.name = "my-agent", .version = "1.0.0",
        .deterministic = true, .uses_seed = "yes", .options = options});
}
