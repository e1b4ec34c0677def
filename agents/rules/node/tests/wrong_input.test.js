'use strict';

// Wrong arguments throw, and change nothing.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const rules = require(process.env.ARENA_RULES_NODE);

const { Game, State } = rules;
const kalah = () => new Game('kalah').initial();
const ludo = () => new Game('chinese-ludo').initial();

function refuses(call, code, message) {
  assert.throws(call, (error) => {
    assert.equal(error.code ?? error.name, code);
    assert.match(error.message, message);
    return true;
  });
}

test('wrong games', () => {
  for (const [values, code, message] of [
    [['snap'], 'InvalidGame', /^unknown ruleset "snap"; there are chess, chinese-ludo/],
    [['kallah'], 'InvalidGame', /did you mean "kalah"/],
    [['kalah', { pitts: 6 }], 'InvalidGame', /unknown option "pitts", did you mean "pits"/],
    [['kalah', { pits: 99 }], 'InvalidGame', /99 is not a whole number from 1 to 8/],
    [['kalah', { pits: 6.5 }], 'InvalidGame', /6.5 is not a whole number from 1 to 8/],
    [['kalah', { pits: NaN }], 'InvalidGame', /NaN is not a whole number/],
    [['kalah', { pits: true }], 'InvalidGame', /true is not a whole number/],
    [['kalah', {}, 3], 'InvalidGame', /kalah is for 2 seats, not 3/],
    [['cowry', {}, 0], 'InvalidGame', /cowry is for 2 to 4 seats, not 0/],
    [['kalah', {}, 2, 9], 'InvalidGame', /kalah version 9 is not available/],
    [['cowry', {}, 2.5], 'InvalidArgument', /^2.5 is not a whole number/],
    [['cowry', {}, -1], 'InvalidArgument', /^seats: -1 is out of range/],
    [['cowry', {}, 2, 1e12], 'InvalidArgument', /^version: 1000000000000 is out of range/],
    [[], 'TypeError', /^ruleset is not a string: undefined/],
    [['kalah', null], 'TypeError', /^options is not an object/],
    [['kalah', []], 'TypeError', /^options is not an object/],
    [['kalah', { pits: null }], 'TypeError', /^option pits is not a boolean, number or string/],
    [['kalah', { pits: [6] }], 'TypeError', /^option pits is not/],
    [['kalah', {}, '2'], 'TypeError', /^seats is not a number: 2/],
  ]) {
    refuses(() => new Game(...values), code, message);
  }
});

test('illegal moves and impossible outcomes', () => {
  const [decision, chance] = [kalah(), ludo()];
  for (const id of [-1, 6, 65536, 2 ** 31, 2 ** 53 - 1]) {
    refuses(() => decision.apply(id), 'IllegalMove', /legal moves: 0, 1, 2, 3, 4, 5$/);
    refuses(() => decision.notation(id), 'IllegalMove', /is not legal/);
    refuses(() => chance.applyOutcome(id), 'IllegalMove', /outcomes: 0, 1, 2, 3, 4, 5$/);
    refuses(() => chance.outcomeNotation(id), 'IllegalMove', /is not possible/);
  }
  for (const id of [0.5, NaN, Infinity, -Infinity, 1e300]) {
    refuses(() => decision.apply(id), 'InvalidArgument', /is not a whole number/);
    refuses(() => chance.applyOutcome(id), 'InvalidArgument', /is not a whole number/);
  }
  for (const id of [undefined, null, '0', 0n, [0], {}]) {
    refuses(() => decision.apply(id), 'TypeError', /^move is not a number/);
    refuses(() => chance.applyOutcome(id), 'TypeError', /^outcome is not a number/);
  }
  assert(decision.equals(kalah()) && chance.equals(ludo()));
});

test('chance events are no decisions', () => {
  const [decision, chance] = [kalah(), ludo()];
  for (const call of [() => chance.legal(), () => chance.apply(0), () => chance.notation(0)]) {
    refuses(call, 'WrongNode', /^a chance outcome is drawn next/);
  }
  for (const call of [
    () => decision.chance(),
    () => decision.weights(),
    () => decision.applyOutcome(0),
    () => decision.outcomeNotation(0),
    () => decision.placement(),
  ]) {
    refuses(call, 'WrongNode', /^seat 0 moves next/);
  }
});

test('nothing follows the end', () => {
  const state = kalah();
  while (!state.isOver()) {
    state.apply(state.legal()[0]);
  }
  for (const call of [
    () => state.legal(),
    () => state.chance(),
    () => state.apply(0),
    () => state.applyOutcome(0),
    () => state.notation(0),
  ]) {
    refuses(call, 'WrongNode', /^the game is over$/);
  }
  assert.deepEqual(state.playout(7), state.values());
});

test('wrong positions', () => {
  const game = new Game('kalah');
  for (const [position, message] of [
    ['', /no JSON object/],
    ['[]', /no JSON object/],
    [[], /no JSON object/],
    ['['.repeat(100000), /no JSON object/],
    [{}, /another number of pits/],
    [{ pits: -6 }, /pits: -6 is not a whole number/],
    [{ pits: 6, board: 4 }, /board: not a list/],
    [{ pits: 6, board: ['4'] }, /board: "4" is not a whole number/],
    [{ pits: 6, board: Array(100000).fill(4) }, /board has another length/],
  ]) {
    refuses(() => game.state(position), 'InvalidPosition', message);
  }
  refuses(() => game.decode(new Uint8Array([255])), 'InvalidPosition', /^not a position of kalah/);
  for (const position of [undefined, null, 3, 3n, Symbol('x')]) {
    refuses(() => game.state(position), 'TypeError', /^position is not an object/);
    refuses(() => game.decode(position), 'TypeError', /^position is not a Uint8Array/);
  }
  const circle = {};
  circle.circle = circle;
  assert.throws(() => game.state(circle), TypeError);
});

test('seeds', () => {
  const state = kalah();
  assert.deepEqual(state.playout(5), state.playout(5n));
  assert.equal(state.playout(2n ** 64n - 1n).length, 2);
  for (const seed of [-1, -1n, 2n ** 64n, 1.5, NaN]) {
    refuses(() => state.playout(seed), 'InvalidArgument', /not? /);
  }
  refuses(() => state.playout('5'), 'TypeError', /^seed is not a number/);
});

test('objects are what they seem', () => {
  refuses(() => new State(), 'TypeError', /^a game makes states/);
  const state = kalah();
  const forged = Object.setPrototypeOf(new Game('kalah'), State.prototype);
  for (const other of [undefined, null, {}, new Game('kalah'), forged, Object.create(state)]) {
    assert.throws(() => state.copyFrom(other), TypeError);
    assert.throws(() => state.equals(other), TypeError);
    assert.throws(() => State.prototype.legal.call(other), TypeError);
  }
  state.copyFrom(state);
  assert(state.equals(kalah()));
});

test('copies are independent', () => {
  const state = kalah();
  const [copy, other] = [state.clone(), ludo()];
  other.copyFrom(state);
  state.apply(0);
  assert(copy.equals(kalah()) && other.equals(kalah()) && !state.equals(kalah()));
  assert(!new Game('kalah', { max_plies: 100 }).initial().equals(kalah()));
  assert(state.toString().includes('4'));
});

test('types describe all members, and no other', () => {
  const types = fs.readFileSync(path.join(process.env.ARENA_RULES_NODE, 'index.d.ts'), 'utf8');
  const exported = [...types.matchAll(/^export (?:const|function|class) (\w+)/gm)];
  assert.deepEqual(exported.map((match) => match[1]).sort(), Object.keys(rules).sort());
  for (const [name, of] of Object.entries({ Game, State })) {
    const body = types.match(new RegExp(`^export class ${name} \\{\\n([^]*?)^\\}`, 'm'))[1];
    const members = [...body.matchAll(/^ {2}(?:private )?(?:get )?(\w+)\(/gm)];
    const found = Object.getOwnPropertyNames(of.prototype).sort();
    assert.deepEqual(members.map((match) => match[1]).sort(), found);
  }
});
