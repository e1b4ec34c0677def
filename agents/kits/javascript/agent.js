// my-agent: takes as much as it can, and chooses at random between equal moves.
const { option, serve } = require("./arena.js");

// As the rulesets name what a move takes.
const GAINS = ["captured", "banked", "hits"];

// Returns the id of one of the legal moves.
function choose(decision) {
  const again = Number(decision.botOptions.again);
  // A game of one's own may not say what its moves do.
  const moves = decision.position.moves ?? decision.legalMoves.map((id) => ({ id }));
  const gains = moves.map((move) =>
    GAINS.reduce((sum, key) => sum + (move[key] ?? 0), move.moves_again ? again : 0),
  );
  const best = Math.max(...gains);
  return decision.rng.choice(decision.legalMoves.filter((_, at) => gains[at] === best));
}

serve(choose, {
  name: "my-agent",
  version: "1.0.0",
  deterministic: true,
  usesSeed: true,
  options: [option("again", 1, "what another turn is worth", { min: 0, max: 9 })],
});
