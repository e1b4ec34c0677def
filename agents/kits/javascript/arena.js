"use strict";
// Arena's line protocol for agents, version 1, with Node alone.
//
// `serve` answers until the end of standard input. What the policy prints goes to standard error.

// SplitMix64: random numbers that follow from a seed, the same in every kit. A word of 64 bits is
// two halves, because numbers are exact only to 2^53, and BigInt is slow.
class Rng {
  constructor(seed) {
    this.high = Number(seed >> 32n) >>> 0;
    this.low = Number(seed & 0xffffffffn);
    // The halves of the last word.
    this.upper = 0;
    this.lower = 0;
  }

  // A whole number from 0 to 2^64 - 1.
  word() {
    this._next();
    return (BigInt(this.upper) << 32n) | BigInt(this.lower);
  }

  // A whole number from 0 to bound - 1; bound is 1 to 2^20.
  below(bound) {
    this._next();
    return Math.floor((this.upper * bound + Math.floor((this.lower * bound) / 2 ** 32)) / 2 ** 32);
  }

  // A real number in [0, 1).
  random() {
    this._next();
    return (this.upper * 2 ** 21 + (this.lower >>> 11)) / 2 ** 53;
  }

  // One of the items.
  choice(items) {
    return items[this.below(items.length)];
  }

  // Puts a list into a random order.
  shuffle(items) {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [items[last], items[other]] = [items[other], items[last]];
    }
  }

  _next() {
    const low = this.low + 0x7f4a7c15;
    this.high = (this.high + 0x9e3779b9 + (low > 0xffffffff ? 1 : 0)) >>> 0;
    this.low = low >>> 0;
    this.upper = this.high;
    this.lower = this.low;
    this._mix(30);
    this._multiply(0xbf58476d, 0x1ce4e5b9);
    this._mix(27);
    this._multiply(0x94d049bb, 0x133111eb);
    this._mix(31);
  }

  // word ^= word >> bits
  _mix(bits) {
    this.lower = (this.lower ^ ((this.lower >>> bits) | (this.upper << (32 - bits)))) >>> 0;
    this.upper = (this.upper ^ (this.upper >>> bits)) >>> 0;
  }

  // word *= high * 2^32 + low
  _multiply(high, low) {
    const [a, b] = [this.lower & 0xffff, this.lower >>> 16];
    const [c, d] = [low & 0xffff, low >>> 16];
    const middle = b * c + Math.floor((a * c) / 65536);
    const other = a * d + (middle & 0xffff);
    const carry = b * d + Math.floor(middle / 65536) + Math.floor(other / 65536);
    this.upper = (carry + Math.imul(this.upper, low) + Math.imul(this.lower, high)) >>> 0;
    this.lower = Math.imul(this.lower, low) >>> 0;
  }
}

// The package arena-rules, which only agents that search ahead need.
function rulesPackage() {
  try {
    return require("arena-rules");
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND" || !String(error).includes("'arena-rules'")) throw error;
    throw new Error(
      "decision.state() needs the package arena-rules, which is not installed (for Node 18 or newer): run " +
        "`npm install arena-rules-*.tgz` in the agent's folder, with the package of a release of Arena, or " +
        "`npm install --install-links ARENA/target/rules/node` after `agents/rules/run build node`",
    );
  }
}

// A request for a move. All values of options are texts.
class Decision {
  constructor(game, decision, timeBudgetUs) {
    this._game = game;
    this._decision = decision;
    this._rng = undefined;
    this.timeBudgetUs = timeBudgetUs; // for the whole batch; 0: no limit
  }

  get ruleset() { return this._game.ruleset; }
  get rulesVersion() { return this._game.rules_version; }
  get options() { return this._game.options; }
  get seats() { return this._game.seats; }
  get bot() { return this._game.bot; }
  get botOptions() { return this._game.bot_options; }
  get nodes() { return BigInt(this._game.nodes); }
  get seat() { return this._decision.seat; }
  get number() { return this._decision.number; }
  get legalMoves() { return this._decision.legal_moves; }
  get notations() { return this._decision.notations ?? []; }
  get position() { return this._decision.position; }
  get clock() { return this._decision.clock; } // undefined: there is no clock
  get game() { return this._decision.game; } // for sticky agents
  get moves() { return this._decision.moves ?? []; } // for sticky agents

  // A number of 64 bits, new for each decision.
  get seed() { return BigInt(this._decision.seed); }

  // Random numbers that follow from the seed.
  get rng() { return (this._rng ??= new Rng(BigInt(this._decision.seed))); }

  // The position as a state of the package arena-rules, to search ahead.
  state() {
    if (!this._game.rules) {
      const { Game } = rulesPackage();
      this._game.rules = new Game(this.ruleset, this.options, this.seats);
    }
    return this._game.rules.state(this.position);
  }
}

const KINDS = { boolean: "bool", number: "integer", string: "text", object: "numbers" };

// An option of the agent: its type is that of the default. `more` has `min` and `max` of a number,
// `choices` of a text, `type: "real"`, or other fields of the protocol.
function option(name, value, summary = "", more = {}) {
  const type = more.choices ? "choice" : KINDS[typeof value];
  const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
  const all = { name, summary, type, default_value: text, ...more };
  if (Array.isArray(value)) all.length ??= value.length;
  for (const bound of ["min", "max"]) if (bound in all) all[bound] = String(all[bound]);
  return all;
}

// Answers decisions with `choose(decision)`, which returns a move or a promise of one. Other fields
// of `about` are fields of the message `hello`, such as `omit_move_details: true`.
function serve(choose, about) {
  const { name, summary, rulesets, options, deterministic, usesSeed, ...fields } = about;
  const bot = { name, summary, rulesets, options, deterministic };
  if (usesSeed !== undefined) bot.uses_seed = usesSeed ? "yes" : "no";
  const hello = { type: "hello", protocol: 1, name, bots: [bot], ...fields };

  // Whatever prints to standard output must not disturb the protocol.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);

  const games = new Map();
  function handle(line) {
    const message = JSON.parse(line);
    if (message.type === "ask") return answer(choose, games, message);
    if (message.type === "hello") return JSON.stringify(hello);
    if (message.type === "game") games.set(message.context, message);
    return undefined;
  }

  let parts = [];
  let queue = Promise.resolve();
  let waiting = 0;
  const send = (text) => text !== undefined && write(text + "\n");
  function take(line) {
    // Answers come in order, also those of a policy with promises.
    if (waiting === 0) {
      const result = handle(line);
      if (!(result instanceof Promise)) return send(result);
      queue = result;
    } else {
      queue = queue.then(() => handle(line));
    }
    waiting++;
    queue = queue.then(send).finally(() => waiting--);
    return undefined;
  }
  process.stdin.on("data", (chunk) => {
    let from = 0;
    for (let end; (end = chunk.indexOf(10, from)) >= 0; from = end + 1) {
      parts.push(chunk.subarray(from, end));
      const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      take(line.toString());
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
  process.stdin.on("end", () => queue.then(() => process.exit(0)));
}

function answer(choose, games, { batch, decisions, time_budget_us: budget = 0 }) {
  const moves = new Array(decisions.length);
  let asynchronous = false;
  try {
    for (let at = 0; at < decisions.length; at++) {
      const decision = decisions[at];
      moves[at] = choose(new Decision(games.get(decision.context), decision, budget));
      asynchronous ||= moves[at] instanceof Promise;
    }
    if (!asynchronous) return answered(batch, moves);
  } catch (error) {
    return failed(batch, error);
  }
  return Promise.all(moves).then((all) => answered(batch, all)).catch((error) => failed(batch, error));
}

function answered(batch, moves) {
  for (const move of moves) {
    if (!Number.isInteger(move)) throw new TypeError(`the policy returned ${move}, not a move id`);
  }
  return `{"type":"answer","batch":${batch},"moves":[${moves.join(",")}]}`;
}

function failed(batch, error) {
  console.error(error);
  return JSON.stringify({ type: "error", batch, message: String(error) });
}

module.exports = { Decision, Rng, option, serve };
