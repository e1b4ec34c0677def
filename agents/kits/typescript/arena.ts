// Arena's line protocol for agents, version 1, with Node alone.
//
// `serve` answers until the end of standard input. What the policy prints goes to standard error.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// A position has the fields of its message in proto/arena/games/v1. `moves` has the legal moves with
// their effects; it is empty with `omit_move_details`.
export type Move = { id: number; [effect: string]: number | boolean };
export type Position = { moves: Move[]; [field: string]: any };

export interface Clock {
  left_us: number;
  increment_us: number;
  moves_to_go: number;
  seats_left_us: number[];
}

type Options = { [name: string]: string };

interface GameMessage {
  ruleset: string;
  rules_version: number;
  seats: number;
  options: Options;
  bot: string;
  bot_options: Options;
  nodes: string;
  rules?: any; // made when it is needed
}

interface DecisionMessage {
  context: number;
  seat: number;
  number: number;
  seed: string;
  legal_moves: number[];
  notations?: string[];
  position: Position;
  clock?: Clock;
  game?: string;
  moves?: [number, number][];
}

interface AskMessage {
  batch: number;
  time_budget_us?: number;
  decisions: DecisionMessage[];
}

export interface Option {
  name: string;
  summary?: string;
  type: "bool" | "integer" | "real" | "choice" | "text" | "numbers";
  default_value: string;
  min?: string;
  max?: string;
  choices?: string[];
  length?: number;
  rulesets?: string[];
  uses_seed?: boolean;
}

// The agent's description. Other fields are fields of the message `hello`.
export interface About {
  name: string;
  version?: string;
  author?: string;
  summary?: string;
  rulesets?: string[];
  options?: Option[];
  deterministic?: boolean;
  usesSeed?: boolean;
  batch_size?: number;
  omit_move_details?: boolean;
  sticky?: boolean;
  concurrent?: boolean;
}

export type Policy = (decision: Decision) => number | Promise<number>;

// SplitMix64: random numbers that follow from a seed, the same in every kit. A word of 64 bits is
// two halves, because numbers are exact only to 2^53, and BigInt is slow.
export class Rng {
  private high: number;
  private low: number;
  // The halves of the last word.
  private upper = 0;
  private lower = 0;

  constructor(seed: bigint) {
    this.high = Number(seed >> 32n) >>> 0;
    this.low = Number(seed & 0xffffffffn);
  }

  // A whole number from 0 to 2^64 - 1.
  word(): bigint {
    this.next();
    return (BigInt(this.upper) << 32n) | BigInt(this.lower);
  }

  // A whole number from 0 to bound - 1; bound is 1 to 2^20.
  below(bound: number): number {
    this.next();
    return Math.floor((this.upper * bound + Math.floor((this.lower * bound) / 2 ** 32)) / 2 ** 32);
  }

  // A real number in [0, 1).
  random(): number {
    this.next();
    return (this.upper * 2 ** 21 + (this.lower >>> 11)) / 2 ** 53;
  }

  // One of the items.
  choice<T>(items: readonly T[]): T {
    return items[this.below(items.length)];
  }

  // Puts a list into a random order.
  shuffle<T>(items: T[]): void {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [items[last], items[other]] = [items[other], items[last]];
    }
  }

  private next(): void {
    const low = this.low + 0x7f4a7c15;
    this.high = (this.high + 0x9e3779b9 + (low > 0xffffffff ? 1 : 0)) >>> 0;
    this.low = low >>> 0;
    this.upper = this.high;
    this.lower = this.low;
    this.mix(30);
    this.multiply(0xbf58476d, 0x1ce4e5b9);
    this.mix(27);
    this.multiply(0x94d049bb, 0x133111eb);
    this.mix(31);
  }

  // word ^= word >> bits
  private mix(bits: number): void {
    this.lower = (this.lower ^ ((this.lower >>> bits) | (this.upper << (32 - bits)))) >>> 0;
    this.upper = (this.upper ^ (this.upper >>> bits)) >>> 0;
  }

  // word *= high * 2^32 + low
  private multiply(high: number, low: number): void {
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
function rulesPackage(): any {
  try {
    return require("arena-rules");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "MODULE_NOT_FOUND" || !String(error).includes("'arena-rules'")) throw error;
    throw new Error(
      "decision.state() needs the package arena-rules, which is not installed (for Node 18 or newer): run " +
        "`npm install arena-rules-*.tgz` in the agent's folder, with the package of a release of Arena, or " +
        "`npm install --install-links ARENA/target/rules/node` after `agents/rules/run build node`",
    );
  }
}

// A request for a move. All values of options are texts.
export class Decision {
  private cached: Rng | undefined;

  constructor(
    private readonly context: GameMessage,
    private readonly decision: DecisionMessage,
    readonly timeBudgetUs: number, // for the whole batch; 0: no limit
  ) {}

  get ruleset(): string { return this.context.ruleset; }
  get rulesVersion(): number { return this.context.rules_version; }
  get options(): Options { return this.context.options; }
  get seats(): number { return this.context.seats; }
  get bot(): string { return this.context.bot; }
  get botOptions(): Options { return this.context.bot_options; }
  get nodes(): bigint { return BigInt(this.context.nodes); }
  get seat(): number { return this.decision.seat; }
  get number(): number { return this.decision.number; }
  get legalMoves(): number[] { return this.decision.legal_moves; }
  get notations(): string[] { return this.decision.notations ?? []; }
  get position(): Position { return this.decision.position; }
  get clock(): Clock | undefined { return this.decision.clock; } // undefined: there is no clock
  get game(): string | undefined { return this.decision.game; } // for sticky agents
  get moves(): [number, number][] { return this.decision.moves ?? []; } // for sticky agents

  // A number of 64 bits, new for each decision.
  get seed(): bigint { return BigInt(this.decision.seed); }

  // Random numbers that follow from the seed.
  get rng(): Rng { return (this.cached ??= new Rng(BigInt(this.decision.seed))); }

  // The position as a `State` of the package arena-rules, to search ahead.
  state(): any {
    if (!this.context.rules) {
      const { Game } = rulesPackage();
      this.context.rules = new Game(this.ruleset, this.options, this.seats);
    }
    return this.context.rules.state(this.position);
  }
}

type Value = boolean | number | string | number[];
type More = Partial<Omit<Option, "min" | "max">> & { min?: number; max?: number };
const KINDS = { boolean: "bool", number: "integer", string: "text", object: "numbers" } as const;

// An option of the agent: its type is that of the default. `more` has `min` and `max` of a number,
// `choices` of a text, `type: "real"`, or other fields of the protocol.
export function option(name: string, value: Value, summary = "", more: More = {}): Option {
  const { min, max, ...others } = more;
  const kind = KINDS[typeof value as keyof typeof KINDS];
  const all: Option = {
    name,
    summary,
    type: more.choices ? "choice" : kind,
    default_value: Array.isArray(value) ? JSON.stringify(value) : String(value),
    ...others,
  };
  if (Array.isArray(value)) all.length ??= value.length;
  if (min !== undefined) all.min = String(min);
  if (max !== undefined) all.max = String(max);
  return all;
}

// Answers decisions with `choose(decision)`, which returns a move or a promise of one.
export function serve(choose: Policy, about: About): void {
  const { name, summary, rulesets, options, deterministic, usesSeed, ...fields } = about;
  const uses_seed = usesSeed === undefined ? undefined : usesSeed ? "yes" : "no";
  const bot = { name, summary, rulesets, options, deterministic, uses_seed };
  const hello = { type: "hello", protocol: 1, name, bots: [bot], ...fields };

  // Whatever prints to standard output must not disturb the protocol.
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;

  const games = new Map<number, GameMessage>();
  function handle(line: string): string | undefined | Promise<string> {
    const message = JSON.parse(line);
    if (message.type === "ask") return answer(choose, games, message);
    if (message.type === "hello") return JSON.stringify(hello);
    if (message.type === "game") games.set(message.context, message);
    return undefined;
  }

  let parts: Buffer[] = [];
  let queue: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  const send = (text: string | undefined) => text !== undefined && write(text + "\n");
  function take(line: string): void {
    // Answers come in order, also those of a policy with promises.
    let next: Promise<string | undefined>;
    if (waiting === 0) {
      const result = handle(line);
      if (!(result instanceof Promise)) {
        send(result);
        return;
      }
      next = result;
    } else {
      next = queue.then(() => handle(line));
    }
    waiting++;
    queue = next.then(send).finally(() => waiting--);
  }
  process.stdin.on("data", (chunk: Buffer) => {
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

function answer(
  choose: Policy,
  games: Map<number, GameMessage>,
  { batch, decisions, time_budget_us: budget = 0 }: AskMessage,
): string | Promise<string> {
  const moves = new Array<number | Promise<number>>(decisions.length);
  let asynchronous = false;
  try {
    for (let at = 0; at < decisions.length; at++) {
      const decision = decisions[at];
      const game = games.get(decision.context);
      if (game === undefined) throw new Error(`there is no game ${decision.context}`);
      moves[at] = choose(new Decision(game, decision, budget));
      asynchronous ||= moves[at] instanceof Promise;
    }
    if (!asynchronous) return answered(batch, moves as number[]);
  } catch (error) {
    return failed(batch, error);
  }
  return Promise.all(moves).then((all) => answered(batch, all)).catch((error) => failed(batch, error));
}

function answered(batch: number, moves: number[]): string {
  for (const move of moves) {
    if (!Number.isInteger(move)) throw new TypeError(`the policy returned ${move}, not a move id`);
  }
  return `{"type":"answer","batch":${batch},"moves":[${moves.join(",")}]}`;
}

function failed(batch: number, error: unknown): string {
  console.error(error);
  return JSON.stringify({ type: "error", batch, message: String(error) });
}
