// mcts: Monte Carlo tree search (UCT) with chance nodes, for every ruleset and number of seats.
//
// The policy of the TypeScript kit with Arena's own rules: see "Search ahead" in the README of the kit.
import { POINT, type State } from "arena-rules";
import { type Decision, type Rng, option, serve } from "./arena.js";

const EXPLORATION = 0.1 * POINT; // leaves have estimated values, which vary less than results

// An edge of the tree: how often it was chosen, and what it brought the seat that chose it.
class Node {
  visits = 0;
  sum = 0;
  children = new Map<number, Node>();
}

// The legal move with the highest upper confidence bound (UCB1); unvisited moves come first.
function select({ visits, children }: Node, state: State, rng: Rng): number {
  if (children.size === 0) {
    const moves = state.legal();
    rng.shuffle(moves);
    for (const move of moves) children.set(move, new Node());
  }
  const factor = EXPLORATION * Math.sqrt(Math.log(visits + 1));
  let [best, bestBound] = [-1, -1];
  for (const [move, { visits: n, sum }] of children) {
    const bound = n === 0 ? Infinity : sum / n + factor / Math.sqrt(n);
    if (bound > bestBound) [best, bestBound] = [move, bound];
  }
  return best;
}

// Draws a chance outcome.
function draw(state: State, rng: Rng): number {
  const outcomes = state.chance();
  let point = rng.random();
  return (outcomes.find(([, probability]) => (point -= probability) < 0) ?? outcomes[0])[0];
}

// The most visited move.
function search(rootState: State, iterations: number, rng: Rng): number {
  const [root, state] = [new Node(), rootState.clone()];
  for (let number = 0; number < iterations; number++) {
    state.copyFrom(rootState);
    const path: [Node, number][] = [[root, 0]];
    for (let [node, isNew] = [root, false]; !isNew && !state.isOver(); ) {
      const seat = state.toMove;
      const event = seat === null ? draw(state, rng) : select(node, state, rng);
      seat === null ? state.applyOutcome(event) : state.apply(event);
      let child = node.children.get(event);
      if (child === undefined) node.children.set(event, (child = new Node()));
      node = child;
      isNew = seat !== null && node.visits === 0;
      path.push([node, seat ?? 0]);
    }
    const values = state.values();
    for (const [node, seat] of path) {
      node.visits += 1;
      node.sum += values[seat];
    }
  }
  return [...root.children].reduce((a, b) => (b[1].visits > a[1].visits ? b : a))[0];
}

// Returns the id of one of the legal moves.
function choose(decision: Decision): number {
  return search(decision.state(), Number(decision.botOptions.iterations), decision.rng);
}

serve(choose, {
  name: "mcts",
  version: "1.0.0",
  deterministic: true,
  usesSeed: true,
  omit_move_details: true,
  options: [option("iterations", 1000, "positions evaluated for each move", { min: 1, max: 5000 })],
});
