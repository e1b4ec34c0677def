/** The rules of Arena, for programs that search ahead. */

/** A whole score: the value of a seat that beats every other seat. 1,000,000. */
export const POINT: number;

/** The names of all rulesets, in ascending order. */
export function rulesets(): string[];

/**
 * Errors of this module are a `TypeError` for an argument of a wrong type, or an `Error` with one
 * of these codes. A call that throws leaves its state as before.
 *
 * - `InvalidGame`: an unknown ruleset or version, or invalid options or seats
 * - `InvalidPosition`: bytes or JSON that are not a position of the game
 * - `IllegalMove`: a move that is not legal, or a chance outcome that is not possible
 * - `WrongNode`: a decision, a chance event or the end of the game was expected, and this is none
 * - `InvalidArgument`: a number that is not whole or out of range
 */
export type ErrorCode =
  | 'InvalidGame'
  | 'InvalidPosition'
  | 'IllegalMove'
  | 'WrongNode'
  | 'InvalidArgument';

/** A ruleset with its options and seats. It never changes. */
export class Game {
  /**
   * Options that are not given have the values of the option `preset` if it is given, else their
   * defaults. Values may be text, as in the `game` message of the line protocol. Without `seats`,
   * the game has those of the preset, else the minimum of the ruleset; without `version`, it has
   * the newest version of the rules. Throws `InvalidGame`.
   */
  constructor(
    ruleset: string,
    options?: Record<string, string | number | boolean>,
    seats?: number | null,
    version?: number | null,
  );
  /** Name of the ruleset. */
  get ruleset(): string;
  /** Version of the rules. */
  get version(): number;
  /** All options, with their values as text. */
  get options(): Record<string, string>;
  /** Number of players, 2 to 4. */
  get seats(): number;
  /** True if some position of the game is a chance node. */
  get hasChance(): boolean;
  /** The move that is a pass, if the ruleset has one. */
  get passMove(): number | null;
  /** The initial state. It may be a chance node. */
  initial(): State;
  /**
   * The state of a position as protobuf message, such as `Decision.position`. Throws
   * `InvalidPosition`.
   */
  decode(position: Uint8Array): State;
  /**
   * The state of a position of the line protocol, as an object or as JSON. Throws
   * `InvalidPosition`.
   */
  state(position: object | string): State;
}

/** A position in a game. `game.initial()`, `game.state()` and `game.decode()` make one. */
export class State {
  private constructor();
  /** Number of players. */
  get seats(): number;
  /** The seat that moves next; null at a chance node and at the end. */
  get toMove(): number | null;
  /** True if the game is over. */
  isOver(): boolean;
  /** True if a chance outcome is drawn next. */
  isChance(): boolean;
  /** The legal moves, in ascending order: at least one. Throws `WrongNode`. */
  legal(): number[];
  /** Plays a move. Throws `IllegalMove` and `WrongNode`. */
  apply(move: number): void;
  /**
   * The possible outcomes of the chance event that is next, with their probabilities. Throws
   * `WrongNode`.
   */
  chance(): [outcome: number, probability: number][];
  /** The exact weight of each outcome, by its id; 0 for an impossible one. Throws `WrongNode`. */
  weights(): number[];
  /** Applies a chance outcome. Throws `IllegalMove` and `WrongNode`. */
  applyOutcome(outcome: number): void;
  /**
   * The expected score of each seat, in millionths of a game's score (`POINT`): the share of other
   * seats that it beats, ties counting half. Exact at the end of the game; before, a cheap estimate.
   */
  values(): number[];
  /** The ruleset's own score of each seat, such as stones or pieces. */
  scores(): number[];
  /** The rank of each seat at the end, from 1; tied seats share it. Throws `WrongNode`. */
  placement(): number[];
  /**
   * A hash of 64 bits: equal for equal states of a game, in every process and language. It may
   * change with the version of Arena.
   */
  hash(): bigint;
  /** The notation of a legal move. Throws `IllegalMove` and `WrongNode`. */
  notation(move: number): string;
  /** The notation of a possible chance outcome. Throws `IllegalMove` and `WrongNode`. */
  outcomeNotation(outcome: number): string;
  /**
   * Plays random moves and outcomes to the end, and returns the values there. The state does not
   * change. The same seed, a whole number of 64 bits, gives the same game.
   */
  playout(seed: bigint | number): number[];
  /** The position as protobuf message, with details of the legal moves if `moves`. */
  encode(options?: { moves?: boolean }): Uint8Array;
  /** The position as in the line protocol, with details of the legal moves if `moves`. */
  toJson(options?: { moves?: boolean }): string;
  /** A copy. */
  clone(): State;
  /** Makes this state a copy of another one. */
  copyFrom(other: State): void;
  /** True for equal positions of equal games. */
  equals(other: State): boolean;
  /** The board as text of several lines. */
  toString(): string;
}
