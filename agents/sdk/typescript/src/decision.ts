import { createRequire } from "node:module";
import * as codec from "./codec.js";
import type { Clock } from "./messages.js";
import { Rng } from "./rng.js";

/** A legal move with its effects. */
export type Move = { id: number; [effect: string]: number | boolean };

/** A position of any ruleset. The types `KalahPosition`, … have the fields of one. */
export type Position = { moves: Move[]; [field: string]: any };

/** Values of options by name, all as texts. */
export type Options = { readonly [name: string]: string };

/** What the decisions of a game share. Everything is decoded when it is first used. @internal */
export class Context {
  private readOptions: Options | undefined;
  private readBotOptions: Options | undefined;
  private game: any;

  constructor(readonly message: codec.ContextMessage) {}

  get options(): Options {
    return (this.readOptions ??= values(this.message.options));
  }

  get botOptions(): Options {
    return (this.readBotOptions ??= values(this.message.bot_options));
  }

  get rules(): any {
    if (this.game === undefined) {
      const { Game } = rulesPackage();
      this.game = new Game(this.message.ruleset, this.options, this.message.seats);
    }
    return this.game;
  }
}

// The package belongs to the agent, so it is searched from the agent's program.
function rulesPackage(): any {
  try {
    return createRequire(process.argv[1])("arena-rules");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== "MODULE_NOT_FOUND" || !String(error).includes("'arena-rules'")) throw error;
    throw new Error(
      "decision.state() needs the package arena-rules, which is not installed: run " +
        "`npm install --prefix dist arena-rules-*.tgz` in the agent's folder, with the package of a release of " +
        "Arena, or `npm install --prefix dist --install-links ARENA/target/rules/node` after " +
        "`agents/rules/run build node`",
    );
  }
}

function values(options: codec.ContextMessage["options"]): Options {
  return Object.fromEntries(options.map(({ name, value }) => [name, value]));
}

/** A request for a move. It has the attributes of a decision in the kits of `arena agent new`. */
export class Decision<P = Position> {
  private generator: Rng | undefined;
  private decoded: P | undefined;

  /** @internal */
  constructor(
    private readonly context: Context,
    private readonly message: codec.DecisionMessage,
    /** Time for all decisions of the batch together, in microseconds; 0: no limit. */
    readonly timeBudgetUs: number,
  ) {}

  get ruleset(): string { return this.context.message.ruleset; }
  get rulesVersion(): number { return this.context.message.rules_version; }
  /** Values of the ruleset's options, as texts. */
  get options(): Options { return this.context.options; }
  /** Number of players. */
  get seats(): number { return this.context.message.seats; }
  get bot(): string { return this.context.message.bot; }
  /** Values of the agent's own options, as texts. */
  get botOptions(): Options { return this.context.botOptions; }
  /** Number of positions that the agent may search; 0: no limit. */
  get nodes(): bigint { return codec.bigint(this.context.message.nodes); }
  /** Number of this decision in its batch. */
  get slot(): number { return this.message.slot; }
  /** The seat to choose for; seat 0 moves first. */
  get seat(): number { return this.message.seat; }
  /** Number of decisions that this seat had before. */
  get number(): number { return this.message.number; }
  /** Ids of the legal moves, ascending; return one of them. */
  get legalMoves(): number[] { return this.message.legal_moves; }
  /** Notation of each legal move. Empty with `omit_move_details`. */
  get notations(): string[] { return this.message.notations; }
  /** For sticky agents: a name that all decisions of a game share. */
  get game(): string | undefined { return this.message.game.toString("hex") || undefined; }
  /** For sticky agents: all moves of the game before, as pairs of seat and id. */
  get moves(): [number, number][] { return this.message.moves.map((move) => [move.seat, move.move_id]); }

  /** A number of 64 bits, new for each decision. */
  get seed(): bigint { return codec.bigint(this.message.seed); }

  /** Random numbers that follow from the seed. */
  get rng(): Rng { return (this.generator ??= new Rng(this.message.seed)); }

  /** The position as its ruleset writes it. */
  get positionBytes(): Uint8Array {
    return this.message.position;
  }

  /**
   * The position, with the fields of its message; of a ruleset of one's own, the JSON that it writes. Throws for
   * a ruleset that is newer than this package.
   */
  get position(): P {
    return (this.decoded ??= codec.readPosition(this.ruleset, this.message.position) as P);
  }

  /** The clock in microseconds; undefined without one. */
  get clock(): Clock | undefined {
    const { clock } = this.message;
    return clock
      ? {
          left_us: codec.number(clock.left_us),
          increment_us: codec.number(clock.increment_us),
          moves_to_go: clock.moves_to_go,
          seats_left_us: clock.seats_left_us.map(codec.number),
        }
      : undefined;
  }

  /** The position as a `State` of the package arena-rules, to search ahead. */
  state(): any {
    return this.context.rules.decode(this.message.position);
  }

  toString(): string {
    return `decision ${this.number} of seat ${this.seat} in ${this.ruleset}, seed ${this.seed}, legal moves ${this.legalMoves}`;
  }
}
