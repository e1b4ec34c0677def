#!/usr/bin/env node
// mcts: Monte Carlo tree search (UCT) with chance nodes, for every ruleset and number of seats.
//
// It speaks the line protocol of agents/PROTOCOL.md. It needs only the package arena-rules.

import { createInterface } from 'node:readline';
import { Game, POINT } from 'arena-rules';

const EXPLORATION = 0.1 * POINT; // leaves have estimated values, which vary less than results
const OPTION = { name: 'iterations', type: 'integer', default_value: '1000' };
Object.assign(OPTION, { min: '1', max: '1000000', summary: 'positions evaluated for each move' });
const BOT = { name: 'mcts', deterministic: true, uses_seed: 'yes', options: [OPTION] };
const HELLO = { type: 'hello', protocol: 1, name: 'mcts', bots: [BOT], omit_move_details: true };

// Random numbers below 1 from a seed of 64 bits (SplitMix64).
function random(seed) {
  let state = seed;
  return () => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = BigInt.asUintN(64, (state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
  };
}

// An edge of the tree: how often it was chosen, and what it brought the seat that chose it.
class Node {
  visits = 0;
  sum = 0;
  children = new Map();
}

// The legal move with the highest upper confidence bound (UCB1); unvisited moves come first.
function choose({ visits, children }, state, rng) {
  if (children.size === 0) {
    const shuffled = state.legal().map((move) => [rng(), move]).sort(([a], [b]) => a - b);
    for (const [, move] of shuffled) children.set(move, new Node());
  }
  const factor = EXPLORATION * Math.sqrt(Math.log(visits + 1));
  const bound = ({ visits: n, sum }) => (n === 0 ? Infinity : sum / n + factor / Math.sqrt(n));
  return [...children].reduce((a, b) => (bound(b[1]) > bound(a[1]) ? b : a))[0];
}

// Draws a chance outcome.
function draw(state, rng) {
  const outcomes = state.chance();
  let point = rng();
  return (outcomes.find(([, probability]) => (point -= probability) < 0) ?? outcomes[0])[0];
}

// The most visited move.
function search(rootState, iterations, rng) {
  const [root, state] = [new Node(), rootState.clone()];
  for (let number = 0; number < iterations; number++) {
    state.copyFrom(rootState);
    const path = [[root, 0]];
    for (let [node, isNew] = [root, false]; !isNew && !state.isOver(); ) {
      const seat = state.toMove;
      const event = seat === null ? draw(state, rng) : choose(node, state, rng);
      seat === null ? state.applyOutcome(event) : state.apply(event);
      if (!node.children.has(event)) node.children.set(event, new Node());
      node = node.children.get(event);
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

const games = new Map();
const replies = {
  hello: () => HELLO,
  game: ({ context, ruleset, options, seats, bot_options: { iterations } }) =>
    void games.set(context, [new Game(ruleset, options, seats), Number(iterations)]),
  ask({ batch, decisions }) {
    const moves = decisions.map(({ context, legal_moves: legal, position, seed }) => {
      const [game, iterations] = games.get(context);
      if (legal.length === 1) return legal[0];
      return search(game.state(position), iterations, random(BigInt(seed)));
    });
    return { type: 'answer', batch, moves };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  const reply = replies[message.type]?.(message);
  if (reply) console.log(JSON.stringify(reply));
}
