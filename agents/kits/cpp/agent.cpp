// my-agent: takes as much as it can, and chooses at random between equal moves.
#include "arena.hpp"

#include <algorithm>
#include <vector>

// Returns the id of one of the legal moves.
static long choose(arena::Decision& decision) {
    const double again = decision.bot_options["again"].number();
    std::vector<double> gains;
    // As the rulesets name what a move takes.
    for (const auto& move : decision.position["moves"].list())
        gains.push_back(move["captured"].number() + move["banked"].number() +
                        move["hits"].number() + again * move["moves_again"].number());
    const double best = *std::max_element(gains.begin(), gains.end());
    std::vector<long> equal;
    for (std::size_t i = 0; i < gains.size(); i++)
        if (gains[i] == best) equal.push_back(decision.legal_moves[i]);
    return decision.rng.choice(equal);
}

int main() {
    arena::About about("my-agent", "1.0.0");
    about.deterministic().uses_seed(true);
    about.option("again", 1, "what another turn is worth", 0, 9);
    return arena::serve(choose, about);
}
