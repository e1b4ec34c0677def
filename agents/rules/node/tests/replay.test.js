'use strict';

// Replays random games of the engine, which the program `reference` writes.
//
// ARENA_RULES_NODE is the folder of the built package, ARENA_RULES_GAMES the number of games,
// ARENA_RULES_REFERENCE the program. ../../tests/README.md describes the lines.

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { test } = require('node:test');
const { Game, rulesets } = require(process.env.ARENA_RULES_NODE);

const GAMES = Number(process.env.ARENA_RULES_GAMES ?? 2000);

const numbers = (text) => text.split(',').map(Number);

// Compares what the lines say with what the module does.
class Replay {
  games = 0;
  rulesets = new Set();

  line(line) {
    const [kind, ...fields] = line.split('\t');
    this[`on_${kind}`](...fields);
  }

  on_game(ruleset, version, seats, options) {
    this.game = new Game(ruleset, JSON.parse(options), Number(seats), Number(version));
    assert.deepEqual(this.game.options, JSON.parse(options));
    assert.equal(`${this.game.ruleset} ${this.game.version}`, `${ruleset} ${version}`);
    assert.equal(this.game.seats, Number(seats));
  }

  on_initial() {
    this.state = this.game.initial();
    this.rulesets.add(this.game.ruleset);
    this.games += 1;
  }

  compare(position, values) {
    assert.equal(this.state.hash().toString(16).padStart(16, '0'), position);
    assert.equal(this.state.values().join(','), values);
  }

  on_position(position, message, text) {
    const { state, game } = this;
    assert.equal(Buffer.from(state.encode()).toString('hex'), message);
    assert.deepEqual(JSON.parse(state.toJson()), JSON.parse(text));
    const same = [
      game.decode(Buffer.from(message, 'hex')),
      game.state(text),
      game.state(JSON.parse(text)),
      state.clone(),
    ];
    for (const other of same) {
      assert(other.equals(state));
      assert.equal(other.hash().toString(16).padStart(16, '0'), position);
    }
  }

  on_playout(seed, values) {
    assert.equal(this.state.playout(BigInt(seed)).join(','), values);
  }

  on_move(position, values, seat, legal, move, notation) {
    const { state } = this;
    this.compare(position, values);
    assert(!state.isOver() && !state.isChance());
    assert.equal(state.toMove, Number(seat));
    assert.equal(state.legal().join(','), legal);
    assert.equal(state.notation(Number(move)), notation);
    state.apply(Number(move));
  }

  on_chance(position, values, weights, outcome, notation) {
    const { state } = this;
    this.compare(position, values);
    assert(!state.isOver() && state.isChance() && state.toMove === null);
    assert.equal(state.weights().join(','), weights);
    const all = numbers(weights);
    const sum = all.reduce((one, other) => one + other);
    const pairs = all.map((weight, index) => [index, weight / sum]).filter((pair) => pair[1] > 0);
    assert.equal(state.chance().join(' '), pairs.join(' '));
    assert.equal(state.outcomeNotation(Number(outcome)), notation);
    state.applyOutcome(Number(outcome));
  }

  on_over(position, values, scores, ranks) {
    const { state } = this;
    this.compare(position, values);
    assert(state.isOver() && !state.isChance() && state.toMove === null);
    assert.equal(state.scores().join(','), scores);
    assert.equal(state.placement().join(','), ranks);
  }

  on_end(games) {
    assert.equal(this.games, Number(games));
  }
}

async function* lines(games, seed) {
  const program = process.env.ARENA_RULES_REFERENCE;
  const child = spawn(program, [games, seed].map(String), { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    yield* createInterface({ input: child.stdout });
  } finally {
    // After a difference, it would wait for a reader.
    child.kill();
    child.stdout.destroy();
  }
}

test('random games are those of the engine', async () => {
  const replay = new Replay();
  let number = 0;
  for await (const line of lines(GAMES, 1)) {
    number += 1;
    try {
      replay.line(line);
    } catch (error) {
      throw new Error(`line ${number}: ${line}`, { cause: error });
    }
  }
  assert.equal(replay.games, GAMES);
  assert.deepEqual([...replay.rulesets].sort(), rulesets());
});

// The field with another last digit or letter, or another number in JSON.
function change(field) {
  if (field.startsWith('{')) {
    const position = JSON.parse(field);
    return JSON.stringify({ ...position, to_move: position.to_move + 1 });
  }
  return field.slice(0, -1) + (field.endsWith('0') ? '1' : '0');
}

// Each field of each kind of line.
test('a changed line is a difference', async () => {
  const changed = new Map();
  const replay = new Replay();
  for await (const line of lines(600, 2)) {
    const [kind, ...fields] = line.split('\t');
    const index = changed.get(kind) ?? 0;
    const compared = ['position', 'playout', 'move', 'chance', 'over'].includes(kind);
    if (compared && index < fields.length) {
      // Another seed may lead to the same values.
      if (kind !== 'playout' || index > 0) {
        const other = [...fields];
        other[index] = change(fields[index]);
        const before = replay.state.clone();
        assert.throws(() => replay.line([kind, ...other].join('\t')), `${kind} ${index}`);
        replay.state = before;
      }
      changed.set(kind, index + 1);
    }
    replay.line(line);
  }
  const counts = { position: 3, playout: 2, move: 6, chance: 5, over: 4 };
  assert.deepEqual(Object.fromEntries(changed), counts);
});
