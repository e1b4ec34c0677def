import type { Decision, Position } from "./decision.js";

/** A move with what the search found, for people. */
export interface Choice {
  move: number;
  /** From the view of the seat that chooses, in the agent's own unit. */
  score?: number;
  depth?: number;
  nodes?: number;
  /** Principal variation, as ids or notations. */
  variation?: (number | string)[];
}

/** One of the legal moves, or a `Choice` of it. */
export type Answer = number | Choice;

/**
 * Chooses a move. If it throws, Arena asks once more, and then records the fault `crash` in this
 * game only. It may return a promise; the agent is asked again when the promise is settled.
 */
export type Policy<P = Position> = (decision: Decision<P>) => Answer | Promise<Answer>;

/** An option, as in `Describe`. `option` makes one. */
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

/** The description of an agent. */
export interface About<P = Position> {
  /** Lower-case letters, digits and dashes. */
  name: string;
  /** A label that Arena shows with results. */
  version?: string;
  author?: string;
  /** One line for people. */
  summary?: string;
  /** The rulesets that the agent plays; none: all of them. */
  rulesets?: string[];
  /** By ruleset, values of its options without which the agent does not play it; none: any values. */
  required_options?: Record<string, Record<string, string | number | boolean>>;
  /** True if the agent needs whole states: a tournament in which seats see only a part of them is refused. */
  perfect_information?: boolean;
  options?: Option[];
  /** True if the same decision, with the same seed, always gets the same answer. */
  deterministic?: boolean;
  /** Whether the answer depends on `rng` or `seed`; undefined: unknown. */
  usesSeed?: boolean;
  /** Maximum number of decisions in a batch; 0: Arena decides. */
  batch_size?: number;
  /** True if the agent needs only ids of moves: `notations` and `position.moves` stay empty. */
  omit_move_details?: boolean;
  /** True if a process has to see all decisions of a game: `game` and `moves` are set. */
  sticky?: boolean;
  /** True if the agent may be asked before the promises that it returned are settled. */
  concurrent?: boolean;
  /** Chooses for a batch together: answers in the same order, undefined where Arena is to ask again. */
  chooseBatch?: (decisions: Decision<P>[]) => (Answer | undefined)[] | Promise<(Answer | undefined)[]>;
}

/** A policy with its description. */
export interface Agent<P = Position> extends About<P> {
  choose: Policy<P>;
}

type Value = boolean | number | string | number[];
type More = Partial<Omit<Option, "min" | "max">> & { min?: number; max?: number };
const KINDS = { boolean: "bool", number: "integer", string: "text", object: "numbers" } as const;

/**
 * An option of the agent: its type is that of the default. `more` has `min` and `max` of a number,
 * `choices` of a text, `type: "real"`, or other fields of the protocol.
 */
export function option(name: string, value: Value, summary = "", more: More = {}): Option {
  const { min, max, ...others } = more;
  const all: Option = {
    name,
    summary,
    type: more.choices ? "choice" : KINDS[typeof value as keyof typeof KINDS],
    default_value: Array.isArray(value) ? JSON.stringify(value) : String(value),
    ...others,
  };
  if (Array.isArray(value)) all.length ??= value.length;
  if (min !== undefined) all.min = String(min);
  if (max !== undefined) all.max = String(max);
  return all;
}

/** What `Describe` answers. Throws for agents that cannot be served. */
export function describe(agents: Agent<any>[]): object {
  if (agents.length === 0) throw new Error("serve at least one agent");
  const names = agents.map(({ name }) => name);
  for (const [at, name] of names.entries()) {
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(name)) {
      throw new Error(`the name of an agent is "${name}": use lower-case letters, digits and dashes`);
    }
    if (names.indexOf(name) < at) throw new Error(`two agents have the name "${name}"`);
  }
  const [{ name, version, author, batch_size }] = agents;
  return {
    name,
    version,
    author,
    batch_size,
    bots: agents.map(({ name, summary, rulesets, required_options, perfect_information, options, deterministic, usesSeed }) => ({
      name,
      summary,
      rulesets,
      required_options: Object.entries(required_options ?? {}).flatMap(([ruleset, values]) =>
        Object.entries(values).map(([name, value]) => ({ ruleset, name, value: String(value) })),
      ),
      perfect_information,
      options,
      deterministic,
      uses_seed: usesSeed === undefined ? "unspecified" : usesSeed ? "yes" : "no",
    })),
    omit_move_details: agents.every((agent) => agent.omit_move_details),
    sticky: agents.some((agent) => agent.sticky),
    concurrent: agents.every((agent) => agent.concurrent),
  };
}
