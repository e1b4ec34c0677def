'use strict';

// The classes of the native module behind private fields: no caller can pass one for the other.
const native = require('./arena_rules.node');

const KEY = Symbol('only a game makes states');

function expect(type, name, value) {
  if (typeof value !== type) {
    throw new TypeError(`${name} is not a ${type}: ${String(value)}`);
  }
  return value;
}

function expectOptional(type, name, value) {
  return value === undefined || value === null ? undefined : expect(type, name, value);
}

function expectOptions(options) {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError('options is not an object');
  }
  for (const [name, value] of Object.entries(options)) {
    if (!['boolean', 'number', 'string'].includes(typeof value)) {
      throw new TypeError(`option ${name} is not a boolean, number or string: ${String(value)}`);
    }
  }
  return { ...options };
}

class Game {
  #native;

  constructor(ruleset, options = {}, seats = undefined, version = undefined) {
    this.#native = new native.Game(
      expect('string', 'ruleset', ruleset),
      expectOptions(options),
      expectOptional('number', 'seats', seats),
      expectOptional('number', 'version', version),
    );
  }

  get ruleset() {
    return this.#native.ruleset;
  }

  get version() {
    return this.#native.version;
  }

  get options() {
    return this.#native.options;
  }

  get seats() {
    return this.#native.seats;
  }

  get hasChance() {
    return this.#native.hasChance;
  }

  get passMove() {
    return this.#native.passMove;
  }

  initial() {
    return new State(KEY, this.#native.initial());
  }

  decode(position) {
    if (!(position instanceof Uint8Array)) {
      throw new TypeError('position is not a Uint8Array');
    }
    // A copy: the native module must not see the array change.
    return new State(KEY, this.#native.decode(Buffer.from(position)));
  }

  state(position) {
    if (typeof position !== 'string' && (typeof position !== 'object' || position === null)) {
      throw new TypeError('position is not an object, and not JSON as a string');
    }
    const json = typeof position === 'string' ? position : JSON.stringify(position);
    return new State(KEY, this.#native.state(json));
  }
}

class State {
  #native;

  constructor(key, state) {
    if (key !== KEY) {
      throw new TypeError('a game makes states: use game.initial() or game.state(position)');
    }
    this.#native = state;
  }

  get seats() {
    return this.#native.seats;
  }

  get toMove() {
    return this.#native.toMove;
  }

  isOver() {
    return this.#native.isOver();
  }

  isChance() {
    return this.#native.isChance();
  }

  legal() {
    return this.#native.legal();
  }

  apply(move) {
    this.#native.apply(expect('number', 'move', move));
  }

  chance() {
    return this.#native.chance();
  }

  weights() {
    return this.#native.weights();
  }

  applyOutcome(outcome) {
    this.#native.applyOutcome(expect('number', 'outcome', outcome));
  }

  values() {
    return this.#native.values();
  }

  scores() {
    return this.#native.scores();
  }

  placement() {
    return this.#native.placement();
  }

  hash() {
    return this.#native.hash();
  }

  notation(move) {
    return this.#native.notation(expect('number', 'move', move));
  }

  outcomeNotation(outcome) {
    return this.#native.outcomeNotation(expect('number', 'outcome', outcome));
  }

  playout(seed) {
    return this.#native.playout(typeof seed === 'bigint' ? seed : expect('number', 'seed', seed));
  }

  encode({ moves = false } = {}) {
    return this.#native.encode(Boolean(moves));
  }

  toJson({ moves = false } = {}) {
    return this.#native.toJson(Boolean(moves));
  }

  clone() {
    return new State(KEY, this.#native.copy());
  }

  copyFrom(other) {
    if (this !== other) {
      this.#native.copyFrom(State.#of(other));
    }
  }

  equals(other) {
    return this.#native.equals(State.#of(other));
  }

  toString() {
    return this.#native.draw();
  }

  static #of(other) {
    if (typeof other !== 'object' || other === null || !(#native in other)) {
      throw new TypeError('other is not a State');
    }
    return other.#native;
  }
}

exports.Game = Game;
exports.State = State;
exports.POINT = 1_000_000;
exports.rulesets = native.rulesets;
