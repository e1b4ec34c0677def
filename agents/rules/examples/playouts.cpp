// playouts: chooses the move after which random games end best, in every ruleset.
//
// The policy of the C++ kit with Arena's own rules: see "Search ahead" in the README of the kit.
#include "arena.hpp"
#include "arena_rules.h"

#include <algorithm>
#include <memory>
#include <vector>

// Objects of the library, which free themselves.
template <auto free> struct Free {
    template <typename T> void operator()(T* object) const { free(object); }
};
using Game = std::unique_ptr<ArenaGame, Free<arena_game_free>>;
using State = std::unique_ptr<ArenaState, Free<arena_state_free>>;

// Calls a function of the library; throws the reason if it fails.
template <typename Function, typename... Arguments> void call(Function function, Arguments... arguments) {
    ArenaError error;
    if (function(arguments..., &error) != ARENA_STATUS_OK) throw std::runtime_error(error.message);
}

static Game game_of(const arena::Decision& decision) {
    ArenaGame* game = nullptr;
    call(arena_game_new, decision.ruleset.c_str(), decision.options.json().c_str(),
         static_cast<std::size_t>(decision.seats), static_cast<std::uint32_t>(decision.rules_version), &game);
    return Game(game);
}

static State state_of(const arena::Decision& decision) {
    ArenaState* state = nullptr;
    const std::string position = decision.position.json();
    call(arena_state_from_json, game_of(decision).get(), position.c_str(), position.size(), &state);
    return State(state);
}

static State copy_of(const State& state) {
    ArenaState* copy = nullptr;
    call(arena_state_clone, state.get(), &copy);
    return State(copy);
}

// Returns the legal move with the highest sum of values. Each move has playouts with the same seeds.
static long choose(arena::Decision& decision) {
    const State state = state_of(decision), child = copy_of(state);
    const auto all = static_cast<std::size_t>(decision.bot_options["playouts"].number());
    const std::size_t playouts = std::max<std::size_t>(1, all / decision.legal_moves.size());
    long best = 0;
    std::int64_t best_sum = -1;
    for (const long move : decision.legal_moves) {
        std::int64_t values[ARENA_SEATS_MAX], sum = 0;
        std::size_t seats = 0;
        call(arena_state_copy, child.get(), state.get());
        call(arena_state_apply, child.get(), static_cast<std::uint32_t>(move));
        for (std::size_t k = 0; k < playouts; k++) {
            call(arena_state_playout, child.get(), decision.seed + k, values, ARENA_SEATS_MAX, &seats);
            sum += values[decision.seat];
        }
        if (sum > best_sum) {
            best_sum = sum;
            best = move;
        }
    }
    return best;
}

int main() {
    arena::About about("playouts", "1.0.0");
    about.deterministic().uses_seed(true).field("omit_move_details", "true");
    about.option("playouts", 100, "random games for each decision", 1, 300);
    return arena::serve(choose, about);
}
