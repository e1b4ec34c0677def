// Messages as protobufjs reads and writes them.
import protobuf from "protobufjs/light.js";
import { MESSAGES, READERS } from "./messages.js";

const root = protobuf.Root.fromJSON({ nested: MESSAGES as { [name: string]: protobuf.AnyNestedObject } });

/** A message type of `arena.v1`. */
export function messageType(name: string): protobuf.Type {
  return root.lookupType(name);
}

/**
 * The position of a ruleset, as in the line protocol: a plain object with all fields; of a ruleset of one's
 * own, the JSON that it writes.
 */
export function readPosition(ruleset: string, bytes: Uint8Array): unknown {
  const read = READERS[ruleset];
  if (read) return read(protobuf.Reader.create(bytes), bytes.length);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error(
      `this arena-agent cannot read positions of ${ruleset}: install a newer one, or use only legalMoves, notations and positionBytes`,
    );
  }
}

/** A number of 64 bits, in halves. */
export type Long = { low: number; high: number };

export function bigint({ low, high }: Long): bigint {
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

export function number({ low, high }: Long): number {
  return (high >>> 0) * 2 ** 32 + (low >>> 0);
}

// What agents are asked, as protobufjs reads it.

export interface ContextMessage {
  ruleset: string;
  rules_version: number;
  options: { name: string; value: string }[];
  seats: number;
  bot: string;
  bot_options: { name: string; value: string }[];
  nodes: Long;
}

export interface DecisionMessage {
  slot: number;
  context: number;
  seat: number;
  number: number;
  seed: Long;
  position: Uint8Array;
  legal_moves: number[];
  notations: string[];
  clock: { left_us: Long; increment_us: Long; moves_to_go: number; seats_left_us: Long[] } | null;
  game: Buffer;
  moves: { seat: number; move_id: number }[];
}
