// Takes as much as it can: in cowry the most hits and then the farthest square; in Kalah another
// turn and then the most stones. It chooses at random between equal moves.
import { serve } from "arena-agent";

const worth = {
  cowry: (move) => 1000 * move.hits + move.to,
  kalah: (move) => 1000 * move.moves_again + move.banked,
};

function choose(decision) {
  const values = decision.position.moves.map(worth[decision.ruleset]);
  const best = Math.max(...values);
  return decision.rng.choice(decision.legalMoves.filter((_, at) => values[at] === best));
}

serve(choose, {
  name: "greedy",
  version: "1.0.0",
  summary: "the most that one move can take",
  rulesets: ["cowry", "kalah"],
  deterministic: true,
  usesSeed: true,
});
